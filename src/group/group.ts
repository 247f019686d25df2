/**
 * Implements `GroupApi` by commands to the actor, long reads in the pool, and views of the state. It contains no rules.
 */

import { hash } from 'node:crypto';
import type { ChangePeer, DecideDispute, EventSubmission, Registration } from '../core/commands.js';
import { subjectHex } from '../core/hashing/pseudonym.js';
import type { AskedOf, PeerChangeType } from '../core/peers/peer-changes.js';
import type { RefusedErasure } from '../core/registers/erasure-requests.js';
import type { PeerRelation } from '../core/relations.js';
import { holdersOf } from '../core/rules/decide-dispute.js';
import { readAgain } from '../core/rules/decide-removal.js';
import { isAllowed, readTrust } from '../core/scoring/allowed.js';
import { explanationOf, type TrustExplanation } from '../core/scoring/explanation.js';
import { publishedFigures, type TrustView } from '../core/scoring/score.js';
import type { SettingName } from '../core/settings.js';
import type { KeyColumns } from '../core/tables/event-columns.js';
import { groupsOf } from '../core/trust/witnesses.js';
import { type DisputeStatus, NO_KEY, OPERATOR, type Verdict } from '../core/vocabulary.js';
import { granted, type Outcome, type Refusal, refused } from '../errors.js';
import { DAY_MS, limits } from '../limits.js';
import { exportOf } from './access/subject-export.js';
import { auditEntry, disputeView, originView, peerView, preTrustedIds, SignalViews } from './access/views.js';
import { type Submitting, submitAll } from './actor/submission.js';
import type { Command } from './actor-commands.js';
import type {
  AcceptedEvent,
  AllowedPlayer,
  AuditPage,
  DisputeView,
  Erasure,
  GroupApi,
  GroupCounts,
  GroupHealth,
  GroupIdentity,
  GroupStatus,
  IssuedKey,
  JudgedPlayer,
  NotOffered,
  OnProgress,
  OriginView,
  OwnErasures,
  PeerSignals,
  PeerView,
  PendingErasure,
  PlayerEvents,
  SimulationQuery,
  SimulationView,
  SubjectExport,
  VerdictCounts,
  VerifyReport,
} from './api.js';
import { MinuteAsOf } from './as-of.js';
import { type CurrentLoop, GroupCalls } from './calls.js';
import type { ClusterHealth } from './cluster-api.js';
import { healthOf } from './group-health.js';
import type { Holder } from './holder.js';
import { ownEvent } from './listing/listing.js';
import type { Clock } from './ports/clock.js';
import type { RandomSource } from './ports/random.js';
import type { BackgroundCheck } from './recovery/scheduled-check.js';
import { overloaded } from './refusals.js';
import { scenarioOf, simulationView } from './replica/simulations.js';
import type { VerdictChanges } from './verdict-changes.js';

export interface GroupDeps {
  readonly identity: GroupIdentity;
  readonly current: CurrentLoop;
  readonly verdicts: VerdictChanges;
  readonly check: Pick<BackgroundCheck, 'status'>;
  readonly cluster: ClusterHealth | null;
  readonly clock: Clock;
  readonly random: RandomSource;
}

const EVENT_BYTES = 256;

const nobody: readonly number[] = [];

export class Group implements GroupApi {
  readonly clusterOperations = null;
  readonly identity: GroupIdentity;
  readonly verdicts: VerdictChanges;
  readonly #current: CurrentLoop;
  readonly #calls: GroupCalls;
  readonly #asOf: MinuteAsOf;
  readonly #signals = new SignalViews();
  #isOpen = false;

  constructor(private readonly deps: GroupDeps) {
    this.identity = deps.identity;
    this.verdicts = deps.verdicts;
    this.#current = deps.current;
    this.#calls = new GroupCalls(deps.current);
    this.#asOf = new MinuteAsOf(deps.clock);
  }

  open(): void {
    this.#isOpen = true;
  }

  configure(command: Extract<Command, { type: 'scoring' | 'setting' }>): Promise<Outcome<null>> {
    return this.#calls.ask(command);
  }

  async drain(): Promise<void> {
    this.#isOpen = false;
    await this.#current.loop.drain();
  }

  /** Answers nothing more, for a process that cannot continue. */
  abandon(): void {
    this.#isOpen = false;
    this.#current.loop.abandon();
  }

  // Views.

  health(): GroupHealth {
    return healthOf(this.#current.loop, this.#isOpen, this.deps.cluster);
  }

  async refresh(): Promise<boolean> {
    return true;
  }

  get isReady(): boolean {
    return this.#isOpen && !this.#current.loop.failed;
  }

  admits(events: number, holder: Holder, notOffered: NotOffered): boolean {
    return this.#current.loop.admits(events, holder, notOffered);
  }

  hasRoom(events: number, holder: Holder): boolean {
    return this.#current.loop.hasRoom(events, holder);
  }

  get overloaded(): boolean {
    return this.#current.loop.overloaded;
  }

  noteRefusal(): void {
    this.#current.loop.noteRefusal();
  }

  counts(): GroupCounts {
    const { peers, subjects, eventCount } = this.#current.loop.state;
    return { peers: peers.size, players: subjects.size, events: eventCount };
  }

  peerByKeyDigest(digestHex: string): PeerView | undefined {
    const { state } = this.#current.loop;
    const peer = state.peers.byKey(digestHex, this.deps.clock.now());
    return peer === undefined ? undefined : peerView(state, peer);
  }

  peerById(peerId: string): PeerView | undefined {
    const { state } = this.#current.loop;
    const peer = state.peers.byId(peerId);
    return peer === undefined ? undefined : peerView(state, peer);
  }

  delayedEventCount({ index }: PeerView): number {
    const { hourlyCounts, peers } = this.#current.loop.state;
    return hourlyCounts.asOf(index, peers.at(index).eventCount, this.deps.clock.now());
  }

  peers(from: number, limit: number): PeerView[] {
    const { state } = this.#current.loop;
    return state.peers.page(from, limit).map((peer) => peerView(state, peer));
  }

  trust(subject: Uint8Array): TrustView | undefined {
    const { state } = this.#current.loop;
    const row = state.subjects.find(subject);
    return row < 0 ? undefined : readTrust(state, row, this.#asOf.of(state));
  }

  isLongRead(subject: Uint8Array): boolean {
    const { numbers, subjects } = this.#current.loop.state;
    if (numbers <= limits.readEntriesAtOnce) return false;
    const row = subjects.find(subject);
    return row >= 0 && subjects.peerCount(row) > limits.readEntriesAtOnce;
  }

  trusts(players: KeyColumns, trusts: (TrustView | undefined)[]): void {
    const { state } = this.#current.loop;
    const { subjects } = state;
    const asOf = this.#asOf.of(state);
    subjects.findAll(players);
    let visited = 0;
    for (let i = trusts.length; i < players.count; i++) {
      const row = players.rows[i]!;
      const first = players.rows.indexOf(row);
      if (row < 0) trusts.push(undefined);
      else if (first < i) trusts.push(trusts[first]);
      else if (visited >= limits.readEntriesAtOnce) return;
      else {
        trusts.push(readTrust(state, row, asOf));
        visited += subjects.peerCount(row);
      }
    }
  }

  disputedFor(subject: string): readonly number[] {
    const { state } = this.#current.loop;
    if (state.disputes.of(subject).length === 0) return nobody;
    return holdersOf(state, subject)
      .map(({ peer }) => peer)
      .filter((peer) => state.disputes.concern(subject, peer));
  }

  refusedErasure(subject: string): RefusedErasure | null {
    return this.#current.loop.state.erasureRequests.of(subject).refused;
  }

  explain(subject: Uint8Array): TrustExplanation | undefined {
    const { state } = this.#current.loop;
    const row = state.subjects.find(subject);
    if (row < 0) return undefined;
    const asOf = this.#asOf.of(state);
    const explanation = explanationOf(state, row, asOf);
    return isAllowed(state, row, asOf) ? { ...explanation, allowed: true } : explanation;
  }

  ownErasures({ index }: PeerView, from: number, limit: number): OwnErasures {
    const { erasedEvents, times } = this.#current.loop.state;
    const total = erasedEvents.countOf(index);
    const events = erasedEvents.of(index, from, limit).map(({ seq, erasedSeq }) => ({
      receivedAt: times.receivedAt(seq),
      erasedAt: times.receivedAt(erasedSeq),
    }));
    const end = from + events.length;
    return { total, events, next: end < total ? end : null };
  }

  hasErasedSince({ index }: PeerView, at: number): boolean {
    const newest = this.#current.loop.state.erasuresBy.get(index)?.at(-1);
    return newest !== undefined && newest >= at;
  }

  get #readAt(): number {
    return this.#asOf.of(this.#current.loop.state).at;
  }

  // Commands.

  submit(
    caller: PeerView | null,
    events: readonly EventSubmission[],
    holder: Holder = caller?.index ?? NO_KEY,
  ): Promise<Outcome<AcceptedEvent>[]> {
    const to: Submitting = {
      offer: (submission, answered) => {
        const { length } = submission.events;
        return this.#calls.offer({ type: 'submit', ...submission }, answered, length, length * EVENT_BYTES, holder);
      },
      read: (query) => this.#calls.pool((pool) => pool.repeats({ ...query, holder })),
    };
    return submitAll(to, { caller: caller?.index ?? null, events }, limits.rereadTries);
  }

  async register(registration: Registration, by: string, byOperator = false): Promise<Outcome<IssuedKey>> {
    const peerId = this.deps.random.uuid();
    const { apiKey, keyDigest } = this.#newKey();
    const command = { type: 'register', ...registration, peerId, keyDigest, byOperator, by } as const;
    return this.#issued(await this.#calls.ask(command, limits.eventBodyBytes), apiKey);
  }

  async withdraw(caller: PeerView | null, eventId: string): Promise<Outcome<{ readonly withdrawnAt: number }>> {
    const holder = caller?.index ?? NO_KEY;
    for (let tries = 0; tries < limits.rereadTries; tries++) {
      const located = await this.#calls.ask({ type: 'locate', eventId });
      if (isRefusal(located)) return located;
      if (located.seq === 0) return refused('event_not_found');
      const read = await this.#calls.pool((pool) => pool.records([located.seq], holder));
      if (!read.ok) return read;
      const event = read.value[0]!.record;
      if (event.type !== 'event_accepted') return refused('event_not_found');
      const { subject } = event;
      const chains = await this.#calls.ask({ type: 'chains', subject });
      if (chains !== null && isRefusal(chains)) return chains;
      if (chains === null) return refused('event_not_found');
      const head = chains.heads.find(({ peer }) => peer === event.peer)?.head ?? 0;
      const chain = await this.#calls.pool((pool) =>
        pool.chain({ head, eventSeq: located.seq, expired: chains.expired, holder }),
      );
      if (!chain.ok) return chain;
      const at = { eventSeq: located.seq, asOf: located.asOf, chain: chain.value, chainAsOf: chains.asOf };
      const command = { caller: caller?.index ?? null, event, ...at };
      const answer = await this.#calls.ask({ type: 'withdraw', ...command });
      if (answer !== readAgain) return answer;
    }
    return overloaded();
  }

  erase(caller: PeerView | null, subject: Uint8Array): Promise<Outcome<Erasure>> {
    return this.#erase(caller?.index ?? NO_KEY, caller === null ? 'anonymous' : caller.peerId, subject);
  }

  async playerEvents(
    subject: Uint8Array,
    caller: PeerView | null,
    limit: number,
    from: readonly number[] | null,
    holder: Holder | null = caller?.index ?? null,
  ): Promise<Outcome<PlayerEvents>> {
    const chains = await this.#calls.ask({ type: 'chains', subject });
    if (chains === null) return refused('player_not_found');
    if (isRefusal(chains)) return chains;
    const { heads, withdrawn, expired, total, disputed } = chains;
    const walk = { heads, withdrawn: new Set(withdrawn), expired };
    const query = { subject, ...walk, caller: caller?.index ?? null, limit, from, holder };
    const listed = await this.#calls.pool((pool) => pool.list(query));
    if (!listed.ok) return listed;
    const listing = listed.value;
    if (listing === null) return refused('invalid_parameter', { text: 'cursor is not valid' });
    const isDisputed = caller !== null && disputed.includes(caller.index);
    const own = caller === null ? [] : listing.own.map((event) => ownEvent(event, caller, heads, isDisputed));
    const { summarised, summary, next } = listing;
    const refusal = this.refusedErasure(subjectHex(subject));
    const isAsking = caller !== null && refusal?.peers.includes(caller.index) === true;
    return granted({ total, summarised, summary, own, next, ...(isAsking ? { erasureRefused: refusal } : {}) });
  }

  async dispute(
    caller: PeerView | null,
    subject: Uint8Array,
    text: string,
    against?: string,
  ): Promise<Outcome<{ readonly id: string; readonly openedAt: number }>> {
    const disputeId = this.deps.random.uuid();
    const by = caller === null ? 'anonymous' : caller.peerId;
    const named = against === undefined ? {} : { against };
    const command = { disputeId, caller: caller?.index ?? NO_KEY, subject, text, by, ...named };
    const answer = await this.#calls.ask({ type: 'open_dispute', ...command });
    return answer.ok ? granted({ id: disputeId, openedAt: answer.value.openedAt }) : answer;
  }

  audit(after: number, limit: number, holder: Holder | null = null): Promise<Outcome<AuditPage>> {
    return this.#auditPage(this.#current.loop.state.auditSeqs.firstAbove(after), limit, holder);
  }

  // Operations.

  status(): GroupStatus {
    const { actor, state, snapshots, log, disk } = this.#current.loop;
    return {
      ...this.health(),
      identity: this.identity,
      counts: this.counts(),
      peersByStatus: state.peers.byStatus(),
      newcomers: state.peers.newcomers(this.deps.clock.now(), DAY_MS),
      halfLifeDays: state.halfLifeDays,
      banHalfLifeDays: state.measureScale.halfLifeDays,
      sendsReportsOnly: this.#sendsReportsOnly(),
      preTrusted: preTrustedIds(state),
      witnesses: groupsOf(state.weights.witness, (number) => state.peers.has(number)),
      mailbox: { events: actor.mailbox.events, bytes: actor.mailbox.bytes },
      pendingErasures: state.erasureRequests.pending,
      openDisputes: state.disputes.open,
      snapshots: snapshots.list(),
      ownerEpoch: log.epoch,
      disk: disk.use === null ? null : { ...disk.use, minBytes: disk.minBytes },
      cluster: this.deps.cluster,
      check: this.deps.check.status,
    };
  }

  signals(peer: PeerView): PeerSignals | undefined {
    const { state, weights } = this.#current.loop;
    return this.#signals.of(state, weights.signals, peer);
  }

  #sendsReportsOnly(): boolean {
    const { eventCount, sentAt } = this.#current.loop.state;
    const since = this.deps.clock.now() - limits.reportsOnlyMs;
    const reportsOnly = sentAt.report >= since && Math.max(sentAt.ban, sentAt.raising) < since;
    return reportsOnly && eventCount >= limits.reportsOnlyEventsMin;
  }

  tooOld({ index }: PeerView) {
    return this.#current.loop.state.tooOld.get(index);
  }

  sharedErasures({ index }: PeerView): number {
    return this.#current.loop.state.sharedErasures.get(index) ?? 0;
  }

  async changePeer<T extends PeerChangeType>(
    type: T,
    peerId: string,
    asked: AskedOf<T>,
    by: string,
  ): Promise<Outcome<PeerView>> {
    return this.#peerOutcome(await this.#calls.ask({ ...asked, type, peerId, by } as ChangePeer));
  }

  async rotateKey(peerId: string, overlapMs: number, by: string): Promise<Outcome<IssuedKey>> {
    const { apiKey, keyDigest } = this.#newKey();
    return this.#issued(await this.#calls.ask({ type: 'rotate_key', peerId, overlapMs, keyDigest, by }), apiKey);
  }

  async preTrust(
    change: 'add' | 'remove',
    peerId: string,
    by: string,
  ): Promise<Outcome<{ readonly preTrusted: readonly string[] }>> {
    const answer = await this.#calls.ask({ type: 'pre_trust', change, peerId, by });
    return answer.ok ? granted({ preTrusted: preTrustedIds(this.#current.loop.state) }) : answer;
  }

  async purgePeers(idleMs: number, by: string): Promise<Outcome<readonly string[]>> {
    const purged: string[] = [];
    for (;;) {
      const answer = await this.#calls.ask({ type: 'purge_peers', idleMs, by });
      if (!answer.ok) return answer;
      if (answer.value.length === 0) return granted(purged);
      purged.push(...answer.value);
    }
  }

  relatePeers(relation: PeerRelation['relation'], peerId: string, otherId: string, by: string): Promise<Outcome<null>> {
    return this.#calls.ask({ type: 'relate_peers', relation, peerId, otherId, by });
  }

  origins(): readonly OriginView[] {
    const { state } = this.#current.loop;
    return state.origins.list.map((origin) => originView(state, origin));
  }

  async changeOrigin(change: 'add' | 'remove', name: string, by: string): Promise<Outcome<OriginView>> {
    const answer = await this.#calls.ask({ type: 'origin', change, name, by });
    const { state } = this.#current.loop;
    return answer.ok ? granted(originView(state, state.origins.named(name)!)) : answer;
  }

  changeSetting(name: SettingName, value: number | string, by: string): Promise<Outcome<null>> {
    return this.#calls.ask({ type: 'setting', name, value, by });
  }

  disputes(status?: DisputeStatus, from?: number, to?: number): readonly DisputeView[] {
    const { state } = this.#current.loop;
    const all = state.disputes.all();
    const asked = status === undefined ? all : all.filter((dispute) => dispute.status === status);
    return asked.slice(from, to).map((dispute) => disputeView(state, dispute));
  }

  disputeIds(): readonly string[] {
    return this.#current.loop.state.disputes.all().map(({ id }) => id);
  }

  decideDispute(
    decision: DecideDispute['decision'],
    disputeId: string,
    peerIds: readonly string[],
    by: string,
  ): Promise<Outcome<DisputeView>> {
    return this.#calls.ask({ type: 'decide_dispute', decision, disputeId, peerIds, by });
  }

  async exportSubject(subject: Uint8Array, by: string): Promise<Outcome<SubjectExport>> {
    const { receipt, commitment } = this.#receiptFor(subject);
    const holdings = await this.#calls.ask({ type: 'export_subject', subject, commitment, by });
    if (!holdings.ok) return holdings;
    const { state } = this.#current.loop;
    return exportOf(state, subjectHex(subject), receipt, holdings.value, (work) => this.#calls.pool(work));
  }

  playersBy(wanted: readonly Verdict[], from: number, limit: number) {
    const { state } = this.#current.loop;
    const { subjects } = state;
    const asOf = this.#asOf.of(state);
    const players: JudgedPlayer[] = [];
    const end = Math.min(subjects.rows, from + limits.playersReadMax);
    let row = from;
    for (; row < end && players.length < limit; row++) {
      if (!subjects.has(row)) continue;
      const view = readTrust(state, row, asOf);
      if (!wanted.includes(view.verdict)) continue;
      const { verdict, eventCount, updatedAt } = view;
      const subject = subjectHex(subjects.keyOf(row));
      players.push({ subject, verdict, ...publishedFigures(view), eventCount, updatedAt });
    }
    return { players, next: row < subjects.rows ? row : null };
  }

  allowedPlayers(): readonly AllowedPlayer[] {
    const readAt = this.#readAt;
    return this.#current.loop.state.allowed.all().flatMap(([subject, { entry }]) => {
      if (entry === null || entry.until < readAt) return [];
      return [{ subject, entryId: entry.id, until: entry.until, note: entry.note }];
    });
  }

  allowedPlayer(subject: Uint8Array): AllowedPlayer | undefined {
    const hex = subjectHex(subject);
    const entry = this.#current.loop.state.allowed.of(hex)?.entry ?? null;
    if (entry === null || entry.until < this.#readAt) return undefined;
    return { subject: hex, entryId: entry.id, until: entry.until, note: entry.note };
  }

  async allowPlayer(subject: Uint8Array, until: number, note: string, by: string): Promise<Outcome<AllowedPlayer>> {
    const id = this.deps.random.uuid();
    const answer = await this.#calls.ask({ type: 'allow', subject, id, until, note, by });
    return answer.ok ? granted({ subject: subjectHex(subject), entryId: id, until: answer.value, note }) : answer;
  }

  disallowPlayer(subject: Uint8Array, by: string): Promise<Outcome<null>> {
    return this.#calls.ask({ type: 'disallow', subject, by });
  }

  pendingErasures(): readonly PendingErasure[] {
    const { state } = this.#current.loop;
    return state.erasureRequests.all().flatMap(([subject, { pending }]) => {
      const requests = pending.map(({ seq, peer, reason = 'operator_mode' as const }) => {
        const peerId = state.peers.has(peer) ? state.peers.at(peer).peerId : null;
        return { requestedAt: state.times.receivedAt(seq), peerId, reason };
      });
      return requests.length === 0 ? [] : [{ subject, requests }];
    });
  }

  confirmErasure(subject: Uint8Array, by: string): Promise<Outcome<Erasure>> {
    return this.#erase(OPERATOR, by, subject);
  }

  refuseErasure(subject: Uint8Array, reason: string, by: string): Promise<Outcome<null>> {
    return this.#calls.ask({ type: 'refuse_erasure', subject, reason, by });
  }

  async auditTail(count: number, before = Number.POSITIVE_INFINITY): Promise<Outcome<AuditPage>> {
    const { auditSeqs } = this.#current.loop.state;
    const end = auditSeqs.firstAbove(before - 1);
    const from = Math.max(0, end - count);
    return this.#auditPage(from, Math.min(count, end - from));
  }

  verdictCounts(): Promise<Outcome<VerdictCounts>> {
    return this.#calls.pool((pool) => pool.verdicts(this.#current.loop.actor.durableSeq, this.#readAt));
  }

  async simulate(query: SimulationQuery, onProgress: OnProgress = () => {}): Promise<Outcome<SimulationView>> {
    const { state } = this.#current.loop;
    const scenario = scenarioOf(state, query);
    if (!scenario.ok) return scenario;
    const { value } = scenario;
    const { rowsMax } = query;
    return this.#calls.alone('simulation', async () => {
      const work = { upTo: this.#current.loop.actor.durableSeq, at: this.#readAt, scenario: value, rowsMax };
      const simulated = await this.#calls.pool((pool) => pool.simulate(work, onProgress));
      return simulated.ok ? granted(simulationView(state, simulated.value, rowsMax)) : simulated;
    });
  }

  verify(onProgress?: OnProgress): Promise<Outcome<VerifyReport>> {
    return this.#calls.alone('verification', () => this.#calls.pool((pool) => pool.verify(onProgress)));
  }

  // Helpers.

  async #erase(caller: number, by: string, subject: Uint8Array): Promise<Outcome<Erasure>> {
    const { receipt, commitment } = this.#receiptFor(subject);
    const answer = await this.#calls.ask({ type: 'erase', caller, subject, commitment, by });
    if (!answer.ok) return answer;
    const { events, pending, reason, at } = answer.value;
    return granted({
      status: pending ? 'pending' : 'erased',
      reason,
      eventsErased: events,
      erasedAt: at,
      receipt,
    });
  }

  #receiptFor(subject: Uint8Array): { readonly receipt: string; readonly commitment: string } {
    const receipt = Buffer.from(this.deps.random.bytes(limits.keyBytes)).toString('base64url');
    return { receipt, commitment: hash('sha256', receipt + subjectHex(subject), 'hex') };
  }

  #newKey(): { readonly apiKey: string; readonly keyDigest: string } {
    const secret = Buffer.from(this.deps.random.bytes(limits.keyBytes)).toString('base64url');
    const apiKey = `ptf_${this.identity.environment}_${secret}`;
    return { apiKey, keyDigest: hash('sha256', apiKey, 'hex') };
  }

  #issued(answer: Outcome<number>, apiKey: string): Outcome<IssuedKey> {
    const peer = this.#peerOutcome(answer);
    return peer.ok ? granted({ peer: peer.value, apiKey }) : peer;
  }

  #peerOutcome(answer: Outcome<number>): Outcome<PeerView> {
    const { state } = this.#current.loop;
    return answer.ok ? granted(peerView(state, state.peers.at(answer.value))) : answer;
  }

  async #auditPage(from: number, limit: number, holder: Holder | null = null): Promise<Outcome<AuditPage>> {
    const { durableSeq, state } = this.#current.loop.actor;
    const { auditSeqs } = state;
    const end = auditSeqs.firstAbove(durableSeq);
    const to = Math.min(end, from + limit);
    const seqs = Array.from({ length: Math.max(0, to - from) }, (_, i) => auditSeqs.at(from + i));
    const read = await this.#calls.pool((pool) => pool.records(seqs, holder));
    if (!read.ok) return read;
    const entries = read.value.map(({ record, at }, i) => {
      if (!('audit' in record)) throw new Error(`group: record ${seqs[i]} is not audited`);
      return auditEntry(seqs[i]!, at, record.audit);
    });
    return granted({ entries, nextAfter: to < end ? (seqs.at(-1) ?? null) : null });
  }
}

function isRefusal(answer: object): answer is Refusal {
  return 'ok' in answer && answer.ok === false;
}

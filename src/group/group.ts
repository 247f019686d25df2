/**
 * The group as the layers above see it: a thin shell that connects the actor to the log, the pool, the clock and the
 * random source. It contains no rules; it only waits for results.
 */
import { hash } from 'node:crypto';
import type { DecideDispute, EventSubmission, GroupBounds, Registration } from '../core/commands.js';
import { subjectHex } from '../core/hashing/pseudonym.js';
import type { PeerRelation, WitnessPair } from '../core/relations.js';
import { readAgain } from '../core/rules/decide-removal.js';
import { groupsOf, WitnessLinks } from '../core/trust/witnesses.js';
import { type DisputeStatus, NO_KEY, OPERATOR, type PeerStatus } from '../core/vocabulary.js';
import { granted, type Outcome, type Refusal, refused } from '../errors.js';
import { DAY_MS, limits } from '../limits.js';
import { disputeView } from './access/dispute-views.js';
import { originView } from './access/origin-views.js';
import { type AskPool, exportOf } from './access/subject-export.js';
import type { GroupActor } from './actor/actor.js';
import type { Resolve } from './actor/effects.js';
import type { GroupLoop } from './actor/loop.js';
import { type Submitting, submitAll } from './actor/submission.js';
import type {
  AcceptedEvent,
  AllowedPlayer,
  AuditEntry,
  AuditPage,
  DisputeView,
  Erasure,
  GroupApi,
  GroupIdentity,
  GroupStatus,
  IssuedKey,
  OnProgress,
  OriginView,
  PeerSignals,
  PeerView,
  PendingErasure,
  PlayerEvents,
  SimulationQuery,
  SimulationView,
  SubjectExport,
  VerdictCounts,
  VerifyReport,
  WeightsPage,
} from './api.js';
import type { Answers, Command } from './commands.js';
import type { VerdictFeed } from './feed/change-feed.js';
import type { Holder } from './holder.js';
import { ownEvent } from './listing/listing.js';
import type { Clock } from './ports/clock.js';
import { type GroupPool, PoolBusyError } from './ports/pool.js';
import type { RandomSource } from './ports/random.js';
import { GroupReads } from './reads.js';
import type { BackgroundCheck } from './recovery/scheduled-check.js';
import { notThere, overloaded } from './refusals.js';
import { scenarioOf, simulationView } from './replica/simulations.js';
import { publishedWeights } from './weights/weights-history.js';

export interface GroupDeps {
  readonly identity: GroupIdentity;
  readonly bounds: GroupBounds;
  readonly clock: Clock;
  readonly random: RandomSource;
}

/** Approximate size of an event in the mailbox. */
const EVENT_BYTES = 256;
const COMMAND_BYTES = 1024;

export class Group extends GroupReads implements GroupApi {
  readonly clusterOperations = null;
  readonly #deps: GroupDeps;
  /** Witness links of the newest computation. */
  #links: { readonly pairs: readonly WitnessPair[]; readonly links: WitnessLinks } | null = null;
  /** Long work in progress that may take as much memory as the state again: one of each kind at a time. */
  readonly #underWay = new Set<'simulation' | 'verification'>();
  #check: Pick<BackgroundCheck, 'status'> | null = null;

  constructor(deps: GroupDeps) {
    super(deps.identity, deps.clock);
    this.#deps = deps;
  }

  /** Ends recovery: commands are accepted from now on; `open` admits those from outside. */
  attach(loop: GroupLoop, feed: VerdictFeed, check: Pick<BackgroundCheck, 'status'>): void {
    this.loop = loop;
    this.feed = feed;
    this.#check = check;
  }

  open(): void {
    this.ready = true;
  }

  /** Applies a part of the configuration before anything is admitted. */
  configure(
    command: Extract<Command, { type: 'half_life' | 'configured_pre_trust' | 'scoring' }>,
  ): Promise<Outcome<null>> {
    return this.#ask(command);
  }

  /** Admits nothing new, and resolves when everything that was admitted is answered and durable. */
  async drain(): Promise<void> {
    this.ready = false;
    await this.loop?.drain();
  }

  /** Answers nothing more, for a process that cannot continue. */
  abandon(): void {
    this.ready = false;
    this.loop?.abandon();
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
        return this.#offer({ type: 'submit', ...submission }, answered, length, length * EVENT_BYTES, holder);
      },
      read: (query) => this.#pool((pool) => pool.repeats(query)),
    };
    return submitAll(to, { caller: caller?.index ?? null, events }, limits.rereadTries);
  }

  async register(registration: Registration, by: string, byOperator = false): Promise<Outcome<IssuedKey>> {
    const peerId = this.#deps.random.uuid();
    const { apiKey, keyDigest } = this.#newKey();
    const command = { type: 'register', ...registration, peerId, keyDigest, byOperator, by } as const;
    return this.#issued(await this.#ask(command, 1, limits.eventBodyBytes), apiKey);
  }

  async withdraw(caller: PeerView | null, eventId: string): Promise<Outcome<{ readonly withdrawnAt: number }>> {
    for (let tries = 0; tries < limits.rereadTries; tries++) {
      const located = await this.#ask({ type: 'locate', eventId });
      if (isRefusal(located)) return located;
      if (located.seq === 0) return refused('event_not_found');
      const read = await this.#pool((pool) => pool.records([located.seq]));
      if (!read.ok) return read;
      const event = read.value[0]!.record;
      if (event.type !== 'event_accepted') return refused('event_not_found');
      const { subject } = event;
      const chains = await this.#ask({ type: 'chains', subject });
      if (chains !== null && isRefusal(chains)) return chains;
      if (chains === null) return refused('event_not_found');
      const head = chains.heads.find(({ peer }) => peer === event.peer)?.head ?? 0;
      const chain = await this.#pool((pool) => pool.chain({ head, eventSeq: located.seq, expired: chains.expired }));
      if (!chain.ok) return chain;
      const at = { eventSeq: located.seq, asOf: located.asOf, chain: chain.value, chainAsOf: chains.asOf };
      const command = { caller: caller?.index ?? null, event, ...at };
      const answer = await this.#ask({ type: 'withdraw', ...command });
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
  ): Promise<Outcome<PlayerEvents>> {
    const chains = await this.#ask({ type: 'chains', subject });
    if (chains === null) return refused('player_not_found');
    if (isRefusal(chains)) return chains;
    const { heads, withdrawn, expired, total, disputed } = chains;
    const walk = { heads, withdrawn: new Set(withdrawn), expired };
    const query = { subject, ...walk, caller: caller?.index ?? null, limit, from };
    const listed = await this.#pool((pool) => pool.list(query));
    if (!listed.ok) return listed;
    const listing = listed.value;
    if (listing === null) return refused('invalid_parameter', { text: 'cursor is not valid' });
    const isDisputed = caller !== null && disputed.includes(caller.index);
    const own = caller === null ? [] : listing.own.map((event) => ownEvent(event, caller, heads, isDisputed));
    const { summarised, summary, next } = listing;
    return granted({ total, summarised, summary, own, next });
  }

  async dispute(
    caller: PeerView | null,
    subject: Uint8Array,
    text: string,
    against?: string,
  ): Promise<Outcome<{ readonly id: string; readonly openedAt: number }>> {
    const disputeId = this.#deps.random.uuid();
    const by = caller === null ? 'anonymous' : caller.peerId;
    const named = against === undefined ? {} : { against };
    const command = { disputeId, caller: caller?.index ?? NO_KEY, subject, text, by, ...named };
    const answer = await this.#ask({ type: 'open_dispute', ...command });
    return answer.ok ? granted({ id: disputeId, openedAt: answer.value.openedAt }) : answer;
  }

  async audit(after: number, limit: number): Promise<Outcome<AuditPage>> {
    const { auditSeqs } = this.running.state;
    return this.#auditPage(auditSeqs.firstAbove(after), limit);
  }

  // Operations.

  status(): GroupStatus {
    const { actor, state, snapshots, log, disk } = this.running;
    return {
      ...this.health(),
      identity: this.identity,
      counts: this.counts(),
      peersByStatus: state.peers.byStatus(),
      newcomers: state.peers.newcomers(this.#deps.clock.now(), DAY_MS),
      halfLifeDays: state.halfLifeDays,
      preTrusted: this.preTrusted(),
      witnesses: groupsOf(state.weights.witness, (number) => state.peers.has(number)),
      mailbox: { events: actor.mailbox.events, bytes: actor.mailbox.bytes },
      pendingErasures: state.pendingErasures.size,
      openDisputes: state.disputes.open,
      snapshots: snapshots.list(),
      ownerEpoch: log.epoch,
      disk: disk.use === null ? null : { ...disk.use, minBytes: disk.minBytes },
      cluster: this.cluster,
      check: this.#check?.status ?? { running: false, checkedSeq: 0, endedAt: null, faults: [] },
    };
  }

  signals(peer: PeerView): PeerSignals | undefined {
    const { state, weights } = this.running;
    const { signals } = weights;
    if (signals === null || peer.index >= signals.reported.length) return undefined;
    const discountedWith = signals.pairs
      .filter(({ first, second }) => first === peer.index || second === peer.index)
      .map(({ first, second, shared, agreement }) => {
        const other = state.peers.at(first === peer.index ? second : first);
        return { peerId: other.peerId, sharedPlayers: shared, agreement };
      });
    return {
      players: signals.reported[peer.index]!,
      sharedPlayers: signals.shared[peer.index]!,
      discountedWith,
      oneWitnessWith: this.#linksOf(signals.witnessPairs)
        .of(peer.index, limits.witnessesListedMax)
        .map(({ peer: other, reason }) => ({ peerId: this.#nameOf(other), reason })),
    };
  }

  /** Returns the id of a peer, or the name of an origin. */
  #nameOf(number: number): string {
    const { peers, origins } = this.running.state;
    const origin = origins.at(number);
    return origin === undefined ? peers.at(number).peerId : `origin ${origin.name}`;
  }

  #linksOf(pairs: readonly WitnessPair[]): WitnessLinks {
    if (this.#links?.pairs !== pairs) this.#links = { pairs, links: new WitnessLinks(pairs) };
    return this.#links.links;
  }

  sharedErasures({ index }: PeerView): number {
    return this.running.state.sharedErasures.get(index) ?? 0;
  }

  async setPeerStatus(peerId: string, status: PeerStatus, by: string): Promise<Outcome<PeerView>> {
    return this.#peerOutcome(await this.#ask({ type: 'peer_status', peerId, status, by }));
  }

  async rotateKey(peerId: string, overlapMs: number, by: string): Promise<Outcome<IssuedKey>> {
    const { apiKey, keyDigest } = this.#newKey();
    return this.#issued(await this.#ask({ type: 'rotate_key', peerId, overlapMs, keyDigest, by }), apiKey);
  }

  async setPublicKey(peerId: string, publicKey: string | null, by: string): Promise<Outcome<PeerView>> {
    return this.#peerOutcome(await this.#ask({ type: 'public_key', peerId, publicKey, by }));
  }

  async preTrust(
    change: 'add' | 'remove',
    peerId: string,
    by: string,
  ): Promise<Outcome<{ readonly preTrusted: readonly string[] }>> {
    const answer = await this.#ask({ type: 'pre_trust', change, peerId, by });
    return answer.ok ? granted({ preTrusted: this.preTrusted() }) : answer;
  }

  async purgePeers(idleMs: number, by: string): Promise<Outcome<readonly string[]>> {
    const purged: string[] = [];
    for (;;) {
      const answer = await this.#ask({ type: 'purge_peers', idleMs, by });
      if (!answer.ok) return answer;
      if (answer.value.length === 0) return granted(purged);
      purged.push(...answer.value);
    }
  }

  relatePeers(relation: PeerRelation['relation'], peerId: string, otherId: string, by: string): Promise<Outcome<null>> {
    return this.#ask({ type: 'relate_peers', relation, peerId, otherId, by });
  }

  origins(): readonly OriginView[] {
    return this.running.state.origins.list.map((origin) => originView(this.running.state, origin));
  }

  async changeOrigin(change: 'add' | 'remove', name: string, by: string): Promise<Outcome<OriginView>> {
    const answer = await this.#ask({ type: 'origin', change, name, by });
    const { state } = this.running;
    return answer.ok ? granted(originView(state, state.origins.named(name)!)) : answer;
  }

  disputes(status?: DisputeStatus): readonly DisputeView[] {
    const { state } = this.running;
    const all = state.disputes.all();
    const asked = status === undefined ? all : all.filter((dispute) => dispute.status === status);
    return asked.map((dispute) => disputeView(state, dispute));
  }

  decideDispute(
    decision: DecideDispute['decision'],
    disputeId: string,
    peerIds: readonly string[],
    by: string,
  ): Promise<Outcome<DisputeView>> {
    return this.#ask({ type: 'decide_dispute', decision, disputeId, peerIds, by });
  }

  async exportSubject(subject: Uint8Array, by: string): Promise<Outcome<SubjectExport>> {
    const { receipt, commitment } = this.#receiptFor(subject);
    const holdings = await this.#ask({ type: 'export_subject', subject, commitment, by });
    if (!holdings.ok) return holdings;
    const ask: AskPool = (work) => this.#pool(work);
    return exportOf(this.running.state, subjectHex(subject), receipt, holdings.value, ask);
  }

  allowedPlayers(): readonly AllowedPlayer[] {
    const { readAt } = this;
    return this.running.state.allowed.all().flatMap(([subject, { entry }]) => {
      if (entry === null || entry.until < readAt) return [];
      return [{ subject, entryId: entry.id, until: entry.until, note: entry.note }];
    });
  }

  allowedPlayer(subject: Uint8Array): AllowedPlayer | undefined {
    const hex = subjectHex(subject);
    const entry = this.running.state.allowed.of(hex)?.entry ?? null;
    if (entry === null || entry.until < this.readAt) return undefined;
    return { subject: hex, entryId: entry.id, until: entry.until, note: entry.note };
  }

  async allowPlayer(subject: Uint8Array, until: number, note: string, by: string): Promise<Outcome<AllowedPlayer>> {
    const id = this.#deps.random.uuid();
    const answer = await this.#ask({ type: 'allow', subject, id, until, note, by });
    return answer.ok ? granted({ subject: subjectHex(subject), entryId: id, until: answer.value, note }) : answer;
  }

  disallowPlayer(subject: Uint8Array, by: string): Promise<Outcome<null>> {
    return this.#ask({ type: 'disallow', subject, by });
  }

  pendingErasures(): readonly PendingErasure[] {
    const { pendingErasures, times } = this.running.state;
    return [...pendingErasures].map(([subject, requests]) => ({
      subject,
      requestedAt: times.receivedAt(requests[0]!),
    }));
  }

  confirmErasure(subject: Uint8Array, by: string): Promise<Outcome<Erasure>> {
    return this.#erase(OPERATOR, by, subject);
  }

  async auditTail(count: number, before = Number.POSITIVE_INFINITY): Promise<Outcome<AuditPage>> {
    const { auditSeqs } = this.running.state;
    const end = auditSeqs.firstAbove(before - 1);
    const from = Math.max(0, end - count);
    return this.#auditPage(from, Math.min(count, end - from));
  }

  async publishedWeights(after: number): Promise<Outcome<WeightsPage>> {
    const { durableSeq: lastSeq, state } = this.#actor;
    const read = await this.#pool((pool) => pool.publishedWeights(after, lastSeq));
    if (!read.ok) return read;
    const { published, upTo } = read.value;
    const entries = published.map((one) => publishedWeights(state, one));
    return granted({ entries, nextAfter: upTo < lastSeq && upTo > after ? upTo : null, lastSeq });
  }

  verdictCounts(): Promise<Outcome<VerdictCounts>> {
    return this.#pool((pool) => pool.verdicts(this.#actor.durableSeq, this.readAt));
  }

  async simulate(query: SimulationQuery, onProgress: OnProgress = () => {}): Promise<Outcome<SimulationView>> {
    const { state } = this.running;
    const scenario = scenarioOf(state, query);
    if (!scenario.ok) return scenario;
    const { value } = scenario;
    const { rowsMax } = query;
    return this.#alone('simulation', async () => {
      const work = { upTo: this.#actor.durableSeq, at: this.readAt, scenario: value, rowsMax };
      const simulated = await this.#pool((pool) => pool.simulate(work, onProgress));
      return simulated.ok ? granted(simulationView(state, simulated.value, rowsMax)) : simulated;
    });
  }

  verify(onProgress?: OnProgress): Promise<Outcome<VerifyReport>> {
    return this.#alone('verification', () => this.#pool((pool) => pool.verify(onProgress)));
  }

  // Helpers.

  get #actor(): GroupActor<Resolve> {
    return this.running.actor;
  }

  /** Queues a command and waits for its answer or its refusal. */
  #ask<C extends Command>(command: C, events = 1, bytes = COMMAND_BYTES): Promise<Answers[C['type']] | Refusal> {
    return new Promise((resolve) => {
      const refusal = this.#offer(command, resolve, events, bytes);
      if (refusal !== undefined) resolve(refusal);
    });
  }

  /**
   * Queues a command and passes its answer to `answered`, or returns the refusal. `holder`: the holder of its events.
   */
  #offer<C extends Command>(
    command: C,
    answered: (answer: Answers[C['type']]) => void,
    events: number,
    bytes: number,
    holder: Holder | null = null,
  ): Refusal | undefined {
    if (this.loop === null) return notThere();
    // The type of an answer follows from the type of its command.
    const token = answered as Resolve;
    const share = holder === null ? null : this.loop.shareOf(holder);
    return this.loop.admit({ command, token, events, bytes, share });
  }

  async #pool<R>(work: (pool: GroupPool) => Promise<R>): Promise<Outcome<R>> {
    try {
      return granted(await work(this.running.pool));
    } catch (error) {
      if (error instanceof PoolBusyError) return overloaded();
      throw error;
    }
  }

  async #alone<R>(what: 'simulation' | 'verification', work: () => Promise<Outcome<R>>): Promise<Outcome<R>> {
    if (this.#underWay.has(what)) return refused('overloaded', { text: `another ${what} is under way` });
    this.#underWay.add(what);
    try {
      return await work();
    } finally {
      this.#underWay.delete(what);
    }
  }

  async #erase(caller: number, by: string, subject: Uint8Array): Promise<Outcome<Erasure>> {
    const { receipt, commitment } = this.#receiptFor(subject);
    const answer = await this.#ask({ type: 'erase', caller, subject, commitment, by });
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

  /** Creates a receipt, with the commitment that the audit log stores. */
  #receiptFor(subject: Uint8Array): { readonly receipt: string; readonly commitment: string } {
    const receipt = Buffer.from(this.#deps.random.bytes(limits.keyBytes)).toString('base64url');
    return { receipt, commitment: hash('sha256', receipt + subjectHex(subject), 'hex') };
  }

  #newKey(): { readonly apiKey: string; readonly keyDigest: string } {
    const secret = Buffer.from(this.#deps.random.bytes(limits.keyBytes)).toString('base64url');
    const apiKey = `ptf_${this.identity.environment}_${secret}`;
    return { apiKey, keyDigest: hash('sha256', apiKey, 'hex') };
  }

  #issued(answer: Outcome<number>, apiKey: string): Outcome<IssuedKey> {
    const peer = this.#peerOutcome(answer);
    return peer.ok ? granted({ peer: peer.value, apiKey }) : peer;
  }

  #peerOutcome(answer: Outcome<number>): Outcome<PeerView> {
    return answer.ok ? granted(this.viewOf(this.#actor.state.peers.at(answer.value))) : answer;
  }

  /** Reads durable entries from position `from` of the audit log on. */
  async #auditPage(from: number, limit: number): Promise<Outcome<AuditPage>> {
    const { auditSeqs } = this.running.state;
    const end = auditSeqs.firstAbove(this.#actor.durableSeq);
    const to = Math.min(end, from + limit);
    const seqs = Array.from({ length: Math.max(0, to - from) }, (_, i) => auditSeqs.at(from + i));
    const read = await this.#pool((pool) => pool.records(seqs));
    if (!read.ok) return read;
    const entries = read.value.map(({ record, at }, i): AuditEntry => {
      if (!('audit' in record)) throw new Error(`group: record ${seqs[i]} is not audited`);
      const { action, actor, target, prev_hash: prevHash, hash: entryHash } = record.audit;
      return { seq: seqs[i]!, at, action, actor, target, prevHash, hash: entryHash };
    });
    return granted({ entries, nextAfter: to < end ? (seqs.at(-1) ?? null) : null });
  }
}

function isRefusal(answer: object): answer is Refusal {
  return 'ok' in answer && answer.ok === false;
}

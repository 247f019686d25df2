/**
 * Implements `GroupApi` by commands to the actor, long reads in the pool, and views of the state. It contains no rules.
 */
import { hash } from 'node:crypto';
import type { ChangePeer } from '../core/commands.js';
import { subjectHex } from '../core/hashing/pseudonym.js';
import type { Peer } from '../core/peers/peers.js';
import { holdersOf } from '../core/rules/decide-dispute.js';
import { readAgain } from '../core/rules/decide-removal.js';
import { explanationOf } from '../core/scoring/explanation.js';
import { isAllowed, publishedFigures, readTrust } from '../core/scoring/score.js';
import type { GroupSettings } from '../core/settings.js';
import { groupsOf } from '../core/trust/witnesses.js';
import { NO_KEY, OPERATOR } from '../core/vocabulary.js';
import { granted, isRefusal, type Outcome, refused } from '../errors.js';
import { DAY_MS, limits } from '../limits.js';
import { exportOf } from './access/subject-holdings.js';
import { allowedView, auditEntry, disputeView, originView, peerView, SignalViews } from './access/views.js';
import type { Command } from './actor-commands.js';
import type { AuditPage, Erasure, GroupApi, GroupIdentity, IssuedKey, JudgedPlayer, PeerView } from './api.js';
import { MinuteAsOf } from './as-of.js';
import { type CurrentLoop, GroupCalls, type Submitting, submitAll } from './calls.js';
import type { ClusterHealth } from './cluster-api.js';
import { healthOf } from './group-health.js';
import { ownEvent } from './listing/listing.js';
import type { Clock, RandomSource } from './ports/clock.js';
import type { Holder } from './ports/pool.js';
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
  readonly inForce: () => Omit<GroupSettings, 'PRE_TRUSTED_PEERS'>;
  readonly clock: Clock;
  readonly random: RandomSource;
}

export interface Group extends GroupApi {
  open(): void;
  configure(command: Extract<Command, { type: 'scoring' | 'setting' }>): Promise<Outcome<null>>;
  drain(): Promise<void>;
  /** Answers nothing more, for a process that cannot continue. */
  abandon(): void;
}

const EVENT_BYTES = 256;

const nobody: readonly number[] = [];

export function createGroup({ identity, current, verdicts, check, cluster, inForce, clock, random }: GroupDeps): Group {
  const calls = new GroupCalls(current);
  const minute = new MinuteAsOf(clock);
  const signals = new SignalViews();
  let isOpen = false;

  const stateNow = () => current.loop.state;
  const asOfNow = () => minute.of(stateNow());
  const secret = () => Buffer.from(random.bytes(limits.keyBytes)).toString('base64url');

  function receiptFor(subject: Uint8Array) {
    const receipt = secret();
    return { receipt, commitment: hash('sha256', receipt + subjectHex(subject), 'hex') };
  }

  function newKey() {
    const apiKey = `ptf_${identity.environment}_${secret()}`;
    return { apiKey, keyDigest: hash('sha256', apiKey, 'hex') };
  }

  const viewOf = (peer: Peer | undefined) => peer && peerView(stateNow(), peer);

  function peerOutcome(answer: Outcome<number>): Outcome<PeerView> {
    const state = stateNow();
    return answer.ok ? granted(peerView(state, state.peers.at(answer.value))) : answer;
  }

  function issued(answer: Outcome<number>, apiKey: string): Outcome<IssuedKey> {
    const peer = peerOutcome(answer);
    return peer.ok ? granted({ peer: peer.value, apiKey }) : peer;
  }

  async function erase(caller: number, by: string, subject: Uint8Array): Promise<Outcome<Erasure>> {
    const { receipt, commitment } = receiptFor(subject);
    const answer = await calls.ask({ type: 'erase', caller, subject, commitment, by });
    if (!answer.ok) return answer;
    const { events: eventsErased, pending, reason, at: erasedAt } = answer.value;
    return granted({ status: pending ? 'pending' : 'erased', reason, eventsErased, erasedAt, receipt });
  }

  async function auditPage(from: number, limit: number, holder: Holder | null = null): Promise<Outcome<AuditPage>> {
    const { durableSeq, state } = current.loop.actor;
    const { auditSeqs } = state;
    const end = auditSeqs.firstAbove(durableSeq);
    const to = Math.min(end, from + limit);
    const seqs = Array.from({ length: Math.max(0, to - from) }, (_, i) => auditSeqs.at(from + i));
    const read = await calls.pool((pool) => pool.records(seqs, holder));
    if (!read.ok) return read;
    const entries = read.value.map(({ record, at }, i) => {
      if (!('audit' in record)) throw new Error(`group: record ${seqs[i]} is not audited`);
      return auditEntry(seqs[i]!, at, record.audit);
    });
    return granted({ entries, nextAfter: to < end ? (seqs.at(-1) ?? null) : null });
  }

  function preTrustedIds(): string[] {
    const { peers, preTrusted } = stateNow();
    return preTrusted.map((index) => peers.at(index).peerId);
  }

  function sendsReportsOnly(): boolean {
    const { eventCount, sentAt } = stateNow();
    const since = clock.now() - limits.reportsOnlyMs;
    const reportsOnly = sentAt.report >= since && Math.max(sentAt.ban, sentAt.raising) < since;
    return reportsOnly && eventCount >= limits.reportsOnlyEventsMin;
  }

  const group: Group = {
    clusterOperations: null,
    identity,
    verdicts,
    open() {
      isOpen = true;
    },
    configure: (command) => calls.ask(command),
    async drain() {
      isOpen = false;
      await current.loop.drain();
    },
    abandon() {
      isOpen = false;
      current.loop.abandon();
    },

    // Views.

    health: () => healthOf(current.loop, isOpen, cluster),
    refresh: async () => true,
    get isReady() {
      return isOpen && !current.loop.failed;
    },
    admits: (...asked) => current.loop.admits(...asked),
    hasRoom: (...asked) => current.loop.hasRoom(...asked),
    get overloaded() {
      return current.loop.overloaded;
    },
    noteRefusal: () => current.loop.noteRefusal(),

    counts() {
      const { peers, subjects, eventCount } = stateNow();
      return { peers: peers.size, players: subjects.size, events: eventCount };
    },

    peerByKeyDigest(digestHex) {
      const peer = stateNow().peers.byKey(digestHex, clock.now());
      return peer && peerView(stateNow(), peer, digestHex);
    },
    peerById: (peerId) => viewOf(stateNow().peers.byId(peerId)),

    delayedEventCount({ index }) {
      const { hourlyCounts, peers } = stateNow();
      return hourlyCounts.asOf(index, peers.at(index).eventCount, clock.now());
    },

    peers(from, limit) {
      const state = stateNow();
      return state.peers.page(from, limit).map((peer) => peerView(state, peer));
    },

    trust(subject) {
      const state = stateNow();
      const row = state.subjects.find(subject);
      return row < 0 ? undefined : readTrust(state, row, minute.of(state));
    },

    isLongRead(subject) {
      const { numbers, subjects } = stateNow();
      if (numbers <= limits.readEntriesAtOnce) return false;
      const row = subjects.find(subject);
      return row >= 0 && subjects.peerCount(row) > limits.readEntriesAtOnce;
    },

    trusts(players, trusts) {
      const state = stateNow();
      const { subjects } = state;
      const asOf = minute.of(state);
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
    },

    disputedFor(subject) {
      const state = stateNow();
      if (state.disputes.of(subject).length === 0) return nobody;
      return holdersOf(state, subject)
        .map(({ peer }) => peer)
        .filter((peer) => state.disputes.concern(subject, peer));
    },

    refusedErasures: (subject) => stateNow().erasureRequests.of(subject).refused,

    explain(subject) {
      const state = stateNow();
      const row = state.subjects.find(subject);
      if (row < 0) return undefined;
      const asOf = minute.of(state);
      const explanation = explanationOf(state, row, asOf);
      return isAllowed(state, row, asOf) ? { ...explanation, allowed: true } : explanation;
    },

    ownErasures({ index }, from, limit) {
      const { erasedEvents, times } = stateNow();
      const total = erasedEvents.countOf(index);
      const events = erasedEvents.of(index, from, limit).map(({ seq, erasedSeq }) => ({
        receivedAt: times.receivedAt(seq),
        erasedAt: times.receivedAt(erasedSeq),
      }));
      const end = from + events.length;
      return { total, events, next: end < total ? end : null };
    },

    hasErasedSince: ({ index }, at) => (stateNow().erasuresBy.get(index)?.at(-1) ?? Number.NEGATIVE_INFINITY) >= at,

    // Commands.

    submit(caller, events, holder = caller?.index ?? NO_KEY) {
      const to: Submitting = {
        offer: (submission, answered) => {
          const { length } = submission.events;
          return calls.offer({ type: 'submit', ...submission }, answered, length, length * EVENT_BYTES, holder);
        },
        read: (query) => calls.pool((pool) => pool.repeats({ ...query, holder })),
      };
      return submitAll(to, { caller: caller?.index ?? null, events }, limits.rereadTries);
    },

    async register(registration, by, byOperator = false) {
      const peerId = random.uuid();
      const { apiKey, keyDigest } = newKey();
      const command = { type: 'register', ...registration, peerId, keyDigest, byOperator, by } as const;
      return issued(await calls.ask(command, limits.eventBodyBytes), apiKey);
    },

    async withdraw(caller, eventId) {
      const holder = caller?.index ?? NO_KEY;
      for (let tries = 0; tries < limits.rereadTries; tries++) {
        const located = await calls.ask({ type: 'locate', eventId });
        if (isRefusal(located)) return located;
        if (located.seq === 0) return refused('event_not_found');
        const read = await calls.pool((pool) => pool.records([located.seq], holder));
        if (!read.ok) return read;
        const event = read.value[0]!.record;
        if (event.type !== 'event_accepted') return refused('event_not_found');
        // Decided again below; here, so that nobody walks another's events, or learns of them by the time it takes.
        if (caller !== null && stateNow().origins.peerOf(event.peer) !== caller.index)
          return refused('event_not_found');
        const { subject } = event;
        const chains = await calls.ask({ type: 'chains', subject });
        if (chains !== null && isRefusal(chains)) return chains;
        if (chains === null) return refused('event_not_found');
        const head = chains.heads.find(({ peer }) => peer === event.peer)?.head ?? 0;
        const query = { head, eventSeq: located.seq, expired: chains.expired, holder };
        const chain = await calls.pool((pool) => pool.chain(query));
        if (!chain.ok) return chain;
        const at = { eventSeq: located.seq, asOf: located.asOf, chain: chain.value, chainAsOf: chains.asOf };
        const command = { caller: caller?.index ?? null, event, ...at };
        const answer = await calls.ask({ type: 'withdraw', ...command });
        if (answer !== readAgain) return answer;
      }
      return overloaded();
    },

    erase: (caller, subject) => erase(caller?.index ?? NO_KEY, caller?.peerId ?? 'anonymous', subject),

    async playerEvents(subject, caller, limit, from, holder = caller?.index ?? null) {
      const chains = await calls.ask({ type: 'chains', subject });
      if (chains === null) return refused('player_not_found');
      if (isRefusal(chains)) return chains;
      const { heads, withdrawn, expired, total, disputed } = chains;
      const walk = { heads, withdrawn: new Set(withdrawn), expired };
      const query = { subject, ...walk, caller: caller?.index ?? null, limit, from, holder };
      const listed = await calls.pool((pool) => pool.list(query));
      if (!listed.ok) return listed;
      const listing = listed.value;
      if (listing === null) return refused('invalid_parameter', { text: 'cursor is not valid' });
      const isDisputed = caller !== null && disputed.includes(caller.index);
      const own = caller === null ? [] : listing.own.map((event) => ownEvent(event, caller, heads, isDisputed));
      const { summarised, summary, next } = listing;
      const refusals = caller === null ? [] : group.refusedErasures(subjectHex(subject));
      const erasureRefused = refusals.find(({ peers }) => peers.includes(caller!.index));
      return granted({ total, summarised, summary, own, next, ...(erasureRefused && { erasureRefused }) });
    },

    async dispute(caller, subject, text, against) {
      const disputeId = random.uuid();
      const by = caller?.peerId ?? 'anonymous';
      const named = against === undefined ? {} : { against };
      const command = { disputeId, caller: caller?.index ?? NO_KEY, subject, text, by, ...named };
      const answer = await calls.ask({ type: 'open_dispute', ...command });
      return answer.ok ? granted({ id: disputeId, openedAt: answer.value.openedAt }) : answer;
    },

    audit: (after, limit, holder) => auditPage(stateNow().auditSeqs.firstAbove(after), limit, holder),

    // Operations.

    status() {
      const { actor, state, snapshots, log, disk } = current.loop;
      return {
        ...group.health(),
        identity,
        counts: group.counts(),
        peersByStatus: state.peers.byStatus(),
        newcomers: state.peers.newcomers(clock.now(), DAY_MS),
        halfLifeDays: state.halfLifeDays,
        banHalfLifeDays: state.measureScale.halfLifeDays,
        sendsReportsOnly: sendsReportsOnly(),
        preTrusted: preTrustedIds(),
        witnesses: groupsOf(state.weights.witness, (number) => state.peers.has(number)),
        mailbox: { events: actor.mailbox.events, bytes: actor.mailbox.bytes },
        pendingErasures: state.erasureRequests.pending,
        openDisputes: state.disputes.counts.open,
        snapshots: snapshots.list(),
        ownerEpoch: log.epoch,
        disk: disk.use === null ? null : { ...disk.use, minBytes: disk.minBytes },
        cluster,
        check: check.status,
      };
    },

    signals: (peer) => signals.of(stateNow(), current.loop.weights.signals, peer),
    tooOld: ({ index }) => stateNow().tooOld.get(index),
    sharedErasures: ({ index }) => stateNow().sharedErasures.get(index) ?? 0,

    changePeer: async (type, peerId, asked, by) =>
      peerOutcome(await calls.ask({ ...asked, type, peerId, by } as ChangePeer)),

    async rotateKey(peerId, overlapMs, by) {
      const { apiKey, keyDigest } = newKey();
      return issued(await calls.ask({ type: 'rotate_key', peerId, overlapMs, keyDigest, by }), apiKey);
    },

    async preTrust(change, peerId, by) {
      const answer = await calls.ask({ type: 'pre_trust', change, peerId, by });
      return answer.ok ? granted({ preTrusted: preTrustedIds() }) : answer;
    },

    async purgePeers(idleMs, by) {
      const purged: string[] = [];
      for (;;) {
        const answer = await calls.ask({ type: 'purge_peers', idleMs, by });
        const before = `${purged.length} peers were revoked (see the audit log), the others not`;
        if (!answer.ok && purged.length > 0) return { ...answer, text: `${before}: ${answer.text ?? answer.code}` };
        if (!answer.ok) return answer;
        if (answer.value.length === 0) return granted(purged);
        purged.push(...answer.value);
      }
    },

    relatePeers: (relation, peerId, otherId, by) => calls.ask({ type: 'relate_peers', relation, peerId, otherId, by }),

    origins() {
      const state = stateNow();
      return state.origins.list.map((origin) => originView(state, origin));
    },

    async changeOrigin(change, name, by) {
      const answer = await calls.ask({ type: 'origin', change, name, by });
      const state = stateNow();
      return answer.ok ? granted(originView(state, state.origins.named(name)!)) : answer;
    },

    settings: () => ({ ...inForce(), PRE_TRUSTED_PEERS: preTrustedIds().join(',') }),
    changeSetting: (name, value, by) => calls.ask({ type: 'setting', name, value, by }),

    disputes(status, from, to) {
      const state = stateNow();
      const all = state.disputes.all();
      const isDecided = status === 'decided';
      const isAsked = (own: string) => status === undefined || status === own || (isDecided && own !== 'open');
      const asked = all.filter((one) => isAsked(one.status));
      if (isDecided) asked.sort((one, other) => other.decidedAt! - one.decidedAt!);
      return asked.slice(from, to).map((dispute) => disputeView(state, dispute));
    },

    disputeIds: () =>
      stateNow()
        .disputes.all()
        .map(({ id }) => id),

    decideDispute: (decision, disputeId, peerIds, by) =>
      calls.ask({ type: 'decide_dispute', decision, disputeId, peerIds, by }),

    async exportSubject(subject, by) {
      const { receipt, commitment } = receiptFor(subject);
      const holdings = await calls.ask({ type: 'export_subject', subject, commitment, by });
      if (!holdings.ok) return holdings;
      return exportOf(stateNow(), subjectHex(subject), receipt, holdings.value, (work) => calls.pool(work));
    },

    playersBy(wanted, from, limit) {
      const state = stateNow();
      const { subjects } = state;
      const asOf = minute.of(state);
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
    },

    allowedPlayers() {
      const { at } = asOfNow();
      const listed = stateNow().allowed.all();
      return listed.map(([subject, { entry }]) => allowedView(subject, entry, at)).filter((view) => view !== undefined);
    },

    allowedPlayer(subject) {
      const hex = subjectHex(subject);
      return allowedView(hex, stateNow().allowed.of(hex)?.entry ?? null, asOfNow().at);
    },

    async allowPlayer(subject, until, note, by) {
      const id = random.uuid();
      const answer = await calls.ask({ type: 'allow', subject, id, until, note, by });
      return answer.ok ? granted({ subject: subjectHex(subject), entryId: id, until: answer.value, note }) : answer;
    },

    disallowPlayer: (subject, by) => calls.ask({ type: 'disallow', subject, by }),

    pendingErasures() {
      const state = stateNow();
      return state.erasureRequests.all().flatMap(([subject, { pending }]) => {
        const requests = pending.map(({ seq, peer, reason = 'operator_mode' as const }) => {
          const peerId = state.peers.has(peer) ? state.peers.at(peer).peerId : null;
          return { requestedAt: state.times.receivedAt(seq), peerId, reason };
        });
        return requests.length === 0 ? [] : [{ subject, requests }];
      });
    },

    confirmErasure: (subject, by) => erase(OPERATOR, by, subject),
    refuseErasure: (subject, reason, by) => calls.ask({ type: 'refuse_erasure', subject, reason, by }),

    async auditTail(count, before = Number.POSITIVE_INFINITY) {
      const { auditSeqs } = stateNow();
      const end = auditSeqs.firstAbove(before - 1);
      const from = Math.max(0, end - count);
      return auditPage(from, Math.min(count, end - from));
    },

    verdictCounts: () => calls.pool((pool) => pool.verdicts(current.loop.actor.durableSeq, asOfNow().at)),

    async simulate(query, onProgress = () => {}) {
      const state = stateNow();
      const scenario = scenarioOf(state, query);
      if (!scenario.ok) return scenario;
      const { rowsMax } = query;
      return calls.alone('simulation', async () => {
        const work = { upTo: current.loop.actor.durableSeq, at: asOfNow().at, scenario: scenario.value, rowsMax };
        const simulated = await calls.pool((pool) => pool.simulate(work, onProgress));
        return simulated.ok ? granted(simulationView(state, simulated.value, rowsMax)) : simulated;
      });
    },

    verify: (onProgress) => calls.alone('verification', () => calls.pool((pool) => pool.verify(onProgress))),
  };
  return group;
}

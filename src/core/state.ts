/**
 * Holds the state of a group, the fold of its log. Records never fail to apply, and use only + - x / and comparison,
 * so that a replay is equal bit for bit on every platform. Only a load of a snapshot changes it otherwise.
 */
import { limits } from '../limits.js';
import { KEY_WORDS, TAG_WORDS } from './columns/packed-keys.js';
import { NumberColumn, Times } from './columns/times.js';
import { evidenceAt, measureOfClaim } from './evidence/decay.js';
import { isEvidence, isMeasure, raises, revokesLowering } from './evidence/event-types.js';
import { subjectBytes, subjectHex } from './hashing/pseudonym.js';
import { sipKey } from './hashing/siphash.js';
import { applyPeerChange } from './peers/peer-changes.js';
import { type Peer, PeerNames, Peers } from './peers/peers.js';
import { auditStart } from './records/audit.js';
import type * as recordTypes from './records/records.js';
import { AllowList } from './registers/allow-list.js';
import { Disputes } from './registers/disputes.js';
import { ErasedEvents, ErasureRegister } from './registers/erasure-requests.js';
import { FirstPeers } from './registers/first-peers.js';
import { Origins } from './registers/origins.js';
import { RecentEvidence } from './registers/recent-evidence.js';
import type { GroupSettings } from './settings.js';
import { bytesOf, EventColumns, type EventKeys, keyOf } from './tables/event-columns.js';
import { EventIds } from './tables/event-ids.js';
import { HourlyCounts } from './tables/hourly-counts.js';
import { IdTags } from './tables/id-tags.js';
import { OldBans } from './tables/old-bans.js';
import { noWeights, PeerWeights, type Weights } from './tables/peer-weights.js';
import { RepeatFilter, repeatKey } from './tables/repeat-filter.js';
import { type AddEvidence, SortedEvents } from './tables/sorted-events.js';
import { Subjects } from './tables/subjects.js';
import { OPERATOR, type PeerRelation } from './vocabulary.js';

/** An erased subject whose bytes are still in the log. */
export interface OpenErasure {
  /** Hex; null if only the log's free space may still hold the subject. */
  readonly subject: string | null;
  /** Heads of the subject's chains, and the requests that name the subject. */
  readonly heads: readonly number[];
}

/** A withdrawn event whose bytes are still in the log. */
export interface OpenWithdrawal {
  readonly seq: number;
  /** Hex; null once the subject was erased. */
  readonly subject: string | null;
}

/** Records that change or read the tables of players. */
const touchingPlayers: ReadonlySet<recordTypes.RecordType> = new Set<recordTypes.RecordType>([
  'event_withdrawn',
  'evidence_taken_back',
  'evidence_kept',
  'subject_erased',
  'epoch_moved',
  'half_life_changed',
  'ban_epoch_moved',
  'ban_half_life_changed',
  'scoring_changed',
  'dispute_opened',
  'dispute_decided',
]);

/** The version of scoring from which on bans are measures. */
export const MEASURES_FROM = 3;

/** A change of scale: at record `seq`, the sums of all earlier records were multiplied by `factor`. */
export interface Rescale {
  readonly seq: number;
  readonly factor: number;
}

type Applier<R> = (record: R, seq: number, at: number) => void;
type Appliers = {
  readonly [R in Exclude<
    recordTypes.LogRecord,
    recordTypes.EventAccepted | recordTypes.PeerChanged
  > as R['type']]: Applier<R>;
};

export class GroupState {
  readonly formed: recordTypes.GroupFormed;
  readonly subjects: Subjects;
  readonly eventIds = new EventIds();
  readonly peers = new Peers();
  readonly peerNames = new PeerNames(this.peers.list);
  readonly origins = new Origins();
  readonly disputes = new Disputes();
  readonly times = new Times();
  readonly auditSeqs = new NumberColumn();
  /** Values of peers that reads use; derived. */
  readonly peerWeights = new PeerWeights();
  readonly idTags: IdTags;
  /** The filter of events that may repeat earlier ones; derived. */
  readonly repeats: RepeatFilter;
  /** Known to this process only. */
  readonly recentEvidence = new RecentEvidence();
  readonly #single = new EventColumns(1);
  /** Events that count already but are not in the tables yet. */
  #sorted: SortedEvents | null = null;
  /** Bans so far, if the version of scoring counts them as claims. */
  #oldBans: OldBans | null;

  lastSeq = 0;
  /** The newest record on which peer weights depend. */
  evidenceSeq = 0;
  /** The newest event of a peer whose evidence no published computation included; since the start of this process. */
  newVoiceSeq = 0;
  /** Time of the newest record, in ms since 1970. */
  lastAt = 0;
  halfLifeDays: number;
  epoch: number;
  rescales: Rescale[] = [];
  /** Scale of the sums of measures, with every change of it so far. */
  measureScale: { epoch: number; halfLifeDays: number; rescales: Rescale[] };
  /** Settings that a cluster has put into the log, except half-lives. A node that serves alone ignores them. */
  settings: Partial<GroupSettings> = {};
  preTrusted: number[] = [];
  /** The configuration value of pre-trusted peers that was applied last. */
  preTrustConfigured: string | null = null;
  weights: Weights = noWeights;
  /** The operator's declarations about pairs of peers, sorted by pair; the newest declaration of each pair. */
  relations: readonly PeerRelation[] = [];
  /** The version of scoring in use from record `seq` on. */
  scoring: { readonly version: number; readonly seq: number };
  auditHead = auditStart;
  /** Erasures whose bytes are not out of the log yet, by their `subject_erased` record. */
  readonly erasures = new Map<number, OpenErasure>();
  /** Withdrawals whose bytes are not out of the log yet, by the withdrawn event. */
  readonly withdrawals = new Map<number, OpenWithdrawal>();
  readonly erasureRequests = new ErasureRegister();
  /** Per peer (or `NO_KEY`): how often it asked for the erasure of a subject that others had reported. */
  readonly sharedErasures = new Map<number, number>();
  /** Times of the newest erasures, by number of the asking peer (or `NO_KEY`). */
  erasuresBy = new Map<number, number[]>();
  /** Times of the newest disputes, by number of the asking peer (or `NO_KEY`). */
  disputesBy = new Map<number, number[]>();
  /** The newest record since the start of this process after which a chain that was read earlier may lack evidence. */
  revokedSeq = 0;
  /** Number of erasures and withdrawals carried out so far: after a change, records must be read again. */
  redacted = 0;
  /** Events up to record `seq` have expired from the log; `open` while its free space may still hold some of them. */
  retired = { seq: 0, open: false };
  eventCount = 0;
  readonly allowed = new AllowList();
  readonly erasedEvents = new ErasedEvents();
  readonly hourlyCounts = new HourlyCounts();
  /** Peers that are first about nearly everybody, by claims and by measures; known to this process only. */
  readonly firstPeers = { claims: new FirstPeers(), measures: new FirstPeers() };
  /** When the newest ban, event that raises trust and other evidence were received, in ms since 1970; 0 if never. */
  readonly sentAt = { ban: 0, raising: 0, report: 0 };
  /** Per peer: how many of its newest events in a row are too old to count; since the start of this process. */
  readonly tooOld = new Map<number, { readonly events: number; readonly newest: number }>();

  /** `salt` is not stored: it only keys the digests of event ids and of event contents. */
  constructor(formed: recordTypes.GroupFormed, salt: Uint8Array) {
    const secret = Buffer.from(formed.node_secret, 'hex');
    this.formed = formed;
    this.halfLifeDays = formed.half_life_days;
    this.epoch = formed.epoch;
    this.measureScale = {
      epoch: formed.epoch,
      halfLifeDays: formed.ban_half_life_days ?? limits.banHalfLifeDaysDefault,
      rescales: [],
    };
    this.scoring = { version: formed.scoring ?? 1, seq: 1 };
    this.#oldBans = this.scoring.version < MEASURES_FROM ? new OldBans() : null;
    this.subjects = new Subjects(sipKey(secret));
    this.repeats = new RepeatFilter(repeatKey(secret, salt));
    this.idTags = new IdTags(secret, salt);
  }

  /** Number of assigned numbers of peers, origins and carriers, which is also the next number. */
  get numbers(): number {
    return this.peers.size + this.origins.size;
  }

  /** Returns the peer behind a number; for a carrier, its peer. */
  senderOf(number: number): Peer {
    return this.peers.at(this.origins.peerOf(number));
  }

  /** Applies the next record. `at` is the time of its batch. */
  apply(record: recordTypes.LogRecord, at: number): void {
    if (record.type === 'event_accepted') {
      this.#single.onlyKeys(keyOf(record.subject), record.id_tag);
      this.#single.setOthers(0, record);
      this.applyEvents(this.#single, at);
      if (revokesLowering(record) || record.repeats) this.revokedSeq = this.lastSeq;
      return;
    }
    if (touchingPlayers.has(record.type)) this.#settleSorted();
    const seq = this.#next(at);
    const apply = this.#appliers[record.type as keyof Appliers] as Applier<recordTypes.LogRecord> | undefined;
    if (apply === undefined) this.#peerChanged(record as recordTypes.PeerChanged, seq);
    else apply(record, seq, at);
    if (!('audit' in record)) return;
    this.auditHead = record.audit.hash;
    this.auditSeqs.push(seq);
  }

  /** How each record changes the state; changes of peers have a table of their own. */
  readonly #appliers: Appliers = {
    group_formed: () => undefined,
    batches_rewritten: () => undefined,
    subject_exported: () => undefined,
    // The id of the event stays taken, and nothing else of it counts.
    event_gone: (record, seq, at) => {
      this.evidenceSeq = seq;
      if (this.#sorted === null) this.eventIds.insert(record.id_tag, seq, record.peer);
      else this.#sorted.addId(record.id_tag, seq, record.peer);
      this.#count(record.peer, at);
    },
    event_withdrawn: (record, seq) => {
      const { subject, event_seq } = record;
      this.evidenceSeq = seq;
      if (record.hidden !== undefined || record.counts !== undefined) this.revokedSeq = seq;
      this.withdrawals.set(event_seq, { seq, subject });
      this.recentEvidence.forget(event_seq);
      if (subject === null) return;
      this.#oldBans?.withdrawn(subject, record.peer, event_seq, record.hidden?.under ?? 0);
      this.#setPair(subjectBytes(subject), record, seq);
    },
    evidence_taken_back: (record, seq) => {
      this.evidenceSeq = seq;
      this.revokedSeq = seq;
      if (record.subject === null) return;
      // The record before is the event that lifts.
      this.#oldBans?.lifted(record.subject, record.peer, seq - 1);
      this.#setPair(subjectBytes(record.subject), record, seq);
    },
    // A live record only moves the head of the chain; in a replay without the pair's events it sets the sums.
    evidence_kept: (record, seq) => {
      if (record.subject !== null) this.#setPair(record.subject, record, seq);
    },
    subject_erased: ({ peer, subject }, seq, at) => {
      this.evidenceSeq = seq;
      this.erasures.set(seq, { subject, heads: subject === null ? [] : this.#headsOf(subject) });
      if (subject !== null) this.#forgetSubject(subject);
      this.#countFor(this.erasuresBy, peer, at);
    },
    erasure_requested: ({ subject, peer, reason }, seq, at) => {
      const request = { seq, peer, ...(reason === undefined ? {} : { reason }) };
      if (subject !== null) this.erasureRequests.request(subject, request);
      this.#countFor(this.erasuresBy, peer, at);
    },
    erasure_refused: ({ subject, reason }, seq, at) => {
      if (subject !== null) this.erasureRequests.refuse(subject, reason, seq, at);
    },
    shared_erasure_asked: ({ peer }) => {
      this.sharedErasures.set(peer, (this.sharedErasures.get(peer) ?? 0) + 1);
    },
    events_erased: ({ peer, events }, seq) => {
      for (const event of events) this.erasedEvents.add(this.senderOf(peer).index, event, seq);
    },
    redacted: ({ erasures, withdrawals }) => {
      this.redacted++;
      for (const seq of erasures) this.erasures.delete(seq);
      for (const eventSeq of withdrawals) this.withdrawals.delete(eventSeq);
    },
    events_retired: ({ up_to, done }) => {
      this.retired = { seq: up_to, open: !done };
    },
    weights_published: ({ type: _type, based_on_seq: basedOnSeq, computed_at: computedAt, ...columns }) => {
      this.weights = { basedOnSeq, computedAt, ...columns };
      this.peerWeights.refresh(this);
    },
    epoch_moved: (record, seq) => this.#rescale(this, record, seq),
    half_life_changed: (record, seq) => {
      this.halfLifeDays = record.half_life_days;
      this.evidenceSeq = seq;
      this.#rescale(this, record, seq);
    },
    ban_epoch_moved: (record, seq) => this.#rescale(this.measureScale, record, seq),
    ban_half_life_changed: (record, seq) => {
      this.measureScale.halfLifeDays = record.ban_half_life_days;
      this.evidenceSeq = seq;
      this.#rescale(this.measureScale, record, seq);
    },
    group_setting_changed: ({ name, value }, seq) => {
      this.settings = { ...this.settings, [name]: value };
      this.evidenceSeq = seq;
    },
    pre_trust_set: ({ peers, configured }, seq) => {
      this.preTrusted = [...peers];
      this.evidenceSeq = seq;
      this.peerWeights.refresh(this);
      if (configured !== null) this.preTrustConfigured = configured;
    },
    peer_registered: (record, _, at) => {
      this.peers.add({
        index: record.peer,
        peerId: record.peer_id,
        peerName: record.peer_name,
        gameIds: record.game_ids,
        contactEmail: record.contact_email,
        registeredAt: at,
        status: 'active',
        keyDigest: record.key_digest,
        oldKeyDigest: null,
        oldKeyUntil: 0,
        ...(record.public_key === undefined ? {} : { publicKey: record.public_key }),
        eventCount: 0,
      });
      this.peerWeights.refreshPeer(this, record.peer);
    },
    player_allowed: ({ subject, id, until, note }, seq) => {
      if (subject !== null) this.allowed.set(subject, { id, until, note: note ?? '' }, seq);
    },
    player_allowance_ended: ({ subject }, seq) => {
      if (subject !== null) this.allowed.set(subject, null, seq);
    },
    peers_related: (record, seq) => {
      this.relations = related(this.relations, record);
      this.evidenceSeq = seq;
    },
    scoring_changed: ({ scoring }, seq) => {
      this.scoring = { version: scoring, seq };
      if (scoring >= MEASURES_FROM) {
        this.#oldBans?.becomeMeasures(this.subjects);
        this.#oldBans = null;
      }
      // Makes the next computation of weights due.
      this.evidenceSeq = seq;
    },
    origin_declared: ({ origin, name }, _, at) => {
      const known = this.origins.at(origin);
      if (known !== undefined) known.declared = true;
      else {
        this.origins.add({ index: origin, name, declaredAt: at, declared: true });
        this.peerWeights.refreshPeer(this, origin);
      }
    },
    origin_removed: ({ origin }) => {
      this.origins.at(origin)!.declared = false;
    },
    origin_carried: ({ carrier, peer, origin }) => {
      this.origins.carry({ index: carrier, peer, origin });
      this.peerWeights.refreshPeer(this, carrier);
    },
    dispute_opened: ({ dispute_id: id, peer, subject, text, against }, seq, at) => {
      this.#countFor(this.disputesBy, peer, at);
      if (subject === null) return;
      const open = { status: 'open', decidedAt: null, voids: [], decisions: [] } as const;
      this.disputes.add({ id, seq, openedAt: at, peer, subject, text, against, ...open });
    },
    dispute_decided: (record, seq, at) => {
      const subject = this.disputes.byId(record.dispute_id)?.subject ?? '';
      const before = this.disputes.voidedOf(subject);
      this.disputes.decide(record.dispute_id, record, seq, at);
      const voided = this.disputes.voidedOf(subject);
      if (before.join() === voided.join()) return;
      this.evidenceSeq = seq;
      this.#markEntries(subject, voided);
      this.subjects.touch(subjectBytes(subject), at);
    },
  };

  /** Applies the next records, at least one, all of them events of one batch. */
  applyEvents(events: EventColumns, at: number): void {
    if (this.#sorted === null) {
      this.prefetch(events);
      for (let i = 0; i < events.count; i++) this.#intoTables(events, i, this.lastSeq + 1 + i, at);
    } else this.#sorted.add(events, this.lastSeq + 1, at);
    for (let i = 0; i < events.count; i++) this.#noteSaid(events, i, at);
    this.evidenceSeq = this.#next(at, events.count);
    this.recentEvidence.missed(this.lastSeq);
    for (let i = 0; i < events.count; i++) this.#count(events.peers[i]!, at);
  }

  /** Applies one event that was just looked up by `keys`. Must not be called between `sortEvents` and `settle`. */
  applyEvent(event: recordTypes.DecidedEvent, { columns, i }: EventKeys, at: number): void {
    columns.setOthers(i, event);
    this.#intoTables(columns, i, this.lastSeq + 1, at);
    const hash = this.#noteSaid(columns, i, at);
    if (hash !== 0) {
      const { peer, event_type: type, timestamp } = event;
      this.recentEvidence.note({ hash, row: columns.rows[i]!, peer, type, timestamp }, this.lastSeq + 1);
    }
    this.#noteAge(event);
    this.evidenceSeq = this.#next(at);
    // Set also if there is nothing to revoke and therefore no record of the revocation.
    if (revokesLowering(event) || event.repeats) this.revokedSeq = this.lastSeq;
    this.#count(event.peer, at);
  }

  #intoTables(events: EventColumns, i: number, seq: number, at: number): void {
    this.eventIds.insertFrom(events.tags, i * TAG_WORDS, seq, events.peers[i]!);
    const decaysFrom = evidenceAt(events.timestamps[i]!, at);
    const entry = this.subjects.ensureEntryOfEvent(events, i, at, decaysFrom);
    const event = {
      peer: events.peers[i]!,
      type: events.types[i]!,
      mass: events.masses[i]!,
      follows: events.follows[i] === 1,
    };
    const isKnown = this.weights.measures?.judged[event.peer] === 1 || this.#oldBans !== null;
    if (event.mass !== 0 && !isKnown) this.newVoiceSeq = seq;
    this.#addEvidence(entry, event, seq, decaysFrom, events.keys, i * KEY_WORDS);
    // If a peer's events about the player are void, those that it sends under an origin are void, too.
    if (this.disputes.counts.upheld > 0) this.#markVoid(subjectHex(bytesOf({ words: events.keys, at: i * KEY_WORDS })));
  }

  readonly #addEvidence: AddEvidence = (entry, { peer, type, mass, follows }, seq, decaysFrom, words, from) => {
    const { entries } = this.subjects;
    if (!isMeasure(type)) entries.add(entry, mass, seq, follows);
    else if (this.#oldBans === null) entries.addMeasure(entry, Math.abs(mass), seq, follows);
    else {
      entries.add(entry, mass, seq, false);
      const measure = measureOfClaim(Math.abs(mass), decaysFrom, this, this.measureScale);
      this.#oldBans.add(subjectHex(bytesOf({ words, at: from })), peer, seq, Math.abs(mass), measure);
    }
  };

  /** Sets the version of scoring from a snapshot, whose tables hold its bans as measures. */
  restoreScoring(scoring: GroupState['scoring']): void {
    this.scoring = scoring;
    if (scoring.version >= MEASURES_FROM) this.#oldBans = null;
  }

  /** True if bans still count as claims; such a state cannot be written to a snapshot. */
  get countsBansAsClaims(): boolean {
    return this.#oldBans !== null;
  }

  /** Marks exactly those entries of a player whose evidence an upheld dispute excludes from scores. */
  #markVoid(subject: string): void {
    const voided = this.disputes.voidedOf(subject);
    if (voided.length > 0) this.#markEntries(subject, voided);
  }

  #markEntries(subject: string, voided: readonly number[]): void {
    const row = this.subjects.find(subjectBytes(subject));
    if (row < 0) return;
    for (const entry of this.subjects.entriesOf(row)) {
      const isVoid = voided.includes(this.origins.peerOf(this.subjects.entries.peer(entry)));
      this.subjects.entries.setVoid(entry, isVoid);
    }
  }

  /** Marks all void entries after tables were filled without regard to disputes. */
  markAllVoid(): void {
    if (this.disputes.counts.upheld === 0) return;
    for (const subject of this.disputes.subjects()) this.#markVoid(subject);
  }

  /** Notes the event's content and kind. Returns the hash of the content; 0 if the event is no evidence. */
  #noteSaid({ hashes, peers, types, timestamps }: EventColumns, i: number, at: number): number {
    const type = types[i]!;
    if (isMeasure(type)) this.sentAt.ban = at;
    else if (raises(type)) this.sentAt.raising = at;
    else if (isEvidence(type)) this.sentAt.report = at;
    if (!isEvidence(type)) return 0;
    const hash = this.repeats.hashOf(hashes[i]!, peers[i]!, type, timestamps[i]!);
    this.repeats.add(hash);
    return hash;
  }

  #noteAge({ peer, event_type, mass, severity, timestamp, repeats }: recordTypes.DecidedEvent): void {
    const { index } = this.senderOf(peer);
    const isTooOld = mass === 0 && severity > 0 && isEvidence(event_type) && repeats === undefined;
    if (isTooOld) this.tooOld.set(index, { events: (this.tooOld.get(index)?.events ?? 0) + 1, newest: timestamp });
    else if (mass !== 0 && this.tooOld.size > 0) this.tooOld.delete(index);
  }

  /** Lets about `count` events be sorted and added together, much faster. Until `settle`, tables must not be read. */
  sortEvents(count: number): void {
    this.settle();
    this.#sorted = new SortedEvents(this.eventIds, this.subjects, count, this.#addEvidence);
  }

  /** Adds all pending events to the tables; later events are added at once. */
  settle(): void {
    this.#settleSorted();
    this.#sorted = null;
  }

  #settleSorted(): void {
    if (this.#sorted === null) return;
    this.#sorted.settle();
    this.markAllVoid();
  }

  /** Prefetches the memory that lookups of these events will read. */
  prefetch(events: EventColumns): void {
    this.subjects.prefetch(events);
    if (events.count > 1) this.eventIds.prefetch(events);
  }

  /** Counts the next records, received at `at`, and returns the last of them. */
  #next(at: number, count = 1): number {
    this.lastAt = at;
    this.times.note(this.lastSeq + 1, at);
    this.lastSeq += count;
    return this.lastSeq;
  }

  #count(number: number, at: number): void {
    const sender = this.senderOf(number);
    this.hourlyCounts.note(sender.index, sender.eventCount++, at);
    this.eventCount++;
  }

  #setPair(
    subject: Uint8Array,
    stated: recordTypes.EventWithdrawn | recordTypes.LoweringRevoked | recordTypes.CarriedSums,
    seq: number,
  ): void {
    const { peer, lowering, raising, measure = 0, follows = 0, count } = stated;
    const entry = this.subjects.ensureEntry(subject, peer, stated.updated_at, stated.evidence_at);
    this.subjects.entries.set(entry, peer, { lowering, raising, measure, follows }, count, seq);
    if (this.disputes.counts.upheld > 0) this.#markVoid(subjectHex(subject));
  }

  #peerChanged(record: recordTypes.PeerChanged, seq: number): void {
    applyPeerChange(this.peers, this.peers.at(record.peer), record);
    if (record.type !== 'peer_status_changed') return;
    if (record.status === 'revoked') this.preTrusted = this.preTrusted.filter((peer) => peer !== record.peer);
    this.evidenceSeq = seq;
    for (const number of this.origins.numbersOf(record.peer)) this.peerWeights.refreshPeer(this, number);
  }

  #forgetSubject(subject: string): void {
    this.disputes.remove(subject);
    this.#oldBans?.erase(subject);
    this.recentEvidence.forgetSubject(this.subjects.find(subjectBytes(subject)), this.lastSeq);
    this.subjects.remove(subjectBytes(subject));
    this.erasureRequests.erase(subject);
    this.allowed.erase(subject);
    for (const [eventSeq, withdrawal] of this.withdrawals) {
      if (withdrawal.subject === subject) this.withdrawals.set(eventSeq, { ...withdrawal, subject: null });
    }
  }

  /** Returns the heads of a subject's chains, and the requests, disputes and allowances that name it. */
  #headsOf(subject: string): number[] {
    const heads = [
      ...this.erasureRequests.of(subject).seqs,
      ...this.disputes.seqsOf(subject),
      ...(this.allowed.of(subject)?.seqs ?? []),
    ];
    const row = this.subjects.find(subjectBytes(subject));
    if (row >= 0) for (const entry of this.subjects.entriesOf(row)) heads.push(this.subjects.entries.head(entry));
    return heads;
  }

  /** Notes the time of a request that a quota bounds. */
  #countFor(times: Map<number, number[]>, peer: number, at: number): void {
    if (peer === OPERATOR) return;
    // Bounded by number, not by age: if the clock jumped ahead, the quota would forget times that it needs once the
    // clock is right again.
    const recent = (times.get(peer) ?? []).slice(1 - limits.erasureTimesMax);
    recent.push(at);
    times.set(peer, recent);
  }

  /** Rescales claims if `scale` is the state itself, otherwise measures. */
  #rescale(scale: Pick<GroupState, 'epoch' | 'rescales'>, { epoch, factor }: recordTypes.Rescaled, seq: number): void {
    scale.epoch = epoch;
    scale.rescales.push({ seq, factor });
    const [claims, measures] = scale === this ? ([factor, 1] as const) : ([1, factor] as const);
    this.subjects.entries.scale(claims, measures);
    this.#oldBans?.scale(claims, measures);
  }
}

/** Returns the relations with the newest declaration about two peers in place of an earlier one. */
function related(relations: readonly PeerRelation[], { first, second, relation }: PeerRelation): PeerRelation[] {
  const others = relations.filter((other) => other.first !== first || other.second !== second);
  return [...others, { first, second, relation }].sort((p, q) => p.first - q.first || p.second - q.second);
}

/**
 * The state of a group: the fold of its log. `apply` is the only code that changes it, live and in replay; it never refuses, and
 * uses only + - x / and comparison, so that a replay is equal bit for bit on every platform.
 */
import { hash } from 'node:crypto';
import { limits } from '../limits.js';
import { auditStart } from './audit.js';
import { EventIds, ID_TAG_BYTES, type IdTag } from './event-ids.js';
import { Peers } from './peers.js';
import { subjectBytes } from './pseudonym.js';
import type {
  AuditPart,
  BatchesRewritten,
  EventAccepted,
  EventGone,
  EventWithdrawn,
  GroupFormed,
  LogRecord,
  SubjectErased,
  WeightsPublished,
} from './records.js';
import { sipKey } from './siphash.js';
import { Subjects } from './subjects.js';
import { NumberColumn, Times } from './times.js';
import { noWeights, PeerWeights, type Weights } from './weights.js';

/** Bytes still to be taken out of the log: of one withdrawn event, or of an erased subject. */
export interface Redaction {
  /** The record that asked for it. */
  readonly seq: number;
  readonly kind: 'withdrawal' | 'erasure';
  /** Chain heads to walk (erasure) or the event itself (withdrawal). */
  readonly heads: readonly number[];
  /** Hex; null for a withdrawal, whose subject stays. */
  readonly subject: string | null;
}

/** An erasure that waits for the operator: its record. */
export interface PendingErasure {
  readonly seq: number;
  readonly subject: string;
}

export class GroupState {
  readonly formed: GroupFormed;
  readonly subjects: Subjects;
  readonly eventIds = new EventIds();
  readonly peers = new Peers();
  readonly times = new Times();
  /** Sequence numbers of all audited records. */
  readonly auditSeqs = new NumberColumn();
  /** What reads use of peers; derived. */
  readonly peerWeights = new PeerWeights();
  readonly #idKey: string;

  lastSeq = 0;
  /** The newest record that peer weights depend on. */
  evidenceSeq = 0;
  /** ms since 1970 of the newest record. */
  lastAt = 0;
  halfLifeDays: number;
  epoch: number;
  /** Every change of scale so far: sums of records before `seq` were multiplied by `factor` there. */
  rescales: { seq: number; factor: number }[] = [];
  preTrusted: number[] = [];
  /** The configured value of pre-trusted peers that was applied last. */
  preTrustConfigured: string | null = null;
  weights: Weights = noWeights;
  auditHead = auditStart;
  redactions = new Map<number, Redaction>();
  pendingErasures: PendingErasure[] = [];
  /** Times of the erasures within the quota's window, by number of the asking peer (-1: without a key). */
  erasuresBy = new Map<number, number[]>();
  /** How often earlier batches were replaced: whoever read one before must look again. */
  rewrites = 0;
  eventCount = 0;

  /** `salt` is never kept: it only keys the digests of event ids. */
  constructor(formed: GroupFormed, salt: Uint8Array) {
    const secret = Buffer.from(formed.node_secret, 'hex');
    this.formed = formed;
    this.halfLifeDays = formed.half_life_days;
    this.epoch = formed.epoch;
    this.subjects = new Subjects(sipKey(secret));
    this.#idKey = hash('sha256', Buffer.concat([secret, salt]), 'hex');
  }

  /** The keyed tag under which an event id is remembered. */
  tagOf(eventId: string): IdTag {
    return hash('sha256', this.#idKey + eventId, 'binary').slice(0, ID_TAG_BYTES);
  }

  /** Takes in the next record. `at` is the time of its batch. */
  apply(record: LogRecord, at: number): void {
    const seq = this.#next(at);
    switch (record.type) {
      case 'event_accepted':
        this.#event(record, this.tagOf(record.event_id), seq, at);
        break;
      case 'event_gone':
        this.#gone(record, seq);
        break;
      case 'event_withdrawn':
        this.#withdrawn(record, seq);
        break;
      case 'subject_erased':
        this.#erased(record, seq, at);
        break;
      case 'erasure_requested':
        if (record.subject !== null) this.pendingErasures.push({ seq, subject: record.subject });
        this.#countErasure(record.peer, at);
        this.#audited(record.audit, seq);
        break;
      case 'batches_rewritten':
        this.#rewritten(record);
        break;
      case 'weights_published':
        this.#published(record);
        break;
      case 'epoch_moved':
        this.#rescale(seq, record.epoch, record.factor);
        break;
      case 'half_life_changed':
        this.halfLifeDays = record.half_life_days;
        this.evidenceSeq = seq;
        this.#rescale(seq, record.epoch, record.factor);
        this.#audited(record.audit, seq);
        break;
      case 'pre_trust_set':
        this.preTrusted = [...record.peers];
        this.evidenceSeq = seq;
        this.peerWeights.refresh(this);
        if (record.configured !== null) this.preTrustConfigured = record.configured;
        this.#audited(record.audit, seq);
        break;
      case 'peer_registered':
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
          eventCount: 0,
        });
        this.peerWeights.refreshPeer(this, record.peer);
        this.#audited(record.audit, seq);
        break;
      case 'peer_status_changed':
        this.peers.at(record.peer).status = record.status;
        if (record.status === 'revoked') this.preTrusted = this.preTrusted.filter((peer) => peer !== record.peer);
        this.evidenceSeq = seq;
        this.peerWeights.refresh(this);
        this.#audited(record.audit, seq);
        break;
      case 'peer_key_rotated':
        this.peers.rotate(this.peers.at(record.peer), record.key_digest, record.old_key_until);
        this.#audited(record.audit, seq);
        break;
      case 'group_formed':
        this.#audited(record.audit, seq);
        break;
    }
  }

  /** Applies an event that was just decided, whose tag is known already. */
  applyDecided(event: EventAccepted, tag: IdTag, at: number): void {
    this.#event(event, tag, this.#next(at), at);
  }

  #next(at: number): number {
    this.lastAt = at;
    this.times.note(++this.lastSeq, at);
    return this.lastSeq;
  }

  #event(event: EventAccepted, tag: IdTag, seq: number, at: number): void {
    this.evidenceSeq = seq;
    this.eventIds.insert(tag, seq, event.peer);
    const entry = this.subjects.entryFor(event.subject, event.peer, at);
    this.subjects.entries.add(entry, event.mass, seq);
    this.peers.at(event.peer).eventCount++;
    this.eventCount++;
  }

  /** An event that was withdrawn or erased later: its id stays taken, nothing else of it counts. */
  #gone(gone: EventGone, seq: number): void {
    this.evidenceSeq = seq;
    this.eventIds.insert(gone.id_tag, seq, gone.peer);
    this.peers.at(gone.peer).eventCount++;
    this.eventCount++;
  }

  #withdrawn(record: EventWithdrawn, seq: number): void {
    const { subject, event_seq } = record;
    this.evidenceSeq = seq;
    this.redactions.set(seq, { seq, kind: 'withdrawal', heads: [event_seq], subject: null });
    if (subject === null) return;
    const entry = this.subjects.entryFor(subjectBytes(subject), record.peer, record.updated_at);
    this.subjects.entries.set(entry, record.peer, record.lowering, record.raising, record.count, seq);
  }

  #erased(record: SubjectErased, seq: number, at: number): void {
    const { subject } = record;
    this.evidenceSeq = seq;
    if (subject !== null) {
      const bytes = subjectBytes(subject);
      this.redactions.set(seq, { seq, kind: 'erasure', heads: this.#headsOf(bytes), subject });
      this.subjects.remove(bytes);
      this.pendingErasures = this.pendingErasures.filter((pending) => pending.subject !== subject);
    }
    this.#countErasure(record.peer, at);
    this.#audited(record.audit, seq);
  }

  /** Where the chains of a subject begin, and what else of the log names it. */
  #headsOf(subject: Uint8Array): number[] {
    const heads = this.pendingErasures.filter((p) => Buffer.from(p.subject, 'hex').equals(subject)).map((p) => p.seq);
    const row = this.subjects.find(subject);
    if (row < 0) return heads;
    const first = this.subjects.firstEntry(row);
    for (let i = 0; i < this.subjects.peerCount(row); i++) heads.push(this.subjects.entries.head(first + i));
    return heads;
  }

  #countErasure(peer: number, at: number): void {
    if (peer < -1) return;
    const recent = (this.erasuresBy.get(peer) ?? []).filter((time) => time > at - limits.erasureWindowMs);
    recent.push(at);
    this.erasuresBy.set(peer, recent);
  }

  #rewritten(record: BatchesRewritten): void {
    this.rewrites++;
    if (record.done !== null) this.redactions.delete(record.done);
  }

  #published(record: WeightsPublished): void {
    this.weights = {
      basedOnSeq: record.based_on_seq,
      computedAt: record.computed_at,
      pi: record.pi,
      tau: record.tau,
      a: record.a,
      b: record.b,
    };
    this.peerWeights.refresh(this);
  }

  #rescale(seq: number, epoch: number, factor: number): void {
    this.epoch = epoch;
    this.rescales.push({ seq, factor });
    this.subjects.entries.scale(factor);
  }

  #audited(audit: AuditPart, seq: number): void {
    this.auditHead = audit.hash;
    this.auditSeqs.push(seq);
  }
}

/**
 * The expected answer to every command, computed from the list of facts alone. The oracle keeps no sums and shares
 * nothing with the service but the types on the wire: tables, rules and formulas are stated here a second time, from
 * the contract and the scoring page.
 */
import type { EventSubmission } from '../../src/core/commands.js';
import type { PeerStatus } from '../../src/core/vocabulary.js';
import type { Command } from '../../src/group/actor-commands.js';
import { type EvidenceKind, kindOf, kinds, types } from './event-kinds.js';
import {
  type AllowFact,
  type AuditedFact,
  type CarrierFact,
  type DecisionFact,
  type DisputeFact,
  type ErasureFact,
  type EventFact,
  Facts,
  isEvidence,
  type OriginFact,
  type PeerFact,
  type RelationFact,
  type ScaleFact,
  type SubjectFact,
} from './facts.js';
import { numbers as k } from './fit-numbers.js';
import { type Columns, columns } from './fit-votes.js';

const dayMs = 86_400_000;
/** Bound of one peer; a group has ten times as many. */
const disputesPerDay = 50;
const minuteMs = 60_000;
/** How far behind the newest evidence a clock may be when the half-life changes: an hour. */
const halfLifeClockBehindMs = 3_600_000;
export const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');

/** Converts a subject of eight little-endian words to hex. */
function keyHex({ words, at }: NonNullable<EventSubmission['subject']>): string {
  const bytes = Buffer.alloc(32);
  for (let i = 0; i < 8; i++) bytes.writeUInt32LE(words[at + i]!, 4 * i);
  return hex(bytes);
}

/** The settings with which the group was created and configured. */
export interface Rules {
  readonly peersMax: number;
  readonly erasureQuotaPerDay: number;
  readonly erasureMode: 'peer' | 'own' | 'operator';
  readonly eventIdsMax: number;
  readonly subjectsMax: number;
  readonly epochHalfLivesMax: number;
  /** Events that a summary covers, the newest. */
  readonly summaryEventsMax: number;
  /** Rejections after which a rejected dispute is no longer held. */
  readonly disputesRejectedMax: number;
}

/** An answer as the caller is to see it. */
export type Expected =
  | { readonly ok: true; readonly value?: unknown }
  | { readonly ok: false; readonly code: string; readonly details?: unknown };

/** The two half-lives of a group, in days; 0: that evidence does not decay. */
export type HalfLives = Readonly<Record<EvidenceKind, number>>;

/** Answers about an event that the list of facts may leave open; the log then gives them. */
export interface Seen {
  readonly repeats: (eventId: string) => boolean;
  /** Whether an event that lowers, and is not in the list yet, follows another peer's. */
  readonly follows: (event: EventFact) => boolean;
  /** Peers with lowering evidence about a subject, sorted. */
  readonly reporters: (subject: string, now: number) => readonly number[];
}

export type PeerWeights = Columns<number> & { readonly witness: number };

export class Oracle {
  readonly facts = new Facts();
  readonly rules: Rules;
  /** Events received before this moment may have left the log by their age; they count as before. */
  #mayLeaveBefore = Number.NEGATIVE_INFINITY;
  /** Events that a clock set back had still to come when some left: as old as whatever came behind them. */
  readonly #ahead = new Set<EventFact>();

  constructor(
    rules: Rules,
    formed: { readonly halfLives: HalfLives; readonly at: number; readonly by: string; readonly groupId: string },
  ) {
    this.rules = rules;
    const { halfLives, at, by, groupId } = formed;
    for (const of of kinds) this.facts.add({ kind: 'scale', of, halfLifeDays: halfLives[of], epoch: at });
    this.#audit('group_formed', by, groupId, at);
  }

  // State.

  scalesOf(kind: EvidenceKind): readonly ScaleFact[] {
    return this.facts.of('scale').filter(({ of }) => of === kind);
  }

  scaleOf(kind: EvidenceKind): ScaleFact {
    return this.scalesOf(kind).at(-1)!;
  }

  get halfLives(): HalfLives {
    return { claims: this.scaleOf('claims').halfLifeDays, measures: this.scaleOf('measures').halfLifeDays };
  }

  statusOf(peer: number): PeerStatus {
    return this.facts.of('status').findLast((fact) => fact.peer === peer)?.status ?? 'active';
  }

  peerOf(peerId: string): number {
    return this.facts.of('peer').find((peer) => peer.peerId === peerId)?.number ?? -1;
  }

  peer(number: number): PeerFact {
    return this.facts.of('peer').find((peer) => peer.number === number)!;
  }

  /** The newest of what happened to an origin; undefined for one that never was declared. */
  origin(name: string): OriginFact | undefined {
    return this.facts.of('origin').findLast((origin) => origin.name === name);
  }

  carrier(number: number): CarrierFact | undefined {
    return this.facts.of('carrier').find((carrier) => carrier.number === number);
  }

  /** Disputes about a subject since it was erased last, each with its newest decision. */
  disputesOf(subject: string): { readonly dispute: DisputeFact; readonly decision: DecisionFact | undefined }[] {
    const life = this.lifeOf(subject);
    return life.flatMap((dispute) => {
      if (dispute.kind !== 'dispute') return [];
      const decision = life.findLast((fact) => fact.kind === 'decision' && fact.dispute === dispute) as
        | DecisionFact
        | undefined;
      return this.#isDropped(decision) ? [] : [{ dispute, decision }];
    });
  }

  /** Whether as many disputes were rejected since as are held, also of players who were erased. */
  #isDropped(decision: DecisionFact | undefined): boolean {
    if (decision?.status !== 'rejected') return false;
    const later = this.facts.all.slice(this.facts.all.lastIndexOf(decision) + 1);
    const rejections = later.filter((fact) => fact.kind === 'decision' && fact.status === 'rejected');
    return rejections.length >= this.rules.disputesRejectedMax;
  }

  /** Peers whose events about a subject count for nothing. */
  voidedOf(subject: string): Set<number> {
    const upheld = this.disputesOf(subject).filter(({ decision }) => decision?.status === 'upheld');
    return new Set(upheld.flatMap(({ decision }) => decision!.voids));
  }

  /** True if a peer sees its events about a subject as disputed. */
  isDisputed(subject: string, peer: number): boolean {
    return this.disputesOf(subject).some(({ dispute: { against }, decision }) => {
      const status = decision?.status ?? 'open';
      if (status === 'open') return against === null || against === peer;
      return status === 'upheld' && decision!.voids.includes(peer);
    });
  }

  /** The set in force, without those that were revoked since. */
  get preTrusted(): readonly number[] {
    return (this.facts.of('pre_trust').at(-1)?.peers ?? []).filter((peer) => this.statusOf(peer) !== 'revoked');
  }

  /** Facts about a subject since it was erased last; empty: nothing is known of it. */
  lifeOf(subject: string): SubjectFact[] {
    const list = this.facts.bySubject.get(subject) ?? [];
    const erased = list.findLastIndex((fact) => fact.kind === 'erasure' && !fact.pending);
    return list.slice(erased + 1);
  }

  eventsOf(subject: string): EventFact[] {
    return this.lifeOf(subject).filter((fact) => fact.kind === 'event');
  }

  /** Events of the subject that count: neither withdrawn nor erased. */
  liveOf(subject: string): EventFact[] {
    return this.eventsOf(subject).filter(({ id }) => !this.facts.withdrawals.has(id));
  }

  /**
   * True if an event was removed with an erasure of its player; an event that its peer had withdrawn before was not.
   */
  isErased(event: EventFact): boolean {
    return !this.eventsOf(event.subject).includes(event) && !this.facts.withdrawals.has(event.id);
  }

  isLive(event: EventFact): boolean {
    return this.liveOf(event.subject).includes(event);
  }

  /** From now on, events received before this time may leave the log. */
  mayLeave(before: number, now: number): void {
    this.#mayLeaveBefore = Math.max(this.#mayLeaveBefore, before);
    for (const event of this.facts.events.values()) if (event.receivedAt > now) this.#ahead.add(event);
  }

  /** True if an event that counts must still be in the log: only then can it be listed and withdrawn. */
  isStored(event: EventFact): boolean {
    return event.receivedAt >= this.#mayLeaveBefore && !this.#ahead.has(event);
  }

  knows(subject: string): boolean {
    return this.lifeOf(subject).some((fact) => fact.kind === 'event');
  }

  /** How often a peer asked for the erasure of a player whom others had reported. */
  sharedErasuresOf(actor: string): number {
    return this.facts.of('audited').filter((fact) => fact.action === 'shared_erasure_asked' && fact.actor === actor)
      .length;
  }

  /** True if an event or an entry of the allow list names a subject since it was erased. */
  names(subject: string): boolean {
    return this.lifeOf(subject).some((fact) => fact.kind === 'event' || fact.kind === 'allow');
  }

  /** Subjects that are known now. */
  get subjects(): string[] {
    return [...this.facts.bySubject.keys()].filter((subject) => this.knows(subject));
  }

  get #isFull(): boolean {
    const { subjectsMax } = this.rules;
    return this.facts.bySubject.size >= subjectsMax && this.subjects.length >= subjectsMax;
  }

  /** Subjects whose erasure waits for the operator. */
  get pending(): string[] {
    return this.subjects.filter((subject) => this.#waits(subject));
  }

  #waits(subject: string): boolean {
    const life = this.lifeOf(subject);
    const refused = life.findLastIndex((fact) => fact.kind === 'refusal');
    return life.slice(refused + 1).some((fact) => fact.kind === 'erasure');
  }

  #refuse(subject: string, reason: string, by: string, now: number): Expected {
    if (!this.#waits(subject)) return no('subject_not_found');
    this.facts.add({ kind: 'refusal', subject, reason });
    this.#audit('erasure_refused', by, null, now);
    return { ok: true };
  }

  /** The number of the peer that a key belongs to: the newest key, and the one before it while its time runs. */
  peerOfKey(keyDigest: string, now: number): number {
    for (const { number: peer, keyDigest: first } of this.facts.of('peer')) {
      const rotations = this.facts.of('key').filter((key) => key.peer === peer);
      const keys = [first, ...rotations.map((key) => key.keyDigest)];
      if (keys.at(-1) === keyDigest) return peer;
      const leftMs = (rotations.at(-1)?.oldUntil ?? 0) - now;
      if (keys.at(-2) === keyDigest && leftMs > 0 && leftMs <= dayMs) return peer;
    }
    return -1;
  }

  // Commands.

  /** Decides a command at a moment, and notes what it leads to. */
  decide(command: Command, now: number, seen: Seen): Expected | Expected[] {
    switch (command.type) {
      case 'submit':
        return command.events.map((event) => this.#submit(command.caller, event, now, seen));
      case 'register':
        return this.#register(command, now);
      case 'peer_status':
        return this.#status(command.peerId, command.status, command.by, now);
      case 'rotate_key':
        return this.#rotate(command, now);
      case 'pre_trust':
        return this.#preTrust(command, now);
      case 'scoring':
        // Groups are formed with this release's.
        return { ok: true };
      case 'setting':
        return this.#setting(command, now);
      case 'origin':
        return this.#changeOrigin(command, now);
      case 'open_dispute':
        return this.#dispute(command, now, seen);
      case 'decide_dispute':
        return this.#decideDispute(command, now, seen);
      case 'purge_peers':
      case 'export_subject':
      case 'public_key':
      case 'note':
        throw new Error(`the simulation asks for no ${command.type}`);
      case 'allow':
        return this.#allow(command, now);
      case 'disallow':
        return this.#disallow(hex(command.subject), command.by, now);
      case 'relate_peers':
        return this.#relate(command, now);
      case 'withdraw':
        return this.#withdraw(command.caller, command.event.event_id, now);
      case 'erase':
        return this.#erase(command.caller, hex(command.subject), command.by, now);
      case 'refuse_erasure':
        return this.#refuse(hex(command.subject), command.reason, command.by, now);
      case 'publish_weights':
        return this.#publish(command.weights, now);
      case 'locate':
        return { ok: true, value: this.facts.events.has(command.eventId) };
      case 'chains':
        return { ok: true, value: this.knows(hex(command.subject)) };
    }
  }

  #submit(caller: number | null, event: EventSubmission, now: number, seen: Seen): Expected {
    if (Number(event.schemaVersion.split('.')[0]) > 1) return no('unsupported_schema_version');
    const peer = this.peerOf(event.peerId);
    if (caller !== null && caller !== peer) return no('peer_id_mismatch');
    if (peer < 0) return no('unknown_peer');
    if (this.statusOf(peer) !== 'active') return no('peer_not_active');
    if (!this.peer(peer).gameIds.includes(event.gameId)) return no('game_id_not_registered');
    if (event.subject === null) return no('player_id_not_canonical');
    if (event.timestamp > now + dayMs) return no('timestamp_in_future');
    const known = this.facts.events.get(event.eventId);
    if (known !== undefined) {
      const event_id = event.eventId;
      const originally_received_at = new Date(known.receivedAt).toISOString();
      const details = known.peer === peer ? { event_id, originally_received_at } : { event_id, owner: 'other' };
      return { ...no('duplicate_event'), details };
    }
    const origin = event.origin === undefined ? null : this.origin(event.origin);
    if (origin === undefined || origin?.isDeclared === false) return no('unknown_origin');
    const subject = keyHex(event.subject);
    if (this.facts.events.size >= this.rules.eventIdsMax) return no('overloaded');
    if (!this.knows(subject) && this.#isFull) return no('overloaded');
    const number = origin === null ? peer : this.#carry(peer, origin.number);
    const kind = kindOf(event.eventType);
    const at = Math.min(event.timestamp, now);
    this.#moveEpoch(kind, at);
    const [sign, base] = types[event.eventType];
    const isTooOld = now - at > k.countedHalfLives * this.scaleOf(kind).halfLifeDays * dayMs;
    const repeats = this.#repeats(number, subject, event);
    const fact: EventFact = {
      kind: 'event',
      id: event.eventId,
      peer,
      number,
      origin: event.origin ?? null,
      reference: event.reference ?? null,
      subject,
      type: event.eventType,
      gameId: event.gameId,
      schemaVersion: event.schemaVersion,
      severity: event.severity,
      timestamp: event.timestamp,
      receivedAt: now,
      repeats,
      mass: isTooOld && this.scaleOf(kind).halfLifeDays > 0 ? 0 : base * event.severity,
      follows: null,
      scales: this.scalesOf(kind).length,
    };
    const isRepeat = repeats === 'yes' || (repeats === 'unknown' && seen.repeats(fact.id));
    const decides = sign < 0 && fact.mass > 0 && !isRepeat;
    this.facts.add(decides ? { ...fact, follows: seen.follows(fact) } : fact);
    return { ok: true, value: isEvidence(fact) ? { receivedAt: now } : { receivedAt: now, counts: false } };
  }

  #carry(peer: number, origin: number): number {
    const known = this.facts.of('carrier').find((carrier) => carrier.peer === peer && carrier.origin === origin);
    if (known !== undefined) return known.number;
    const number = this.facts.numbers;
    this.facts.add({ kind: 'carrier', number, peer, origin });
    return number;
  }

  /**
   * Whether an event has the same content as another of its peer about the player; unknown if the other may have
   * expired.
   */
  #repeats(number: number, subject: string, { eventType, timestamp }: EventSubmission): EventFact['repeats'] {
    if (eventType === 'ban_lifted') return 'no';
    const same = this.liveOf(subject).filter(
      (one) => one.number === number && one.type === eventType && one.timestamp === timestamp,
    );
    if (same.length === 0) return 'no';
    return same.some((one) => this.isStored(one)) ? 'yes' : 'unknown';
  }

  /**
   * Events of the subject whose evidence counts, by number; null for a peer of whom it is unknown, as something may
   * have left the log.
   */
  countedOf(subject: string): Map<number, Set<EventFact> | null> {
    const counted = new Map<number, Set<EventFact> | null>();
    const gone = new Set<EventFact>();
    const came: EventFact[] = [];
    for (const fact of this.lifeOf(subject)) {
      if (fact.kind !== 'event' && fact.kind !== 'withdrawal') continue;
      const event = fact.kind === 'event' ? fact : fact.event;
      if (!counted.has(event.number)) counted.set(event.number, new Set());
      const counts = counted.get(event.number);
      if (fact.kind === 'event') {
        came.push(event);
        if (event.repeats === 'unknown') counted.set(event.number, null);
        else if (event.repeats === 'no') counts?.add(event);
        continue;
      }
      gone.add(event);
      if (!counts?.delete(event)) continue;
      // If the first is withdrawn, the oldest with the same content counts.
      const next = came.find(
        (one) =>
          !gone.has(one) &&
          one.repeats !== 'no' &&
          one.number === event.number &&
          one.type === event.type &&
          one.timestamp === event.timestamp,
      );
      if (next !== undefined) counts.add(next);
    }
    return counted;
  }

  /** Evidence so many half-lives ahead of the epoch moves it, by whole half-lives. */
  #moveEpoch(of: EvidenceKind, at: number): void {
    const { halfLifeDays, epoch } = this.scaleOf(of);
    if (halfLifeDays === 0) return;
    const lives = Math.floor((at - epoch) / (halfLifeDays * dayMs));
    if (lives <= this.rules.epochHalfLivesMax) return;
    this.facts.add({ kind: 'scale', of, halfLifeDays, epoch: epoch + lives * halfLifeDays * dayMs });
  }

  #register(command: Extract<Command, { type: 'register' }>, now: number): Expected {
    const sent = new Set([...this.facts.events.values()].map(({ peer }) => peer));
    const isTaken = ({ number }: PeerFact) => this.statusOf(number) !== 'revoked' || sent.has(number);
    const taken = this.facts.of('peer').filter(isTaken).length;
    if (taken >= this.rules.peersMax + (command.byOperator ? 16 : 0)) return no('overloaded');
    const { peerId, peerName, gameIds, keyDigest, by } = command;
    const number = this.facts.numbers;
    this.facts.add({ kind: 'peer', number, peerId, peerName, gameIds, keyDigest, at: now });
    this.#audit('peer_registered', by, peerId, now);
    return { ok: true, value: number };
  }

  #status(peerId: string, status: PeerStatus, by: string, now: number): Expected {
    const peer = this.peerOf(peerId);
    if (peer < 0) return no('unknown_peer');
    if (this.statusOf(peer) === status) return { ok: true, value: peer };
    if (this.statusOf(peer) === 'revoked') return no('peer_not_active');
    this.facts.add({ kind: 'status', peer, status });
    this.#audit(
      { active: 'peer_reinstated', suspended: 'peer_suspended', revoked: 'peer_revoked' }[status],
      by,
      peerId,
      now,
    );
    return { ok: true, value: peer };
  }

  #rotate(command: Extract<Command, { type: 'rotate_key' }>, now: number): Expected {
    const peer = this.peerOf(command.peerId);
    if (peer < 0) return no('unknown_peer');
    if (this.statusOf(peer) === 'revoked') return no('peer_not_active');
    const overlapMs = Math.min(command.overlapMs, dayMs);
    this.facts.add({ kind: 'key', peer, keyDigest: command.keyDigest, oldUntil: overlapMs > 0 ? now + overlapMs : 0 });
    this.#audit('peer_key_rotated', command.by, command.peerId, now);
    return { ok: true, value: peer };
  }

  #preTrust({ change, peerId, by }: Extract<Command, { type: 'pre_trust' }>, now: number): Expected {
    const peer = this.peerOf(peerId);
    if (peer < 0) return no('unknown_peer');
    const inForce = this.preTrusted;
    if (inForce.includes(peer) === (change === 'add')) return { ok: true };
    if (change === 'add' && this.statusOf(peer) === 'revoked') return no('peer_not_active');
    const peers = change === 'add' ? [...inForce, peer] : inForce.filter((other) => other !== peer);
    this.facts.add({ kind: 'pre_trust', peers, configured: null });
    this.#audit(change === 'add' ? 'pre_trust_added' : 'pre_trust_removed', by, peerId, now);
    return { ok: true };
  }

  #relate({ peerId, otherId, relation, by }: Extract<Command, { type: 'relate_peers' }>, now: number): Expected {
    const [peer, other] = [this.peerOf(peerId), this.peerOf(otherId)];
    if (peer < 0 || other < 0) return no('unknown_peer');
    if (peer === other) return no('peer_id_mismatch');
    const [first, second] = [Math.min(peer, other), Math.max(peer, other)];
    if (this.relations.some((one) => one.first === first && one.second === second && one.relation === relation)) {
      return { ok: true };
    }
    this.facts.add({ kind: 'relation', first, second, relation });
    const ids = [first, second].map((one) => this.peer(one).peerId);
    this.#audit(`peers_${relation}`, by, ids.join(' '), now);
    return { ok: true };
  }

  #changeOrigin({ change, name, by }: Extract<Command, { type: 'origin' }>, now: number): Expected {
    const known = this.origin(name);
    const isDeclared = change === 'add';
    if (known === undefined && !isDeclared) return no('unknown_origin');
    if (known?.isDeclared === isDeclared) return { ok: true };
    this.facts.add({ kind: 'origin', number: known?.number ?? this.facts.numbers, name, isDeclared });
    this.#audit(isDeclared ? 'origin_added' : 'origin_removed', by, name, now);
    return { ok: true };
  }

  #dispute(command: Extract<Command, { type: 'open_dispute' }>, now: number, seen: Seen): Expected {
    const { disputeId: id, caller, text, by } = command;
    const subject = hex(command.subject);
    if (caller >= 0 && this.statusOf(caller) !== 'active') return no('peer_not_active');
    if (!this.knows(subject)) return no('subject_not_found');
    const against = command.against === undefined ? null : this.peerOf(command.against);
    if (against !== null && against < 0) return no('unknown_peer');
    const open = this.disputesOf(subject).find(
      ({ dispute, decision }) => dispute.caller === caller && (decision?.status ?? 'open') === 'open',
    );
    if (open !== undefined) return { ...no('duplicate_dispute'), details: { dispute_id: open.dispute.id } };
    const recent = this.facts.of('dispute').filter(({ at }) => at > now - dayMs && at <= now);
    const { length: used } = recent.filter((dispute) => dispute.caller === caller);
    const counted = this.#countedFor(caller, recent, now);
    // A peer may always ask for an equal share of what the group may ask.
    const askers = new Set([...counted.map((dispute) => dispute.caller), caller]).size;
    const isUsed = counted.length >= 10 * disputesPerDay && used >= Math.floor((10 * disputesPerDay) / askers);
    if (used >= disputesPerDay || isUsed) return no('dispute_quota_exceeded');
    const reporters = seen.reporters(subject, now);
    if (against === null ? reporters.length === 0 : !reporters.includes(against)) return no('nothing_to_dispute');
    this.facts.add({ kind: 'dispute', id, caller, subject, text, against, at: now });
    this.#audit('dispute_opened', by, id, now);
    return { ok: true };
  }

  /** What counts for the group's quota of a caller: for an old peer nothing of what new ones asked. */
  #countedFor<T extends { readonly caller: number; readonly at: number }>(
    caller: number,
    asked: readonly T[],
    now: number,
  ): readonly T[] {
    const isNew = (peer: number, at: number) => peer < 0 || at - this.peer(peer).at < dayMs;
    return isNew(caller, now) ? asked : asked.filter((one) => !isNew(one.caller, one.at));
  }

  #decideDispute(command: Extract<Command, { type: 'decide_dispute' }>, now: number, seen: Seen): Expected {
    const { decision, disputeId, peerIds, by } = command;
    const dispute = this.facts.of('dispute').find(({ id }) => id === disputeId);
    const held = dispute && this.disputesOf(dispute.subject).find((one) => one.dispute === dispute);
    if (dispute === undefined || held === undefined) return no('dispute_not_found');
    const isOpen = (held.decision?.status ?? 'open') === 'open';
    if (isOpen === (decision === 'undo')) return no('dispute_decided');
    const reporters = seen.reporters(dispute.subject, now);
    let voids: number[] = [];
    if (decision === 'uphold' && peerIds.length === 0) {
      const only = dispute.against ?? (reporters.length === 1 ? reporters[0]! : null);
      if (only === null || !reporters.includes(only)) return no('reporter_required');
      voids = [only];
    } else if (decision === 'uphold') {
      voids = peerIds.map((peerId) => this.peerOf(peerId));
      if (voids.some((peer) => !reporters.includes(peer))) return no('unknown_peer');
    }
    const status = ({ uphold: 'upheld', reject: 'rejected', undo: 'open' } as const)[decision];
    const before = [...this.voidedOf(dispute.subject)].sort().join();
    const fact = { kind: 'decision', dispute, status, voids, at: now } as const;
    this.facts.add({ ...fact, isChange: false });
    const isChange = [...this.voidedOf(dispute.subject)].sort().join() !== before;
    this.facts.truncate(this.facts.all.length - 1);
    this.facts.add({ ...fact, isChange });
    this.#audit(
      { uphold: 'dispute_upheld', reject: 'dispute_rejected', undo: 'dispute_undone' }[decision],
      by,
      dispute.id,
      now,
    );
    return { ok: true };
  }

  /** The newest declaration about each pair of peers. */
  get relations(): readonly RelationFact[] {
    const newest = new Map(this.facts.of('relation').map((fact) => [`${fact.first} ${fact.second}`, fact]));
    return [...newest.values()].sort((p, q) => p.first - q.first || p.second - q.second);
  }

  #setting({ name, value }: Extract<Command, { type: 'setting' }>, now: number): Expected {
    switch (name) {
      case 'PRE_TRUSTED_PEERS':
        return this.#configured(String(value).split(','), now);
      case 'HALF_LIFE_DAYS':
        return this.#halfLife('claims', Number(value), now);
      case 'BAN_HALF_LIFE_DAYS':
        return this.#halfLife('measures', Number(value), now);
      default:
        throw new Error('the simulation changes no other setting');
    }
  }

  #configured(peerIds: readonly string[], now: number): Expected {
    const peers = peerIds.map((peerId) => this.peerOf(peerId));
    if (peers.some((peer) => peer < 0)) return no('unknown_peer');
    if (peers.some((peer) => this.statusOf(peer) === 'revoked')) return no('peer_not_active');
    const configured = peerIds.join(',');
    const last = this.facts.of('pre_trust').findLast((fact) => fact.configured !== null)?.configured ?? null;
    if (configured === last) return { ok: true };
    this.facts.add({ kind: 'pre_trust', peers, configured });
    this.#audit('pre_trust_set', 'configuration', configured, now);
    return { ok: true };
  }

  #halfLife(of: 'claims' | 'measures', days: number, now: number): Expected {
    const { epoch, halfLifeDays } = this.scaleOf(of);
    if (days === halfLifeDays) return { ok: true };
    // For an epoch in the future, only the newest evidence shows whether the clock was ahead or is behind.
    const evidence = this.subjects.flatMap((subject) => this.eventsOf(subject));
    const newest = evidence.reduce((at, event) => Math.max(at, Math.min(event.timestamp, event.receivedAt)), now);
    if (newest - now > halfLifeClockBehindMs) return no('dependency_unavailable');
    this.facts.add({ kind: 'scale', of, halfLifeDays: days, epoch: now >= epoch ? now : Math.min(newest, epoch) });
    this.#audit(of === 'claims' ? 'half_life_changed' : 'ban_half_life_changed', 'configuration', `${days} days`, now);
    return { ok: true };
  }

  /** The entry of the allow list that was made last, since the subject was erased. */
  #entryOf(subject: string): AllowFact | undefined {
    const entry = this.lifeOf(subject).findLast((fact) => fact.kind === 'allow');
    return entry === undefined || entry.until === null ? undefined : entry;
  }

  /** True if reads of a subject are neutral: reads of a minute are as of its end. */
  isAllowed(subject: string, now: number): boolean {
    const until = this.#entryOf(subject)?.until ?? Number.NEGATIVE_INFINITY;
    return Math.ceil(now / minuteMs) * minuteMs <= until;
  }

  #allow({ subject, id, until, by }: Extract<Command, { type: 'allow' }>, now: number): Expected {
    const end = Math.ceil(until / minuteMs) * minuteMs;
    if (end <= now || end - now > 3_650 * dayMs) return no('invalid_parameter');
    this.facts.add({ kind: 'allow', subject: hex(subject), until: end, id });
    this.#audit('player_allowed', by, id, now);
    return { ok: true };
  }

  #disallow(subject: string, by: string, now: number): Expected {
    const entry = this.#entryOf(subject);
    if (entry === undefined) return no('subject_not_found');
    this.facts.add({ kind: 'allow', subject, until: null, id: entry.id });
    this.#audit('player_allowance_ended', by, entry.id, now);
    return { ok: true };
  }

  #withdraw(caller: number | null, eventId: string, now: number): Expected {
    const event = this.facts.events.get(eventId);
    if (event === undefined || !this.isLive(event)) return no('event_not_found');
    if (caller !== null && caller !== event.peer) return no('event_not_found');
    this.facts.add({ kind: 'withdrawal', event, at: now });
    return { ok: true, value: { withdrawnAt: now } };
  }

  #erase(caller: number, subject: string, by: string, now: number): Expected {
    const byOperator = caller === -2;
    // An entry of the allow list needs no events, and goes as well.
    const isNamed = byOperator && this.lifeOf(subject).some((fact) => fact.kind === 'allow');
    if (!this.knows(subject) && !isNamed) return no('subject_not_found');
    const recent = this.facts
      .of('erasure')
      .filter((fact) => fact.caller !== -2 && fact.at > now - dayMs && fact.at <= now);
    const used = recent.filter((fact) => fact.caller === caller);
    const { erasureQuotaPerDay: quota, erasureMode } = this.rules;
    if (!byOperator && used.length >= quota) {
      return { ...no('erasure_quota_exceeded'), details: { quota: 'peer', per_day: quota } };
    }
    if (!byOperator && this.#countedFor(caller, recent, now).length >= 10 * quota) {
      return { ...no('erasure_quota_exceeded'), details: { quota: 'group', per_day: 10 * quota } };
    }
    const isOwn =
      caller >= 0 && this.liveOf(subject).every(({ peer }) => peer === caller) && now - this.peer(caller).at >= dayMs;
    const pending = !byOperator && (erasureMode === 'operator' || (erasureMode === 'own' && !isOwn));
    const events = pending ? 0 : this.liveOf(subject).length;
    const isShared = caller >= 0 && this.liveOf(subject).some(({ peer }) => peer !== caller);
    if (isShared) this.#audit('shared_erasure_asked', by, `${this.sharedErasuresOf(by) + 1} so far`, now);
    this.facts.add({ kind: 'erasure', subject, caller, pending, at: now } satisfies ErasureFact);
    // The target is a commitment that only whoever holds the receipt can tell.
    this.#audit(pending ? 'erasure_requested' : 'subject_erased', by, null, now);
    return { ok: true, value: { events, pending, at: now } };
  }

  /**
   * Published where a value moved by more than a thousandth, or where those in force are an hour old with news behind
   * them.
   */
  #publish(computed: Extract<Command, { type: 'publish_weights' }>['weights'], now: number): Expected {
    const last = this.facts.of('weights').at(-1);
    const isOld = now - (last?.computedAt ?? 0) >= 3_600_000 && computed.based_on_seq > (last?.basedOnSeq ?? 0);
    const flat = { ...computed, ...computed.measures };
    const moved = Array.from(flat.witness).some((witness, peer) => {
      const inForce = this.weightsOf(peer);
      const isFar = columns.some((name) => Math.abs(inForce[name] - flat[name][peer]!) > 0.001);
      return isFar || inForce.witness !== witness;
    });
    const isNews = isOld || moved || last === undefined || Math.abs(computed.pi - last.pi) > 0.001;
    if (isNews) {
      const { based_on_seq: basedOnSeq, computed_at: computedAt, pi, witness } = computed;
      const values = Object.fromEntries(columns.map((name) => [name, flat[name].slice()])) as Columns<Float64Array>;
      this.facts.add({ kind: 'weights', basedOnSeq, computedAt, pi, ...values, witness: witness.slice() });
    }
    return { ok: true, value: isNews };
  }

  /** The weights that a reader must see of a peer: the last published ones, or those of a newcomer. */
  weightsOf(peer: number): PeerWeights {
    const last = this.facts.of('weights').at(-1);
    if (last !== undefined && peer < last.tau.length) {
      const known = columns.map((name) => [name, last[name][peer]!]);
      return { ...(Object.fromEntries(known) as Columns<number>), witness: last.witness[peer]! };
    }
    const witness = this.carrier(peer)?.origin ?? peer;
    const tau = this.preTrusted.includes(peer) ? 1 : 0;
    return { tau, a: 1.25, b: 0.4, z: 0, m: 3.4, finds: 1, findsClaim: 1, measured: 0, judged: 0, witness };
  }

  /** The share of bad players that reads take. */
  get prevalence(): number {
    return this.facts.of('weights').at(-1)?.pi ?? 0.04;
  }

  #audit(action: string, actor: string, target: string | null, at: number): void {
    this.facts.add({ kind: 'audited', action, actor, target, at } satisfies AuditedFact);
  }
}

export const no = (code: string): { readonly ok: false; readonly code: string } => ({ ok: false, code });

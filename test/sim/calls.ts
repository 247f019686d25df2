/** Callers of a simulated node: each step that asks something of it, and the comparison of what it answers with the oracle. */
import { hash } from 'node:crypto';
import type { Outcome, Refusal } from '../../src/errors.js';
import type { AuditPage, EventSubmission, OwnEvent, PeerView, PlayerEvents } from '../../src/group/api.js';
import type { Resolve } from '../../src/group/group.js';
import { limits } from '../../src/limits.js';
import { subjectOf } from '../support/given.js';
import { Difference, same } from './difference.js';
import type { AuditedFact, EventFact } from './facts.js';
import type { Ledger } from './ledger.js';
import { sorted, summaryOf } from './listings.js';
import { type Expected, hex } from './oracle.js';
import { PoolFailure } from './pool.js';
import { isNearBand, trustOf } from './scores.js';
import type { SimNode } from './sim-node.js';
import type { EventStep, Step } from './steps.js';
import type { World } from './world.js';

const auditStart = '0'.repeat(64);

export const peerId = (peer: number): string => `peer-${peer}`;
export const eventId = (event: number): string => `event-${event}-of-the-simulation`;
export const subject = (player: number): Buffer => subjectOf(`player-${player}`);

/** A request that waits for its answer. */
export interface Call {
  readonly what: string;
  /** The mail that it became; undefined: it never reached the actor. */
  token?: Resolve;
  full?: boolean;
}

export interface CallDeps {
  readonly world: World;
  readonly ledger: Ledger;
  readonly node: SimNode;
  readonly count: (what: string) => void;
  readonly trace: (text: string) => void;
  readonly found: (error: unknown) => void;
  /** Looks for bytes in all that is stored. */
  readonly search: (what: string, needles: readonly (string | Buffer)[]) => void;
}

type Asked<K extends Step['do']> = Extract<Step, { do: K }>;

export class Calls {
  readonly #deps: CallDeps;
  /** Who asks at this moment: what the actor is offered now is theirs. */
  current: Call | null = null;
  waiting = 0;
  #number = 0;
  readonly #hashes = new Map<number, string>();

  constructor(deps: CallDeps) {
    this.#deps = deps;
  }

  take(step: Step): void {
    switch (step.do) {
      case 'submit':
        this.#submit(step);
        break;
      case 'register':
        this.#register(step);
        break;
      case 'withdraw':
        this.#withdraw(step);
        break;
      case 'erase':
        this.#erase(step);
        break;
      case 'status':
        this.#plain(step, () => this.#group.setPeerStatus(peerId(step.peer), step.status, 'operator'));
        break;
      case 'rotate':
        this.#plain(step, () => this.#group.rotateKey(peerId(step.peer), step.overlapMs, 'operator'));
        break;
      case 'pre_trust':
        this.#plain(step, () => this.#group.preTrust(step.change, peerId(step.peer), 'operator'));
        break;
      case 'read':
        this.read(hex(subject(step.player)));
        break;
      case 'list':
        this.#list(step, step.limit, null);
        break;
      case 'peers':
        this.peers();
        break;
      case 'audit':
        this.#audit(step);
        break;
    }
  }

  get #group() {
    return this.#deps.node.group;
  }

  get #oracle() {
    return this.#deps.ledger.oracle;
  }

  /** Asks, and compares the answer once it comes. */
  #ask<R>(what: string, ask: () => Promise<R>, compare: (answer: R, call: Call) => void): void {
    const { trace, found } = this.#deps;
    const call: Call = { what };
    const number = this.#number++;
    this.waiting++;
    this.current = call;
    const asking = ask();
    this.current = null;
    asking
      .then(
        (answer) => {
          trace(`answer ${number} ${JSON.stringify(answer)}`);
          compare(answer, call);
        },
        (error: unknown) => {
          if (!(error instanceof PoolFailure)) throw error;
          trace(`answer ${number} failed`);
        },
      )
      .catch(found)
      .finally(() => {
        this.waiting--;
      });
  }

  /** What was expected of a call; null where it was turned away at the door, which must have had a reason. */
  #expected(call: Call, answer: Outcome<unknown>): Expected | Expected[] | null {
    if (call.token === undefined || call.full === true) {
      this.#mustBeTurnedAway(call, answer);
      return null;
    }
    return this.#deps.ledger.expectedOf(call.token, call.what);
  }

  #mustBeTurnedAway(call: Call, answer: Outcome<unknown>): void {
    const { node, count } = this.#deps;
    const code = answer.ok ? 'granted' : answer.code;
    const isFull = call.full === true && code === 'overloaded';
    const shut = node.stopping || node.ended !== null || node.space.low;
    const isShut = shut && code === 'dependency_unavailable';
    if (!isFull && !isShut) throw new Difference('turned away', `${call.what}: ${code} though nothing kept it out`);
    count(isFull ? 'refused at a full mailbox' : 'turned away');
  }

  #compare(call: Call, answer: Outcome<unknown>, expected: Expected, value: (granted: never) => unknown): void {
    const found = answer.ok ? { ok: true, value: value(answer.value as never) } : shownRefusal(answer);
    same('answer', call.what, found, expected);
  }

  #submit(step: Asked<'submit'>): void {
    const caller = step.peer === null ? null : this.#view(step.peer);
    if (caller === undefined) return;
    const events = step.events.map((event) => this.#submission(event));
    const what = `submit ${step.events.map(({ id }) => id).join()}`;
    this.#ask(
      what,
      () => this.#group.submit(caller, events),
      (answers, call) => {
        const expected = this.#expected(call, answers[0]!);
        if (expected === null) return;
        for (const [i, one] of (expected as Expected[]).entries()) {
          this.#deps.count(one.ok ? 'accepted' : one.code);
          this.#compare(call, answers[i]!, one, (accepted) => accepted);
        }
      },
    );
  }

  #submission({ id, type, peer, player, severity, offsetMs, fault }: EventStep): EventSubmission {
    return {
      schemaVersion: fault === 'version' ? '2.0.0' : '1.0.0',
      eventId: eventId(id),
      eventType: type,
      peerId: fault === 'peer' ? 'nobody' : peerId(peer),
      subject: fault === 'subject' ? null : subject(player),
      gameId: fault === 'game' ? 'another-game' : `game-${id % 2}`,
      severity,
      timestamp: this.#deps.world.now() + offsetMs,
    };
  }

  #view(peer: number): PeerView | undefined {
    return this.#group.peerById(peerId(peer));
  }

  #register(step: Asked<'register'>): void {
    this.#deps.world.nameNext(peerId(step.peer));
    const registration = { peerName: `Peer ${step.peer}`, gameIds: ['game-0', 'game-1'] };
    // The id comes from chance, and never comes twice.
    if (this.#oracle.peerOf(peerId(step.peer)) >= 0) return;
    this.#plain(step, () => this.#group.register(registration, 'registration'));
  }

  /** Commands whose answer says no more than whether they were granted. */
  #plain<R>(step: Step, ask: () => Promise<Outcome<R>>): void {
    this.#ask(JSON.stringify(step), ask, (answer, call) => {
      const expected = this.#expected(call, answer) as Expected | null;
      if (expected === null) return;
      this.#compare(call, answer, expected.ok ? { ok: true } : expected, () => undefined);
    });
  }

  #withdraw(step: Asked<'withdraw'>): void {
    const caller = step.peer === null ? null : this.#view(step.peer);
    if (caller === undefined) return;
    const id = eventId(step.event);
    const wasThere = this.#oracle.facts.events.has(id);
    this.#ask(
      `withdraw ${id}`,
      () => this.#group.withdraw(caller, id),
      (answer, call) => {
        const { node, count, search, ledger } = this.#deps;
        count(answer.ok ? 'withdrawn' : `withdrawal ${answer.code}`);
        const event = this.#oracle.facts.events.get(id);
        if (answer.ok) {
          if (event === undefined || !this.#oracle.facts.withdrawals.has(id)) {
            throw new Difference('answer', `${call.what}: granted, though it was not withdrawn`);
          }
          if (ledger.isStaged(this.#oracle.facts.withdrawals.get(id)!)) {
            throw new Difference('durable', `${call.what}: answered before it was durable`);
          }
          if (!node.stopping && this.#number % 4 === 0) search(call.what, [id]);
        } else if (answer.code === 'event_not_found') {
          if (
            wasThere &&
            event !== undefined &&
            this.#oracle.isLive(event) &&
            (caller === null || caller.index === event.peer)
          ) {
            throw new Difference('answer', `${call.what}: not found, though it is there`);
          }
        } else if (answer.code !== 'overloaded' && answer.code !== 'dependency_unavailable') {
          throw new Difference('answer', `${call.what}: ${answer.code}`);
        }
      },
    );
  }

  #erase(step: Asked<'erase'>): void {
    const bytes = subject(step.player);
    const caller = typeof step.by === 'number' ? this.#view(step.by) : null;
    if (caller === undefined) return;
    const ask = () =>
      step.by === 'operator' ? this.#group.confirmErasure(bytes, 'operator') : this.#group.erase(caller, bytes);
    this.#ask(`erase player-${step.player}`, ask, (answer, call) => {
      const { node, ledger, count, search } = this.#deps;
      const isGivenUp = !answer.ok && answer.code === 'dependency_unavailable' && node.stopping;
      if (isGivenUp) {
        count('erasures given up at a stop');
        return;
      }
      const expected = this.#expected(call, answer) as Expected | null;
      if (expected === null) return;
      this.#compare(
        call,
        answer,
        expected,
        ({ status, eventsErased, erasedAt }: { status: string; eventsErased: number; erasedAt: number }) => ({
          events: eventsErased,
          pending: status === 'pending',
          at: erasedAt,
        }),
      );
      if (!answer.ok) return;
      const audited: AuditedFact | undefined = ledger.auditedBy(call.token!);
      if (audited !== undefined) audited.target = hash('sha256', answer.value.receipt + hex(bytes), 'hex');
      if (answer.value.status === 'pending') return;
      count('erased');
      const isBack = this.#oracle.knows(hex(bytes)) || ledger.isBeingErased(node.actor.state, hex(bytes));
      if (!isBack) search(call.what, [bytes, hex(bytes)]);
    });
  }

  /** Score, verdict and explanation of a subject, now. */
  read(key: string): void {
    const { world, count, trace } = this.#deps;
    const bytes = Buffer.from(key, 'hex');
    const trust = this.#group.trust(bytes);
    const explained = this.#group.explain(bytes);
    trace(`read ${JSON.stringify(trust)}`);
    if (!this.#oracle.knows(key)) {
      same('score', `read of ${key}`, trust, undefined);
      return;
    }
    if (trust === undefined || explained === undefined) throw new Difference('score', `read of ${key}: not found`);
    const expected = trustOf(this.#oracle, key, world.now());
    same(
      'score',
      `events and hour of ${key}`,
      [trust.eventCount, trust.updatedAt],
      [expected.eventCount, expected.updatedAt],
    );
    const { halfLifeDays, weightsBasedOnSeq } = explained;
    const basedOn = this.#oracle.facts.weights.at(-1)?.basedOnSeq ?? 0;
    same(
      'score',
      'half-life and weights of a read',
      [halfLifeDays, weightsBasedOnSeq],
      [this.#oracle.scale.halfLifeDays, basedOn],
    );
    if (expected.error === null) {
      count('reads beyond the range of doubles');
      return;
    }
    count('reads');
    const near = (what: string, found: number, wanted: number, tolerance: number) => {
      if (Math.abs(found - wanted) <= tolerance) return;
      throw new Difference('score', `${what} of ${key}: found ${found}, expected ${wanted}`);
    };
    const sums = expected.error * 2 + 1e-9 * (expected.lowering + expected.raising);
    near('lowering evidence', explained.lowering, expected.lowering, sums);
    near('raising evidence', explained.raising, expected.raising, sums);
    // A unit of evidence moves the log-odds by less than 11, and they the score by at most 25.
    const tolerance = 1e-7 + 300 * expected.error;
    near('score', trust.score, expected.score, tolerance);
    near('confidence', trust.confidence, expected.confidence, tolerance);
    if (expected.isEdge) return;
    same('score', `peers of ${key}`, [explained.peers, explained.preTrusted], [expected.peers, expected.preTrusted]);
    if (!isNearBand(expected, tolerance)) same('score', `verdict of ${key}`, trust.verdict, expected.verdict);
  }

  peers(): void {
    const { world, ledger } = this.#deps;
    const { facts } = this.#oracle;
    const { preTrusted } = this.#oracle;
    const counts = new Map<number, number>();
    for (const { peer } of facts.events.values()) counts.set(peer, (counts.get(peer) ?? 0) + 1);
    const views = this.#group.peers(0, facts.peers.length + 1);
    same('peers', 'number of peers', views.length, facts.peers.length);
    for (const [index, fact] of facts.peers.entries()) {
      const { tau, a, b } = this.#oracle.weightsOf(index);
      const expected = {
        index,
        peerId: fact.peerId,
        status: this.#oracle.statusOf(index),
        registeredAt: fact.at,
        eventCount: counts.get(index) ?? 0,
        preTrusted: preTrusted.includes(index),
        weight: Math.min(1, Math.max(0, (tau * (a + b)) / 4)),
      };
      const { peerName, gameIds, tau: _tau, a: _a, b: _b, ...found } = views[index]!;
      same('weights', `weights of peer ${index}`, [_tau, _a, _b], [tau, a, b]);
      same('peers', `peer ${index}`, found, { ...expected, weight: found.weight });
      if (Math.abs(found.weight - expected.weight) > 1e-12)
        throw new Difference('weights', `weight of peer ${index}: ${found.weight}`);
      same('peers', `games of ${peerName}`, gameIds, fact.gameIds);
    }
    for (const key of [...facts.peers, ...facts.keys].slice(-12)) {
      const found = this.#group.peerByKeyDigest(key.keyDigest)?.index ?? -1;
      same('keys', 'peer of a key', found, this.#oracle.peerOfKey(key.keyDigest, world.now()));
    }
    const { events, players } = this.#group.counts();
    same('counts', 'events and players', [events, players], [facts.events.size, this.#oracle.subjects.length]);
    same('counts', 'pending erasures', [...this.#group.pendingErasures()].sort(), this.#oracle.pending.sort());
    same('health', 'newest record', this.#group.health().lastSeq, ledger.durableSeq);
  }

  /** One page of a listing, and the pages behind it. */
  #list(
    step: Asked<'list'>,
    limit: number,
    cursor: { readonly before: number; readonly event: EventFact } | null,
  ): void {
    const caller = step.peer === null ? undefined : this.#view(step.peer);
    const key = hex(subject(step.player));
    const what = `list player-${step.player} for ${step.peer}${cursor === null ? '' : ` from ${cursor.event.id}`}`;
    this.#ask(
      what,
      () => this.#group.playerEvents(subject(step.player), caller, limit, cursor?.before ?? null),
      (answer, call) => {
        if (!answer.ok && answer.code === 'overloaded' && call.full !== true) return;
        if (this.#expected(call, answer) === null) return;
        const all = this.#deps.ledger.listed(call.token!);
        if (all === undefined) {
          if (answer.ok || answer.code !== 'player_not_found')
            throw new Difference('listing', `${what}: of an unknown player`);
          return;
        }
        const from = cursor === null ? 0 : all.events.indexOf(cursor.event);
        if (from < 0) return;
        if (!answer.ok) throw new Difference('listing', `${what}: ${answer.code}`);
        const next = this.#compareListing(what, answer.value, all.events.slice(from), all.live, caller, limit, key);
        if (next !== null) this.#list(step, limit, next);
      },
    );
  }

  /** `events`: all of the player's when the listing was asked for, newest first, from the cursor on; `live`: those that counted. */
  #compareListing(
    what: string,
    { total, summarised, summary, own, nextBefore }: PlayerEvents,
    events: readonly EventFact[],
    live: ReadonlySet<EventFact>,
    caller: PeerView | undefined,
    limit: number,
    key: string,
  ): { readonly before: number; readonly event: EventFact } | null {
    this.#deps.count('listings');
    same('listing', `total of ${what}`, total, live.size);
    // What was taken back while the listing was read may be in it or not.
    const isCertain = (event: EventFact) => !this.#oracle.facts.withdrawals.has(event.id) && this.#oracle.knows(key);
    const wanted = caller === undefined ? [] : events.filter((event) => live.has(event) && event.peer === caller.index);
    const newest = [...live].slice(0, limits.summaryEventsMax);
    const isExact = this.#oracle.knows(key) && [...live].every((event) => this.#oracle.isLive(event));
    const shown = (event: EventFact): Omit<OwnEvent, 'seq'> => ({
      schemaVersion: event.schemaVersion,
      eventId: event.id,
      eventType: event.type,
      gameId: event.gameId,
      severity: event.severity,
      timestamp: event.timestamp,
      receivedAt: event.receivedAt,
    });
    const found = own.map(({ seq: _, ...event }) => event);
    if (isExact) {
      same('listing', `events of ${what}`, found, wanted.slice(0, limit).map(shown));
      same('listing', `summary of ${what}`, [summarised, sorted(summary)], [newest.length, sorted(summaryOf(newest))]);
      same('listing', `end of ${what}`, nextBefore === null, wanted.length <= limit);
      const event = wanted[limit];
      return nextBefore === null || event === undefined ? null : { before: nextBefore, event };
    }
    const known = new Set(wanted.map(({ id }) => id));
    const extra = found.find(({ eventId: id }) => !known.has(id));
    if (extra !== undefined) throw new Difference('listing', `${what}: ${extra.eventId} is none of them`);
    const certain = wanted.slice(0, limit).filter(isCertain);
    const missing = certain.find(
      (event) => this.#oracle.isLive(event) && !found.some(({ eventId: id }) => id === event.id),
    );
    if (missing !== undefined && nextBefore === null)
      throw new Difference('listing', `${what}: ${missing.id} is missing`);
    return null;
  }

  #audit(step: Asked<'audit'>): void {
    const { ledger } = this.#deps;
    const all = ledger.durableAudit;
    const isTail = step.limit % 2 === 1;
    const entries = isTail ? all.slice(-step.limit) : all.slice(0, step.limit);
    // The tail of what is in memory: what is not durable of it is left out.
    const staged = isTail ? ledger.oracle.facts.audited.length - all.length : 0;
    const expected = entries.slice(staged);
    this.#ask(
      JSON.stringify(step),
      () => (isTail ? this.#group.auditTail(step.limit) : this.#group.audit(0, step.limit)),
      (answer) => this.#compareAudit(answer, expected, isTail ? null : auditStart),
    );
  }

  #compareAudit(answer: Outcome<AuditPage>, expected: readonly AuditedFact[], start: string | null): void {
    if (!answer.ok) {
      if (answer.code !== 'overloaded') throw new Difference('audit', answer.code);
      return;
    }
    let previous = start;
    const { entries } = answer.value;
    same('audit', 'number of entries', entries.length, expected.length);
    for (const [i, { seq, at, action, actor, target, prevHash, hash: entryHash }] of entries.entries()) {
      const fact = expected[i]!;
      same('audit', `entry at ${seq}`, [action, actor, at], [fact.action, fact.actor, fact.at]);
      if (fact.target !== null) same('audit', `target of the entry at ${seq}`, target, fact.target);
      const own = hash('sha256', prevHash + JSON.stringify([seq, at, action, actor, target]), 'hex');
      const before = this.#hashes.get(seq) ?? entryHash;
      this.#hashes.set(seq, entryHash);
      same('audit', `hash at ${seq}`, [entryHash, entryHash, prevHash], [own, before, previous ?? prevHash]);
      previous = entryHash;
    }
  }
}

function shownRefusal({ code, details }: Refusal): unknown {
  return { ok: false, code, ...(details === undefined ? {} : { details }) };
}

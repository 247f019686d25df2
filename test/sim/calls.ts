/**
 * Callers of a simulated node: each step that asks something of it, and the comparison of what it answers with the
 * oracle.
 */
import { hash } from 'node:crypto';
import { keyOf } from '../../src/core/tables/event-columns.js';
import type { Outcome, Refusal } from '../../src/errors.js';
import type { Resolve } from '../../src/group/actor/turn.js';
import type { EventSubmission, PeerView } from '../../src/group/api.js';
import type { Group } from '../../src/group/group.js';
import type { AuditTrail } from './audit-trail.js';
import { Difference, same } from './difference.js';
import type { Ledger } from './ledger.js';
import { type Cursor, compareListing } from './listings.js';
import { type Expected, hex } from './oracle.js';
import { PoolFailure } from './pool.js';
import { comparePeers, compareTrust } from './reads.js';
import type { SimNode } from './sim-node.js';
import {
  disputeId,
  disputeText,
  type EventStep,
  eventId,
  originName,
  peerId,
  referenceOf,
  type Step,
  subject,
} from './steps.js';
import type { World } from './world.js';

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
  readonly audit: AuditTrail;
  readonly count: (what: string) => void;
  readonly trace: (text: string) => void;
  readonly found: (error: unknown) => void;
  /** Looks for bytes in all that is stored. */
  readonly search: (what: string, needles: readonly (string | Buffer)[]) => void;
}

type Asked<K extends Step['do']> = Extract<Step, { do: K }>;

/** The operator's note on an entry of the allow list; an erasure removes it as well. */
const noteOf = (player: number): string => `note on player number ${player}.`;

/** Changes of the operator whose answer says no more than whether they were granted; null for any other step. */
function askOperator(step: Step, group: Group, now: number): (() => Promise<Outcome<unknown>>) | null {
  const by = 'operator';
  switch (step.do) {
    case 'status':
      return () => group.changePeer('peer_status', peerId(step.peer), { status: step.status }, by);
    case 'rotate':
      return () => group.rotateKey(peerId(step.peer), step.overlapMs, by);
    case 'pre_trust':
      return () => group.preTrust(step.change, peerId(step.peer), by);
    case 'relate':
      return () => group.relatePeers(step.relation, peerId(step.peer), peerId(step.other), by);
    case 'origin':
      return () => group.changeOrigin(step.change, originName(step.origin), by);
    case 'decide':
      return () => group.decideDispute(step.decision, disputeId(step.dispute), step.peers.map(peerId), by);
    case 'allow':
      return () => group.allowPlayer(subject(step.player), now + step.aheadMs, noteOf(step.player), by);
    case 'disallow':
      return () => group.disallowPlayer(subject(step.player), by);
    case 'refuse':
      return () => group.refuseErasure(subject(step.player), `no, player-${step.player}`, by);
    default:
      return null;
  }
}

export class Calls {
  readonly #deps: CallDeps;
  /** The present caller, to whom all commands belong that are offered to the actor now. */
  current: Call | null = null;
  waiting = 0;
  /** Callers whose commands were pushed out by others. */
  readonly pushedOut = new Set<Resolve>();
  #number = 0;

  constructor(deps: CallDeps) {
    this.#deps = deps;
  }

  take(step: Step): void {
    const asked = askOperator(step, this.#group, this.#deps.world.now());
    if (asked !== null) this.#plain(step, asked);
    else if (step.do === 'submit') this.#submit(step);
    else if (step.do === 'register') this.#register(step);
    else if (step.do === 'withdraw') this.#withdraw(step);
    else if (step.do === 'erase') this.#erase(step);
    else if (step.do === 'dispute') this.#dispute(step);
    else if (step.do === 'read') this.read(hex(subject(step.player)));
    else if (step.do === 'list') this.#list(step, null);
    else if (step.do === 'peers') this.peers();
    else if (step.do === 'audit') this.#audit(step);
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

  /** Returns the expected answer of a call; null if the call was not admitted, which must have a reason. */
  #expected(call: Call, answer: Outcome<unknown>): Expected | Expected[] | null {
    if (call.token === undefined || call.full === true) {
      this.#mustBeTurnedAway(call, answer);
      return null;
    }
    if (this.pushedOut.delete(call.token)) {
      if (answer.ok || answer.code !== 'overloaded') throw new Difference('turned away', `${call.what}: gave way`);
      this.#deps.count('gave way to others');
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
    const found = answer.ok ? { ok: true, value: value(answer.value as never) } : this.#shownRefusal(answer);
    same('answer', call.what, found, expected);
  }

  /** A refusal as a caller sees it. That `reason` stands wherever it should is held against the state at rest. */
  #shownRefusal({ code, details }: Refusal): unknown {
    if (details === undefined) return { ok: false, code };
    if (!('reason' in details && 'event_id' in details)) return { ok: false, code, details };
    const { reason, ...rest } = details;
    const { oracle } = this.#deps.ledger;
    const event = oracle.facts.events.get(details.event_id);
    same('answer', `reason for ${details.event_id}`, reason, 'subject_erased');
    same('answer', `erased ${details.event_id}`, event !== undefined && oracle.isErased(event), true);
    this.#deps.count('told of an erasure');
    return { ok: false, code, details: rest };
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
        if (call.token !== undefined && this.#deps.ledger.wasSentAgain(call.token)) {
          // The ledger compared them in the turn that took them.
          this.#deps.count('submitted again: may repeat events');
          return;
        }
        const expected = this.#expected(call, answers[0]!);
        if (expected === null) return;
        for (const [i, one] of (expected as Expected[]).entries()) {
          this.#deps.count(one.ok ? 'accepted' : one.code);
          this.#compare(call, answers[i]!, one, (accepted) => accepted);
        }
      },
    );
  }

  #submission(step: EventStep): EventSubmission {
    const { id, type, peer, player, severity, offsetMs, sameAt, fault, origin, isReferenced } = step;
    return {
      ...(origin === undefined ? {} : { origin: originName(origin) }),
      ...(isReferenced === undefined ? {} : { reference: referenceOf(id) }),
      schemaVersion: fault === 'version' ? '2.0.0' : '1.0.0',
      eventId: eventId(id),
      eventType: type,
      peerId: fault === 'peer' ? 'nobody' : peerId(peer),
      subject: fault === 'subject' ? null : keyOf(subject(player)),
      gameId: fault === 'game' ? 'another-game' : `game-${id % 2}`,
      severity,
      timestamp: sameAt ?? this.#deps.world.now() + offsetMs,
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
      this.#deps.count(expected.ok ? `${step.do} done` : `${step.do} refused`);
      this.#compare(call, answer, expected.ok ? { ok: true } : expected, () => undefined);
    });
  }

  #dispute(step: Asked<'dispute'>): void {
    const { dispute, player } = step;
    const caller = step.peer === null ? null : this.#view(step.peer);
    if (caller === undefined) return;
    const against = step.against === null ? undefined : peerId(step.against);
    this.#deps.world.nameNext(disputeId(dispute));
    this.#plain(step, () => this.#group.dispute(caller, subject(player), disputeText(dispute), against));
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
        const { node, count, search } = this.#deps;
        count(answer.ok ? 'withdrawn' : `withdrawal ${answer.code}`);
        if (answer.ok) {
          this.#mustBeWithdrawn(call.what, id);
          if (!node.stopping && this.#number % 4 === 0) search(call.what, [id]);
        } else if (answer.code === 'event_not_found') {
          const event = wasThere ? this.#oracle.facts.events.get(id) : undefined;
          const isTheirs = event !== undefined && (caller === null || caller.index === event.peer);
          if (isTheirs && this.#oracle.isLive(event) && this.#oracle.isStored(event))
            throw new Difference('answer', `${call.what}: not found`);
        } else if (answer.code !== 'overloaded' && answer.code !== 'dependency_unavailable') {
          throw new Difference('answer', `${call.what}: ${answer.code}`);
        }
      },
    );
  }

  #mustBeWithdrawn(what: string, id: string): void {
    const withdrawal = this.#oracle.facts.withdrawals.get(id);
    if (withdrawal === undefined) throw new Difference('answer', `${what}: granted, and it still counts`);
    if (this.#deps.ledger.isStaged(withdrawal))
      throw new Difference('durable', `${what}: answered before it was durable`);
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
      const audited = ledger.auditedBy(call.token!);
      if (audited !== undefined) audited.target = hash('sha256', answer.value.receipt + hex(bytes), 'hex');
      if (answer.value.status === 'pending') return;
      count('erased');
      const isBack = this.#oracle.names(hex(bytes)) || ledger.isBeingErased(node.actor.state, hex(bytes));
      if (!isBack) search(call.what, [bytes, hex(bytes), noteOf(step.player)]);
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
    const isTold = compareTrust(this.#oracle, key, trust, explained, world.now());
    count(isTold ? 'reads' : 'reads beyond the range of doubles');
  }

  peers(): void {
    comparePeers(this.#group, this.#oracle, this.#deps.world.now());
    same('health', 'newest record', this.#group.health().lastSeq, this.#deps.ledger.durableSeq);
  }

  /** One page of a listing, and the pages behind it. */
  #list(step: Asked<'list'>, cursor: Cursor | null): void {
    const view = step.peer === null ? null : (this.#view(step.peer) ?? null);
    const bytes = subject(step.player);
    const what = `list player-${step.player} for ${step.peer}${cursor === null ? '' : ` from ${cursor.event.id}`}`;
    const ask = () => this.#group.playerEvents(bytes, view, step.limit, cursor?.from ?? null);
    this.#ask(what, ask, (answer, call) => {
      if (!answer.ok && answer.code === 'overloaded' && call.full !== true) return;
      if (this.#expected(call, answer) === null) return;
      const all = this.#deps.ledger.listed(call.token!);
      if (all === undefined) {
        same('listing', `${what}, of an unknown player`, answer.ok ? 'found' : answer.code, 'player_not_found');
        return;
      }
      const from = cursor === null ? 0 : all.events.indexOf(cursor.event);
      // The player was erased, and the events that it has now are others.
      if (from < 0) return;
      if (!answer.ok) throw new Difference('listing', `${what}: ${answer.code}`);
      this.#deps.count('listings');
      const asked = { what, subject: hex(bytes), caller: view?.index ?? null, limit: step.limit, ...all };
      const next = compareListing(this.#oracle, { ...asked, events: all.events.slice(from) }, answer.value);
      if (next !== null) this.#list(step, next);
    });
  }

  #audit(step: Asked<'audit'>): void {
    const { ledger, audit } = this.#deps;
    const durable = ledger.durableAudit;
    const isTail = step.limit % 2 === 1;
    // The tail is that of what is in memory; what is not durable of it is left out.
    const from = isTail ? Math.max(0, ledger.oracle.facts.of('audited').length - step.limit) : 0;
    const expected = durable.slice(from, from + step.limit);
    const ask = () => (isTail ? this.#group.auditTail(step.limit) : this.#group.audit(0, step.limit));
    this.#ask(JSON.stringify(step), ask, (answer) => {
      if (answer.ok) audit.compare(answer.value, expected, !isTail);
      else same('audit', 'refusal', answer.code, 'overloaded');
    });
  }
}

/**
 * The steps of a simulated life of a group, drawn from a seed before any of them is taken. A step names what it is
 * about, and depends on no other: any part of a list is a list that can be run, which is how a difference is shortened.
 */
import { type EventTypeName, eventTypeNames } from '../../src/core/evidence/event-types.js';
import type { PeerStatus } from '../../src/core/vocabulary.js';
import { subjectOf, t0 } from '../support/given.js';
import type { AppendFault } from '../support/memory-log.js';
import { Random } from '../support/random.js';
import type { HalfLives } from './oracle.js';
import type { PoolFault } from './pool.js';
import { drawProfile, type Profile } from './profile.js';
import type { Thread } from './world.js';

export interface EventStep {
  readonly id: number;
  readonly type: EventTypeName;
  readonly peer: number;
  readonly player: number;
  readonly severity: number;
  /** The timestamp, in ms from now. */
  readonly offsetMs: number;
  /** In place of that, one of few moments, in ms since 1970: other events of the peer may say the same. */
  readonly sameAt?: number;
  /** The reason for which it must be refused. */
  readonly fault?: 'game' | 'version' | 'subject' | 'peer';
  /** Number of the origin that it names, and whether it has a reference. */
  readonly origin?: number;
  readonly isReferenced?: true;
}

/** `peer` null: without a key. Numbers name peers (`peer-3`), players (`player-7`) and events (`event-12`). */
export type Step =
  | { readonly do: 'submit'; readonly peer: number | null; readonly events: readonly EventStep[] }
  | { readonly do: 'register'; readonly peer: number }
  | { readonly do: 'withdraw'; readonly peer: number | null; readonly event: number }
  | { readonly do: 'erase'; readonly by: number | 'nobody' | 'operator'; readonly player: number }
  | { readonly do: 'status'; readonly peer: number; readonly status: PeerStatus }
  | { readonly do: 'rotate'; readonly peer: number; readonly overlapMs: number }
  | { readonly do: 'pre_trust'; readonly change: 'add' | 'remove'; readonly peer: number }
  | {
      readonly do: 'relate';
      readonly relation: 'same' | 'independent';
      readonly peer: number;
      readonly other: number;
    }
  | { readonly do: 'origin'; readonly change: 'add' | 'remove'; readonly origin: number }
  /** Numbers name disputes (`dispute-5`). */
  | {
      readonly do: 'dispute';
      readonly dispute: number;
      readonly peer: number | null;
      readonly player: number;
      readonly against: number | null;
    }
  | {
      readonly do: 'decide';
      readonly decision: 'uphold' | 'reject' | 'undo';
      readonly dispute: number;
      readonly peers: readonly number[];
    }
  | { readonly do: 'allow'; readonly player: number; readonly aheadMs: number }
  | { readonly do: 'disallow'; readonly player: number }
  | { readonly do: 'refuse'; readonly player: number }
  | { readonly do: 'read'; readonly player: number }
  | { readonly do: 'list'; readonly player: number; readonly peer: number | null; readonly limit: number }
  | { readonly do: 'peers' }
  | { readonly do: 'audit'; readonly limit: number }
  /** Lets one of the lanes that are ready go on. */
  | { readonly do: 'run'; readonly pick: number }
  | { readonly do: 'wait'; readonly ms: number }
  /** The wall clock alone is set. */
  | { readonly do: 'jump'; readonly ms: number }
  | { readonly do: 'stall'; readonly thread: Thread; readonly runs: number }
  | { readonly do: 'append_fault'; readonly how: Exclude<AppendFault, 'ok'> }
  | { readonly do: 'pool_fault'; readonly thread: 'replica' | 'reader'; readonly how: PoolFault }
  | { readonly do: 'defer_scrub' }
  /** Lets what is older leave the log. */
  | { readonly do: 'retire'; readonly ageMs: number }
  | { readonly do: 'disk_low'; readonly runs: number }
  | { readonly do: 'damage'; readonly snapshot: number; readonly how: 'flip' | 'alter' | 'lose' }
  | { readonly do: 'crash'; readonly chance: number; readonly restart: Restart }
  | { readonly do: 'stop'; readonly restart: Restart }
  | { readonly do: 'check' }
  | { readonly do: 'settle' };

/** The configuration of the next start. */
export interface Restart {
  readonly halfLives: HalfLives;
  readonly preTrusted: readonly number[] | null;
  /** True if the previous process continues for a while and writes to the log that is no longer its own. */
  readonly zombie: boolean;
}

export const peerId = (peer: number): string => `peer-${peer}`;
export const eventId = (event: number): string => `event-${event}-of-the-simulation`;
export const originName = (origin: number): string => `origin-${origin}`;
export const disputeId = (dispute: number): string => `dispute-${dispute}`;
export const disputeText = (dispute: number): string => `words of dispute-${dispute} of the simulation`;
/** It names the event, so that a search for that finds it. */
export const referenceOf = (event: number): string => `ticket of ${eventId(event)}`;
export const subject = (player: number): Buffer => subjectOf(`player-${player}`);

/** Steps that count as operations: what a caller or an operator asks. */
const operations: ReadonlySet<Step['do']> = new Set([
  'submit',
  'register',
  'withdraw',
  'erase',
  'status',
  'rotate',
  'pre_trust',
  'relate',
  'origin',
  'dispute',
  'decide',
  'allow',
  'disallow',
  'refuse',
  'read',
  'list',
  'peers',
  'audit',
]);

export const isOperation = (step: Step): boolean => operations.has(step.do);

/** Origins that events name. */
const origins = 3;

const severities = [1, 1, 1, 0.5, 0.3, 0.7, 0.2, 5e-3, 1e-3, 1e-6, 0];
/** Bans and liftings come more often than the other types. */
const eventTypes = [...eventTypeNames, 'ban_applied', 'ban_applied', 'ban_applied', 'ban_lifted'] as const;
/** Types of events that are drawn to say the same as others. */
const sameTypes = ['report_cheating', 'report_cheating', 'ban_applied', 'commendation', 'ban_lifted'] as const;
const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
const yearMs = 365.25 * dayMs;

export interface Plan {
  readonly profile: Profile;
  readonly steps: readonly Step[];
}

/** The life that belongs to a seed, up to this many operations. A shorter one is a beginning of a longer one. */
export function drawPlan(seed: number, operationsMax: number): Plan {
  const random = new Random(seed);
  const profile = drawProfile(random, seed);
  const steps: Step[] = [];
  const draw = new Draw(random, profile);
  let asked = 0;
  steps.push({ do: 'settle' });
  for (let i = 0; i < profile.peersAtFirst; i++) steps.push(draw.register());
  steps.push({ do: 'settle' });
  while (asked < operationsMax) {
    const step = draw.step();
    steps.push(step);
    if (isOperation(step)) asked++;
  }
  steps.push({ do: 'settle' });
  return { profile, steps };
}

class Draw {
  readonly #random: Random;
  readonly #profile: Profile;
  #events = 0;
  #peers = 0;
  #disputes = 0;
  /** The first sender of each event. */
  readonly #senders: number[] = [];

  constructor(random: Random, profile: Profile) {
    this.#random = random;
    this.#profile = profile;
  }

  register(): Step {
    return { do: 'register', peer: this.#peers++ };
  }

  step(): Step {
    const random = this.#random;
    const kind = random.below(1000);
    if (kind < 620) return { do: 'run', pick: random.below(60) };
    if (kind < 665) return this.#wait();
    if (kind < 970) return this.#operation();
    if (kind < 988) return this.#fault();
    if (kind < 994) return { do: 'run', pick: random.below(60) };
    if (kind < 996) return this.#jump();
    if (kind < 998) return { do: 'check' };
    switch (random.below(4)) {
      case 0:
        return { do: 'stop', restart: this.#restart() };
      case 1:
        return { do: 'settle' };
      default:
        return { do: 'crash', chance: random.below(2 ** 31), restart: this.#restart() };
    }
  }

  #operation(): Step {
    const random = this.#random;
    const { players } = this.#profile;
    const kind = random.below(1000);
    const player = this.#player();
    if (kind < 492) return this.#submit();
    if (kind < 500) {
      const change = random.below(4) === 0 ? 'remove' : 'add';
      return { do: 'origin', change, origin: random.below(origins) };
    }
    if (kind < 510) {
      const against = random.below(3) === 0 ? this.#peer() : null;
      return { do: 'dispute', dispute: this.#disputes++, peer: this.#caller(), player, against };
    }
    if (kind < 520) {
      const decision = random.pick(['uphold', 'uphold', 'uphold', 'reject', 'undo'] as const);
      const peers = decision === 'uphold' && random.below(2) === 0 ? [this.#peer()] : [];
      return { do: 'decide', decision, dispute: Math.max(0, this.#disputes - 1 - random.below(4)), peers };
    }
    if (kind < 740) return { do: 'read', player: random.below(40) === 0 ? players + 1 : player };
    if (kind < 810) return this.#withdraw();
    if (kind < 850)
      return { do: 'erase', by: random.pick([this.#peer(), this.#peer(), 'nobody', 'operator', 'operator']), player };
    if (kind < 920) return { do: 'list', player, peer: this.#caller(), limit: random.pick([1, 2, 5, 50, 200]) };
    if (kind < 950) return { do: 'peers' };
    if (kind < 953) {
      const relation = random.pick(['same', 'independent'] as const);
      return { do: 'relate', relation, peer: this.#peer(), other: this.#peer() };
    }
    if (kind < 956)
      return {
        do: 'allow',
        player,
        aheadMs: random.pick([1, 30_000, hourMs, hourMs, dayMs, dayMs, 5_000 * dayMs, -1]),
      };
    if (kind < 958) return { do: 'disallow', player };
    if (kind < 961) return { do: 'refuse', player };
    if (kind < 965) return { do: 'audit', limit: random.pick([1, 5, 50, 200]) };
    if (kind < 975)
      return { do: 'rotate', peer: this.#peer(), overlapMs: random.pick([0, 0, hourMs, dayMs, 2 * dayMs]) };
    if (kind < 985) return { do: 'pre_trust', change: random.pick(['add', 'remove', 'remove']), peer: this.#peer() };
    if (kind < 997) {
      const status = random.below(30) === 0 ? 'revoked' : random.pick(['active', 'active', 'suspended'] as const);
      return { do: 'status', peer: this.#peer(), status };
    }
    return this.register();
  }

  #submit(): Step {
    const random = this.#random;
    const events = Array.from({ length: random.below(8) === 0 ? 1 + random.below(this.#profile.batchMax) : 1 }, () =>
      this.#event(),
    );
    return { do: 'submit', peer: random.below(4) === 0 ? null : events[0]!.peer, events };
  }

  /** Most often by whoever sent it. */
  #withdraw(): Step {
    const event = this.#known();
    const peer = this.#random.below(3) > 0 ? (this.#senders[event] ?? null) : this.#caller();
    return { do: 'withdraw', peer, event };
  }

  #event(): EventStep {
    const random = this.#random;
    // One in twelve was sent before, or comes out of order; the event of a number is whatever comes first.
    const id = random.below(12) === 0 ? this.#known() : this.#events++;
    const peer = random.below(2) === 0 ? (this.#senders[id] ?? this.#peer()) : this.#peer();
    this.#senders[id] ??= peer;
    const event = {
      id,
      type: random.pick(eventTypes),
      peer,
      player: this.#player(),
      severity: random.pick(severities),
      offsetMs: this.#offset(),
    };
    if (random.below(5) === 0) {
      const labels = random.below(3) === 0 ? {} : { origin: random.below(origins) };
      const isReferenced = random.below(2) === 0 ? { isReferenced: true as const } : {};
      const sameAt = random.below(3) > 0 ? {} : { type: random.pick(sameTypes), sameAt: t0 - random.below(3) * hourMs };
      return { ...event, ...labels, ...isReferenced, ...sameAt };
    }
    if (random.below(5) === 0) return { ...event, type: random.pick(sameTypes), sameAt: t0 - random.below(3) * hourMs };
    if (random.below(60) > 0) return event;
    return { ...event, fault: random.pick(['game', 'version', 'subject', 'peer'] as const) };
  }

  #offset(): number {
    const random = this.#random;
    const { halfLives, banHalfLives } = this.#profile;
    switch (random.below(13)) {
      case 0:
        return -random.below(400) * dayMs;
      case 1:
        return random.below(25) * hourMs;
      case 2:
        return dayMs;
      case 3:
        return dayMs + 1;
      case 4:
        // Around the age from which on an event carries nothing.
        return random.pick([-1, 0, 1, dayMs]) - 20 * random.pick([...halfLives, ...banHalfLives]) * dayMs;
      default:
        return -random.below(hourMs);
    }
  }

  #wait(): Step {
    const random = this.#random;
    const ms = random.pick([1, 3, 10, 50, 200, 1_000, 2_000, 60_000, hourMs, this.#profile.longWaitMs]);
    return { do: 'wait', ms: Math.ceil(ms * random.next()) };
  }

  #jump(): Step {
    const random = this.#random;
    const ms = random.pick([5 * 60_000, 90 * 60_000, 40 * dayMs, 20 * yearMs]);
    return { do: 'jump', ms: Math.round(ms * random.pick([1, -1])) };
  }

  #fault(): Step {
    const random = this.#random;
    switch (random.below(20)) {
      case 0:
        return { do: 'append_fault', how: random.pick(['refuse', 'lose']) };
      case 1:
      case 2:
      case 3:
        return {
          do: 'pool_fault',
          thread: random.pick(['replica', 'replica', 'reader']),
          how: random.pick(['busy', 'fails', 'dies']),
        };
      case 4:
        return { do: 'defer_scrub' };
      case 5:
        return { do: 'disk_low', runs: random.below(60) };
      case 6:
      case 7:
        return { do: 'damage', snapshot: random.below(2), how: random.pick(['flip', 'alter', 'lose']) };
      case 8:
      case 9:
      case 10:
      case 11:
        if (this.#profile.retires) return { do: 'retire', ageMs: random.pick([0, hourMs, dayMs, 10 * dayMs]) };
        return { do: 'run', pick: random.below(60) };
      default:
        return {
          do: 'stall',
          thread: random.pick(['log', 'scrub', 'snapshots', 'replica', 'reader', 'timer']),
          runs: random.below(80),
        };
    }
  }

  #restart(): Restart {
    const random = this.#random;
    const { halfLives, banHalfLives } = this.#profile;
    const drawn = (of: readonly number[]) => (random.below(4) === 0 ? random.pick(of) : of[0]!);
    return {
      halfLives: { claims: drawn(halfLives), measures: drawn(banHalfLives) },
      preTrusted: random.below(4) === 0 ? Array.from({ length: random.below(3) }, () => this.#peer()) : null,
      zombie: random.below(3) === 0,
    };
  }

  #peer(): number {
    return this.#random.below(this.#peers + (this.#random.below(50) === 0 ? 1 : 0));
  }

  #caller(): number | null {
    return this.#random.below(4) === 0 ? null : this.#peer();
  }

  /** Some players are reported far more often than others. */
  #player(): number {
    return Math.floor(this.#profile.players * this.#random.next() ** 2);
  }

  /** An event that was drawn already: most often one of the newest. */
  #known(): number {
    const back = this.#random.below(3) === 0 ? this.#events : Math.min(40, this.#events);
    return Math.max(0, this.#events - this.#random.below(back + 1));
  }
}

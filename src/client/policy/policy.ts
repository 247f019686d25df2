/** Decides a studio's action about a player from the player's trust, enforced or in shadow mode. */
import type { PlayerTrust } from '../player-trust.js';
import { notify } from '../transport/listeners.js';
import type { AllowList } from './client-allow-list.js';

/**
 * `shadow`: every player passes, and the policy reports what the rule would have done. `enforce`: the rule's actions
 * are taken. @public
 */
export type PolicyMode = 'shadow' | 'enforce';

/**
 * The reason for an action.
 *
 * - `rule`: the rule chose it.
 * - `shadow`: the rule chose another one, but the policy only watches.
 * - `allow-list`: the player is on the studio's own allow list, or on that of the group.
 * - `unknown`: nothing is known about the player now, so the rule was not asked. @public
 */
export type DecisionReason = 'rule' | 'shadow' | 'allow-list' | 'unknown';

/** A policy's decision about a player. @public */
export interface Decision<Action extends string> {
  /** The action to take. */
  readonly action: Action;
  /** The action that the rule alone would take. */
  readonly would: Action;
  /** Why `action` equals or differs from `would`. */
  readonly reason: DecisionReason;
  /** The trust on which the decision is based. */
  readonly trust: PlayerTrust;
}

/** The options of a {@link TrustPolicy}. @public */
export interface PolicyOptions<Action extends string> {
  /** Begin with `shadow`, and look at `tally` before you enforce. */
  readonly mode: PolicyMode;
  /** The action for a player that passes. */
  readonly pass: Action;
  /** Returns the action for a player with this trust. Not called if the trust is `assumed`. */
  readonly rule: (trust: PlayerTrust) => Action;
  /** Players that pass whatever the rule says. */
  readonly allowList?: AllowList | undefined;
  /** Called with every decision; a place to log what would have happened. */
  readonly onDecision?: ((decision: Decision<Action>) => void) | undefined;
}

/** Counts of a policy's decisions since it was created. @public */
export interface PolicyTally {
  /** Number of decisions. */
  readonly decisions: number;
  /** Number of actions taken, by action. */
  readonly done: Readonly<Record<string, number>>;
  /** Number of actions that the rule alone would have taken, by action. */
  readonly would: Readonly<Record<string, number>>;
  /** Number of decisions by reason. */
  readonly reasons: Readonly<Record<DecisionReason, number>>;
}

/**
 * A studio's own rule, enforced or in shadow mode. The service describes players; this class decides about
 * the action. @public
 */
export class TrustPolicy<Action extends string> {
  /** May be changed at any time. */
  mode: PolicyMode;
  readonly #options: PolicyOptions<Action>;
  readonly #done = new Map<Action, number>();
  readonly #would = new Map<Action, number>();
  readonly #reasons: Record<DecisionReason, number> = { rule: 0, shadow: 0, 'allow-list': 0, unknown: 0 };

  /** @param options - the rule, and how to apply it. */
  constructor(options: PolicyOptions<Action>) {
    this.#options = options;
    this.mode = options.mode;
  }

  /** Decides about one player. */
  decide(trust: PlayerTrust): Decision<Action> {
    const { pass, rule, allowList, onDecision } = this.#options;
    const isUnknown = trust.source === 'assumed';
    const would = isUnknown ? pass : rule(trust);
    // A missing or misspelled mode of an untyped program counts as `shadow`.
    const isShadow = this.mode !== 'enforce';
    const reason = isUnknown
      ? 'unknown'
      : trust.allowed || allowList?.has(trust.playerId)
        ? 'allow-list'
        : isShadow && would !== pass
          ? 'shadow'
          : 'rule';
    const decision: Decision<Action> = { action: reason === 'rule' ? would : pass, would, reason, trust };
    this.#done.set(decision.action, (this.#done.get(decision.action) ?? 0) + 1);
    this.#would.set(would, (this.#would.get(would) ?? 0) + 1);
    this.#reasons[reason]++;
    notify(onDecision, decision);
    return decision;
  }

  /** Numbers of decisions so far. */
  get tally(): PolicyTally {
    const reasons = { ...this.#reasons };
    return {
      decisions: Object.values(reasons).reduce((sum, count) => sum + count, 0),
      done: Object.fromEntries(this.#done),
      would: Object.fromEntries(this.#would),
      reasons,
    };
  }
}

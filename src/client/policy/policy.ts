/** What a studio makes of a player's trust, in earnest or only to watch what it would have done. */

import type { PlayerTrust } from '../player-trust.js';
import { notify } from '../transport/runtime.js';
import type { AllowList } from './allow-list.js';

/**
 * `shadow`: everybody passes, and what the rule would have done is told. `enforce`: the rule's actions are taken.
 * @public
 */
export type PolicyMode = 'shadow' | 'enforce';

/**
 * Why an action is what it is.
 *
 * - `rule`: the rule says so.
 * - `shadow`: the rule says otherwise, but the policy only watches.
 * - `allow-list`: the player is on the studio's own allow list, or on that of the group.
 * - `unknown`: nobody knows anything about the player now, so the rule was not asked.
 *
 * @public
 */
export type DecisionReason = 'rule' | 'shadow' | 'allow-list' | 'unknown';

/**
 * What a policy decided about a player.
 * @public
 */
export interface Decision<Action extends string> {
  /** What to do. */
  readonly action: Action;
  /** What the rule alone would do. */
  readonly would: Action;
  /** Why the two are, or are not, the same. */
  readonly reason: DecisionReason;
  /** What the decision rests on. */
  readonly trust: PlayerTrust;
}

/**
 * The options of a {@link TrustPolicy}.
 * @public
 */
export interface PolicyOptions<Action extends string> {
  /** Begin with `shadow`, and look at `tally` before you enforce. */
  readonly mode: PolicyMode;
  /** What happens to a player who passes. */
  readonly pass: Action;
  /** What should happen to a player with this trust. Not asked where the trust is `assumed`. */
  readonly rule: (trust: PlayerTrust) => Action;
  /** Players who pass whatever the rule says. */
  readonly allowList?: AllowList | undefined;
  /** Called with every decision: the place to log what would have happened. */
  readonly onDecision?: ((decision: Decision<Action>) => void) | undefined;
}

/**
 * How often a policy decided what, since it was made.
 * @public
 */
export interface PolicyTally {
  /** Decisions. */
  readonly decisions: number;
  /** What was done, by action. */
  readonly done: Readonly<Record<string, number>>;
  /** What the rule alone would have done, by action. */
  readonly would: Readonly<Record<string, number>>;
  /** Decisions by their reason. */
  readonly reasons: Readonly<Record<DecisionReason, number>>;
}

/**
 * A rule of the studio's own, applied in earnest or in the shadow. The service describes players; what follows is
 * decided here.
 * @public
 */
export class TrustPolicy<Action extends string> {
  /** May be changed at any time. */
  mode: PolicyMode;
  readonly #options: PolicyOptions<Action>;
  readonly #done = new Map<Action, number>();
  readonly #would = new Map<Action, number>();
  readonly #reasons: Record<DecisionReason, number> = { rule: 0, shadow: 0, 'allow-list': 0, unknown: 0 };

  /** @param options - the rule, and how it is applied. */
  constructor(options: PolicyOptions<Action>) {
    this.#options = options;
    this.mode = options.mode;
  }

  /** Decides about one player. */
  decide(trust: PlayerTrust): Decision<Action> {
    const { pass, rule, allowList, onDecision } = this.#options;
    const isUnknown = trust.source === 'assumed';
    const would = isUnknown ? pass : rule(trust);
    // A mode that a program without types leaves out or misspells acts on nobody.
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

  /** How often what was decided. */
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

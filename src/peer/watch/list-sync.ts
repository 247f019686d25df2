/**
 * Compares a list with the reported bans: finds new, expired and lifted ones. Pure: it changes nothing and makes no
 * requests.
 */
import { bounds } from '../../client/bounds.js';
import type { PlanEntry } from '../import/plan.js';
import type { StandingBan } from './watch-state.js';

export interface ListedBan {
  readonly ban: string;
  readonly entry: PlanEntry;
}

export interface ListChanges {
  readonly begun: readonly ListedBan[];
  /** Bans that have expired; their events stay. */
  readonly ended: readonly string[];
  readonly lifted: readonly string[];
  /** Bans missing since the list was rotated: from now on their absence means nothing. */
  readonly rotated: readonly string[];
  /** Bans that were missing since a rotation and are listed again: from now on their absence counts. */
  readonly returned: readonly string[];
  /** Number of missing bans, if they are too many at once to be believed; none of them is withdrawn. */
  readonly doubted: number;
  /** True if bans are missing that would count as lifted after a longer time without a change. */
  readonly isUndecided: boolean;
}

export interface Look {
  readonly now: number;
  /** How long the list has been unchanged, in ms. */
  readonly stillMs: number;
  readonly isWhole: boolean;
  readonly isRotated: boolean;
  /** Accepts any number of lifted bans. */
  readonly allowMassLift: boolean;
}

export function changesOf(
  listed: readonly ListedBan[],
  standing: ReadonlyMap<string, StandingBan>,
  { now, stillMs, isWhole, isRotated, allowMassLift }: Look,
): ListChanges {
  const byBan = new Map(listed.map(({ ban, entry }) => [ban, entry]));
  const begun = listed.filter(({ ban, entry }) => entry.state === 'send' && !standing.has(ban));
  const ended: string[] = [];
  const lifted: string[] = [];
  const missing: string[] = [];
  const rotated: string[] = [];
  const returned: string[] = [];
  let present = 0;
  for (const [ban, { expiresAt, rotated: wasRotated }] of standing) {
    if (!wasRotated) present++;
    const state = byBan.get(ban)?.state;
    if (state === 'send' || state === 'faded') {
      if (wasRotated) returned.push(ban);
    } else if (state === 'lifted') lifted.push(ban);
    else if (state === 'expired' || (expiresAt !== null && expiresAt <= now)) ended.push(ban);
    else if (isWhole && isRotated && !wasRotated) rotated.push(ban);
    else if (isWhole && !wasRotated) missing.push(ban);
  }
  // A single ban that leaves others behind is no loss of the list.
  const isSingle = missing.length === 1 && listed.length > 0;
  const isMany = missing.length >= present / 2 && !isSingle;
  const isDecided = stillMs >= bounds.listLiftMs;
  const isDoubted = isDecided && isMany && !allowMassLift;
  if (isDecided && !isDoubted) lifted.push(...missing);
  return {
    begun,
    ended,
    lifted,
    rotated,
    returned,
    doubted: isDoubted ? missing.length : 0,
    isUndecided: missing.length > 0 && !isDecided,
  };
}

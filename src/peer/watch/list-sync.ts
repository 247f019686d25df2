/** Compares a list with the reported bans: finds new, expired and lifted ones. Pure. */
import { bounds } from '../../client/for-peer.js';
import type { EntryState, PlanEntry } from '../import/plan.js';
import type { StandingBan } from './watch-state.js';

export interface ListedBan {
  readonly ban: string;
  /** The first ban of the same row: the accounts of a row are those of one person. */
  readonly person: string;
  readonly entry: PlanEntry;
}

export interface ListChanges {
  readonly begun: readonly ListedBan[];
  /** Bans that have expired; their events stay. */
  readonly ended: readonly string[];
  readonly lifted: readonly string[];
  /** Bans missing since the list was rotated: from now on their absence means nothing. */
  readonly rotated: readonly string[];
  /** Bans that are missing with too many others to be believed; none of them is withdrawn. */
  readonly doubted: readonly string[];
  /** Listed bans whose absence did not count so far. */
  readonly returned: readonly string[];
  /** Number of missing bans that are doubted, now or since an earlier look. */
  readonly doubts: number;
  /** True if the list was read whole and nothing is left to decide: the absence of its bans counts from now on. */
  readonly isAccepted: boolean;
  /** True if bans are missing that would count as lifted after a longer time without a change. */
  readonly isUndecided: boolean;
}

export interface Look {
  readonly now: number;
  /** How long the list has been unchanged, in ms. */
  readonly stillMs: number;
  readonly isWhole: boolean;
  readonly isRotated: boolean;
  /** Accepts any number of lifted bans, also of doubted ones. */
  readonly allowMassLift: boolean;
}

export function changesOf(
  listed: readonly ListedBan[],
  standing: ReadonlyMap<string, StandingBan>,
  { now, stillMs, isWhole, isRotated, allowMassLift }: Look,
): ListChanges {
  const states = new Map<string, EntryState>();
  for (const { ban, entry } of listed) states.set(ban, entry.state);
  const begun = listed.filter(({ ban, entry }) => entry.state === 'send' && !standing.has(ban));
  const ended: string[] = [];
  const lifted: string[] = [];
  const missing: string[] = [];
  const doubted: string[] = [];
  const rotated: string[] = [];
  const marked: string[] = [];
  const present = new Set<string>();
  for (const [ban, { expiresAt, mark, person }] of standing) {
    const state = states.get(ban);
    const isOver = expiresAt !== null && expiresAt <= now;
    // Bans that were reported after the last accepted look must not outweigh those that are missing since.
    if (mark === 'present' && (state !== undefined || !isOver)) present.add(person);
    if (state === 'send' || state === 'faded') {
      if (mark !== 'present') marked.push(ban);
    } else if (state === 'lifted') lifted.push(ban);
    else if (state === 'expired' || isOver) ended.push(ban);
    else if (mark === 'doubted') doubted.push(ban);
    else if (isWhole && mark !== 'rotated') (isRotated ? rotated : missing).push(ban);
  }
  const isDecided = stillMs >= bounds.listLiftMs;
  // The missing bans are those of half of the persons who were in the last accepted list, or of more.
  const lost = new Set(missing.map((ban) => standing.get(ban)!.person));
  const isMany = missing.length > 0 && lost.size >= present.size / 2;
  const isDoubted = isDecided && isMany && !allowMassLift;
  const believed = isDoubted ? [] : missing;
  if (isWhole && !isRotated && allowMassLift) believed.push(...doubted.splice(0));
  if (isDecided) lifted.push(...believed);
  const isUndecided = believed.length > 0 && !isDecided;
  const isAccepted = isWhole && !isUndecided;
  return {
    begun,
    ended,
    lifted,
    rotated,
    doubted: isDoubted ? missing : [],
    returned: isAccepted ? marked : marked.filter((ban) => standing.get(ban)?.mark !== 'fresh'),
    doubts: doubted.length + (isDoubted ? missing.length : 0),
    isAccepted,
    isUndecided,
  };
}

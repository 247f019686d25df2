/**
 * Computes how long a caller waits before its next erasure or dispute, by its own and the group's quota of a day.
 * Requests of new peers do not count for the others: a few registrations could use the quota up.
 */
import { limits } from '../../limits.js';
import type { GroupState } from '../state.js';

export interface Quota {
  readonly quota: number;
  /** The group's quota, as a multiple of a peer's. */
  readonly groupFactor: number;
  /** Lets a caller ask for an equal share of the group's quota, even if others used it up. */
  readonly isShared?: true;
}

/**
 * Returns the ms until the caller may ask again; 0 means now. `times`: of earlier requests, by number of the peer. A
 * new caller, or one that is no peer, waits for all requests; others for those of peers that were not new.
 */
export function quotaWaitsMs(
  state: Pick<GroupState, 'peers'>,
  times: ReadonlyMap<number, readonly number[]>,
  caller: number,
  { quota, groupFactor, isShared }: Quota,
  now: number,
): { readonly own: number; readonly group: number } {
  const ofCaller = times.get(caller) ?? [];
  let count = 0;
  for (const { length } of times.values()) count += length;
  // Most callers are far from both quotas, and requests can be many.
  if (ofCaller.length < quota && count < quota * groupFactor) return { own: 0, group: 0 };
  const isNew = (peer: number, at: number) =>
    peer < 0 || at - state.peers.at(peer).registeredAt < limits.quotaNewPeerMs;
  const own = recentOf(ofCaller, now);
  const isCounted = isNew(caller, now) ? () => true : (peer: number, at: number) => !isNew(peer, at);
  const counted = [...times]
    .map(([peer, asked]) => ({ peer, recent: recentOf(asked, now).filter((at) => isCounted(peer, at)) }))
    .filter(({ peer, recent }) => recent.length > 0 || peer === caller);
  const all = counted.flatMap(({ recent }) => recent).sort((p, q) => p - q);
  const askers = counted.length + (times.has(caller) ? 0 : 1);
  const hasShare = isShared === true && own.length < Math.floor((quota * groupFactor) / askers);
  return { own: waitMs(own, quota, now), group: hasShare ? 0 : waitMs(all, quota * groupFactor, now) };
}

/** Returns the times within the window. A time in the future was noted before the clock was set back. */
function recentOf(times: readonly number[], now: number): number[] {
  return times.filter((at) => at > now - limits.quotaWindowMs && at <= now);
}

/** Returns the ms until fewer than `quota` of these ordered recent times lie within the window. */
function waitMs(recent: readonly number[], quota: number, now: number): number {
  if (recent.length < quota) return 0;
  const frees = recent[recent.length - quota] ?? now;
  return Math.max(1, frees + limits.quotaWindowMs - now);
}

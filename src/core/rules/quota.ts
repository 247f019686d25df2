/** Quotas: how often a peer, and the whole group, may ask for something within a sliding day. */
import { limits } from '../../limits.js';

export interface Quota {
  /** Quota of one peer. */
  readonly quota: number;
  /** The group's quota, as a multiple of a peer's. */
  readonly groupFactor: number;
}

/**
 * ms until the caller may ask again, by its own quota and by that of the group; 0 means now. `times` holds the times of
 * earlier requests (ms since 1970) by number of the asking peer.
 */
export function quotaWaitsMs(
  times: ReadonlyMap<number, readonly number[]>,
  caller: number,
  { quota, groupFactor }: Quota,
  now: number,
): { readonly own: number; readonly group: number } {
  const own = waitMs(times.get(caller) ?? [], quota, now);
  const all = [...times.values()].flat().sort((p, q) => p - q);
  return { own, group: waitMs(all, quota * groupFactor, now) };
}

/** ms until fewer than `quota` of these ordered times lie within the window. */
function waitMs(times: readonly number[], quota: number, now: number): number {
  // A time in the future was noted before the clock was set back.
  const recent = times.filter((at) => at > now - limits.quotaWindowMs && at <= now);
  if (recent.length < quota) return 0;
  const frees = recent[recent.length - quota] ?? now;
  return Math.max(1, frees + limits.quotaWindowMs - now);
}

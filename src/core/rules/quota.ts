/**
 * Quotas: how often a peer, and a group together, may ask for something within a sliding day. What new peers use of the
 * group's quota leaves that of the others as it is: otherwise a few fresh registrations could use it up every day.
 */
import { limits } from '../../limits.js';
import type { GroupState } from '../state.js';

export interface Quota {
  /** Of one peer. */
  readonly quota: number;
  /** How many of these the whole group has. */
  readonly groupFactor: number;
}

/**
 * ms until the caller may ask again, by its own quota and by that of the group; 0: now. `times`: of what was asked, in
 * ms since 1970, by number of the asking peer. A caller that is new itself, or no peer, waits for all that was asked;
 * any other waits only for what was asked by peers that were not new then.
 */
export function quotaWaitsMs(
  state: Pick<GroupState, 'peers'>,
  times: ReadonlyMap<number, readonly number[]>,
  caller: number,
  { quota, groupFactor }: Quota,
  now: number,
): { readonly own: number; readonly group: number } {
  const isNew = (peer: number, at: number) =>
    peer < 0 || at - state.peers.at(peer).registeredAt < limits.quotaNewPeerMs;
  const own = waitMs(times.get(caller) ?? [], quota, now);
  const counted = isNew(caller, now)
    ? [...times.values()].flat()
    : [...times].flatMap(([peer, asked]) => asked.filter((at) => !isNew(peer, at)));
  counted.sort((p, q) => p - q);
  return { own, group: waitMs(counted, quota * groupFactor, now) };
}

/** ms until fewer than `quota` of these times lie within the window; they are in order. */
function waitMs(times: readonly number[], quota: number, now: number): number {
  // A time that has not come was noted before the clock was set back.
  const recent = times.filter((at) => at > now - limits.quotaWindowMs && at <= now);
  if (recent.length < quota) return 0;
  const frees = recent[recent.length - quota] ?? now;
  return Math.max(1, frees + limits.quotaWindowMs - now);
}

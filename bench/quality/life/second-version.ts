/**
 * Figures of the second version of scoring on groups that report, detect, ban and lift, as published beside the
 * reference implementation of the third (its `results.txt`: 8 peers, 8,000 players, seed 1001).
 */
import { type LifeKind, lifeKinds, profileOf } from './simulator.js';

/**
 * By profile, in the order of `lifeKinds`: how often `suspicious` or worse was right, and the share of bad players that
 * it caught, in per cent. A dash stands for no such player.
 */
const published = {
  bans: '- 0, - 0, - 0, - 0, - 0, - 0, - 0, - 0, - 0, - 0, - 0, - 0, - 0',
  reports: '100 .4, 100 .8, - 0, 75 1.2, 100 1.2, 100 2.7, 100 .4, 50 .4, 100 .6, - 0, - 0, - 0, - 0',
  mixed: '100 3, 100 1.8, 100 5.4, 87.5 2.8, 100 1.9, 83.3 2, 100 1.6, 100 1.9, 100 1.3, 100 2.5, 87.5 2.7, - 0, - 0',
  full: '100 17.9, 100 19.8, 100 6, 100 16.1, 100 12, 97.2 20.5, 100 12.1, 100 15.4, 97.6 13, 100 13.8, 100 11, 100 13.1, 100 13.4',
  hetero: '100 .4, - 0, 100 4.2, 90.9 3.7, 100 1.8, 91.7 3.9, - 0, - 0, 75 1.1, 100 1.6, - 0, 100 .4, 100 3.5',
} as const;

/** Returns the shares of a kind, in [0, 1]; NaN if no player was `suspicious` or worse, or nothing was published. */
export function ofSecondVersion(kind: LifeKind): { readonly right: number; readonly caught: number } {
  const profile = profileOf(kind);
  const place = lifeKinds.filter((one) => profileOf(one) === profile).indexOf(kind);
  if (place < 0) return { right: Number.NaN, caught: Number.NaN };
  const [right, caught] = published[profile].split(', ')[place]!.split(' ');
  return { right: Number(right === '-' ? Number.NaN : right) / 100, caught: Number(caught) / 100 };
}

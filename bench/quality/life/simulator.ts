/** Simulates groups whose peers report, detect, ban and lift. A kind, a seed and a size always give the same group. */
import type { LifeGroup } from '../../data/life-set.js';
import { randomFrom } from '../random.js';
import { type GroupSize, numbered } from '../scene.js';
import { attacksOf, lifeAttacks, lifeAttempts } from './attacks.js';
import { LifeScene, type Profile, profiles } from './scene.js';

/** A profile, and the name of the attack after an underscore. */
export type LifeKind = Profile | `${Profile}_${(typeof lifeAttacks | typeof lifeAttempts)[number]}`;

export const lifeKinds: readonly LifeKind[] = profiles.flatMap((profile) => [
  profile,
  ...lifeAttacks.map((attack) => `${profile}_${attack}` as const),
]);

/** Kinds of our own, which no goal is about. */
export const lifeAttemptKinds: readonly LifeKind[] = profiles.flatMap((profile) =>
  lifeAttempts.map((attempt) => `${profile}_${attempt}` as const),
);

export function profileOf(kind: LifeKind): Profile {
  return kind.split('_')[0] as Profile;
}

export const lifeSize: GroupSize = { peers: 8, players: 4000 };

/** Simulates a group. Adversaries join in addition to its peers. */
export function simulateLife(kind: LifeKind, seed: number, size: GroupSize = lifeSize): LifeGroup {
  const [profile, name] = kind.split('_') as [Profile, string | undefined];
  const scene = new LifeScene(randomFrom('life', kind, seed, size.peers, size.players), profile, size);
  const { attack, count } = attacksOf(name);
  const adversaries = scene.addPeers(count);
  const targets = attack(scene, adversaries);
  const events = scene.sentEvents();
  const numbers = numbered(events);
  return {
    name: kind,
    peers: Array.from({ length: scene.peerCount }, (_, j) => `p${j}`),
    players: Array.from(numbers.keys(), (player) => `s${player}`),
    events: events.map((event) => ({ ...event, player: numbers.get(event.player)! })),
    truth: new Map(Array.from(numbers, ([player, i]) => [i, scene.players[player]!.isBad ? 1 : 0])),
    adversaries,
    targets: targets.flatMap((player) => numbers.get(player) ?? []),
    days: scene.days,
  };
}

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

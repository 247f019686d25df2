/** Simulates groups whose peers report, detect, ban and lift. A kind, a seed and a size always give the same group. */
import type { LifeGroup } from '../../data/life-set.js';
import { randomFrom } from '../random.js';
import type { GroupSize } from '../scene.js';
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
  const seen = [...new Set(events.map(({ player }) => player))].sort((i, j) => i - j);
  const renumbered = new Map(seen.map((player, i) => [player, i]));
  return {
    name: kind,
    peers: Array.from({ length: scene.peerCount }, (_, j) => `p${j}`),
    players: seen.map((player) => `s${player}`),
    events: events.map((event) => ({ ...event, player: renumbered.get(event.player)! })),
    truth: new Map(seen.map((player, i) => [i, scene.players[player]!.isBad ? 1 : 0])),
    adversaries,
    targets: targets.flatMap((player) => renumbered.get(player) ?? []),
    days: scene.days,
  };
}

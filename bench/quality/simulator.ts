/**
 * The attack simulator: whole groups under a kind of attack, and real votes with attackers injected. A kind, a seed
 * and a size always give the same group.
 *
 * Injected attackers are new peers in a real set, which attack players whose truth is known, as many and as hard as in a
 * simulated group; whoever voted honestly keeps the votes, so what the AUC loses is the attack's doing alone.
 */
import type { TrustSet } from '../data/trust-set.js';
import { type AttackName, attacks } from './attacks.js';
import { randomFrom } from './random.js';
import { type GroupSize, honestScene, Scene, toTrustSet } from './scene.js';

interface Kind {
  readonly attack: AttackName;
  /** Adversaries among the group's peers. */
  readonly within?: number;
  /** Adversaries that join on top of the group's peers; `sybilShare`: as that share of all peers. */
  readonly joining?: number;
  readonly sybilShare?: number;
  readonly preTrusted?: number;
  readonly reportOnly?: boolean;
}

export const kinds = {
  none: { attack: 'none' },
  invert1: { attack: 'invert', within: 1 },
  flood1: { attack: 'flood', within: 1 },
  badmouth1: { attack: 'badmouth', within: 1 },
  ballot1: { attack: 'ballot', within: 1 },
  camo1: { attack: 'camouflage', within: 1 },
  sleeper1: { attack: 'sleeper', within: 1 },
  collude2: { attack: 'collude', within: 2 },
  collude3: { attack: 'collude', within: 3 },
  colludebad3: { attack: 'colludeLowering', within: 3 },
  collude2_pre1: { attack: 'collude', within: 2, preTrusted: 1 },
  collude3_pre2: { attack: 'collude', within: 3, preTrusted: 2 },
  sybil60_pre1: { attack: 'sybils', sybilShare: 0.6, preTrusted: 1 },
  sybil60_pre3: { attack: 'sybils', sybilShare: 0.6, preTrusted: 3 },
  sybil60camo_pre3: { attack: 'sybilsCamouflaged', sybilShare: 0.6, preTrusted: 3 },
  stealth15_pre3: { attack: 'stealth', joining: 15, preTrusted: 3 },
  idle20: { attack: 'idle', joining: 20 },
  idle2000: { attack: 'idle', joining: 2000 },
  invented20: { attack: 'invented', joining: 20 },
  reportonly: { attack: 'none', reportOnly: true },
  reportonly_flood1: { attack: 'flood', within: 1, reportOnly: true },
} as const satisfies Record<string, Kind>;

export type KindName = keyof typeof kinds;

export const kindNames = Object.keys(kinds) as KindName[];

/** The most popular honest peers are the pre-trusted ones. */
export function simulate(name: KindName, seed: number, size: GroupSize): TrustSet {
  const kind: Kind = kinds[name];
  const { within = 0, sybilShare = 0, preTrusted = 0, reportOnly = false } = kind;
  const joining = kind.joining ?? Math.round((sybilShare * size.peers) / (1 - sybilShare));
  const random = randomFrom(name, seed, size.peers, size.players);
  const { scene, popular } = honestScene(random, size.peers - within, size.players, reportOnly);
  const trusted = popular.slice(0, preTrusted);
  const adversaries = scene.addPeers(within + joining);
  const targets = attacks[kind.attack](scene, adversaries);
  return toTrustSet(scene, { name, preTrusted: trusted, adversaries, targets });
}

/** The kinds that make sense on real votes, where nobody is pre-trusted and every player was reported by several. */
export const injectedKinds = [
  'invert1',
  'flood1',
  'badmouth1',
  'ballot1',
  'camo1',
  'sleeper1',
  'collude2',
  'collude3',
  'idle20',
  'idle2000',
  'invented20',
] as const satisfies readonly KindName[];

export type InjectedKindName = (typeof injectedKinds)[number];

export function inject(set: TrustSet, name: InjectedKindName, seed: number): TrustSet {
  const kind: Kind = kinds[name];
  const scene = new Scene(randomFrom(set.name, name, seed), {
    peers: set.peers.length,
    players: set.players.length,
    observations: [...set.observations],
    truth: set.truth,
  });
  const adversaries = scene.addPeers((kind.within ?? 0) + (kind.joining ?? 0));
  const targets = attacks[kind.attack](scene, adversaries);
  return toTrustSet(scene, { name: `${set.name}+${name}`, preTrusted: set.preTrusted, adversaries, targets });
}

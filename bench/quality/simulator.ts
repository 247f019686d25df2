/**
 * The attack simulator: whole groups under a kind of attack, and real votes with injected attackers. A kind, a seed and
 * a size always give the same group.
 *
 * Injected attackers are new peers in a real set. They attack players of known truth, as many and as strongly as in a
 * simulated group. The honest votes stay unchanged, so the lost AUC is the effect of the attack alone.
 */
import type { TrustSet } from '../data/trust-set.js';
import { type Attack, type AttackName, attacks } from './attacks.js';
import { type AttemptName, attempts } from './attempts.js';
import { randomFrom } from './random.js';
import { type GroupSize, type Habits, honestScene, Scene, toTrustSet, usualHabits } from './scene.js';

/** Sets of kinds that a run can choose. The goals apply to `basic` and `new`, the kinds of the reference. */
export const kindSets = ['basic', 'new', 'more', 'attempts'] as const;

export type KindSet = (typeof kindSets)[number];

interface Kind {
  readonly set: KindSet;
  readonly attack: AttackName | AttemptName;
  /** Adversaries among the group's peers. */
  readonly within?: number;
  /** Adversaries that join in addition to the group's peers; `sybilShare` gives them as a share of all peers. */
  readonly joining?: number;
  readonly sybilShare?: number;
  /** The joining peers are importers of an honest peer's list, and not known as liars. */
  readonly importers?: true;
  readonly preTrusted?: number;
  readonly reportOnly?: true;
  /** The group's own size, which overrides the requested size. */
  readonly peers?: number;
  /** Factor on the requested number of players. */
  readonly playersFactor?: number;
  readonly habits?: Partial<Habits>;
}

/** Report-only groups of the `new` set, whose peers err less. */
function careful(contraryEventShare: number, onGood: Habits['onGood']) {
  return { reportOnly: true, playersFactor: 2, habits: { contraryEventShare, onGood } } as const;
}

const midHabits = careful(0.03, [0.93, 0.99]);
const cleanHabits = careful(0.01, [0.97, 0.995]);

/** Habits of report-only attempts whose honest peers also send `session_clean`. */
const sendingClean = { reportOnly: true, habits: { sessionClean: true } } as const;

export const kinds = {
  none: { set: 'basic', attack: 'none' },
  invert1: { set: 'basic', attack: 'invert', within: 1 },
  flood1: { set: 'basic', attack: 'flood', within: 1 },
  badmouth1: { set: 'basic', attack: 'badmouth', within: 1 },
  ballot1: { set: 'basic', attack: 'ballot', within: 1 },
  camo1: { set: 'basic', attack: 'camouflage', within: 1 },
  sleeper1: { set: 'basic', attack: 'sleeper', within: 1 },
  collude2: { set: 'basic', attack: 'collude', within: 2 },
  collude3: { set: 'basic', attack: 'collude', within: 3 },
  colludebad3: { set: 'basic', attack: 'colludeLowering', within: 3 },
  collude2_pre1: { set: 'basic', attack: 'collude', within: 2, preTrusted: 1 },
  collude3_pre2: { set: 'basic', attack: 'collude', within: 3, preTrusted: 2 },
  sybil60_pre1: { set: 'basic', attack: 'sybils', sybilShare: 0.6, preTrusted: 1 },
  sybil60_pre3: { set: 'basic', attack: 'sybils', sybilShare: 0.6, preTrusted: 3 },
  sybil60camo_pre3: { set: 'basic', attack: 'sybilsCamouflaged', sybilShare: 0.6, preTrusted: 3 },
  reportonly: { set: 'basic', attack: 'none', reportOnly: true },
  reportonly_flood1: { set: 'basic', attack: 'flood', within: 1, reportOnly: true },

  copied3: { set: 'new', attack: 'importList', joining: 3, importers: true },
  copied3own: { set: 'new', attack: 'importListAndJudge', joining: 3, importers: true },
  reportonly_copied3: { set: 'new', attack: 'importList', joining: 3, importers: true, reportOnly: true },
  reportonly_copied3own: { set: 'new', attack: 'importListAndJudge', joining: 3, importers: true, reportOnly: true },
  reportonly_clean: { set: 'new', attack: 'none', ...cleanHabits },
  reportonly_mid: { set: 'new', attack: 'none', ...midHabits },
  reportonly_mid_liar1: { set: 'new', attack: 'reportVictims', joining: 1, ...midHabits },
  reportonly_mid_liar2: { set: 'new', attack: 'reportVictims', joining: 2, ...midHabits },
  colludecamo2: { set: 'new', attack: 'colludeCamouflaged', within: 2 },
  colludecamo3: { set: 'new', attack: 'colludeCamouflaged', within: 3 },
  colludecamo3_pre2: { set: 'new', attack: 'colludeCamouflaged', within: 3, preTrusted: 2 },
  sybil60: { set: 'new', attack: 'sybils', sybilShare: 0.6 },
  sybil60camo_pre1: { set: 'new', attack: 'sybilsCamouflaged', sybilShare: 0.6, preTrusted: 1 },
  collude3of8: { set: 'new', attack: 'collude', within: 3, peers: 8 },

  stealth15_pre3: { set: 'more', attack: 'stealth', joining: 15, preTrusted: 3 },
  idle20: { set: 'more', attack: 'idle', joining: 20 },
  idle2000: { set: 'more', attack: 'idle', joining: 2000 },
  invented20: { set: 'more', attack: 'invented', joining: 20 },

  noisyclones3: { set: 'attempts', attack: 'noisyClones', joining: 3 },
  halfclones3: { set: 'attempts', attack: 'halfClones', joining: 3 },
  halfclones3_pre2: { set: 'attempts', attack: 'halfClones', joining: 3, preTrusted: 2 },
  paddedclones3: { set: 'attempts', attack: 'paddedClones', joining: 3 },
  framedclone1: { set: 'attempts', attack: 'framedClone', joining: 1 },
  praiser1: { set: 'attempts', attack: 'praiser', joining: 1 },
  reportonly_praiser1: { set: 'attempts', attack: 'praiser', joining: 1, reportOnly: true },
  reportonly_cleanwash1: { set: 'attempts', attack: 'cleanWash', joining: 1, ...sendingClean },
  reportonly_cleanwash3: { set: 'attempts', attack: 'cleanWash', joining: 3, ...sendingClean },
  reportonly_cleancopied3own: { set: 'attempts', attack: 'importListAndJudge', joining: 3, ...sendingClean },
  latejoiner1: { set: 'attempts', attack: 'lateJoiner', joining: 1 },
  operator5: { set: 'attempts', attack: 'oneOperator', joining: 5 },
  reportonly_operator5: { set: 'attempts', attack: 'oneOperator', joining: 5, reportOnly: true },
  reportonly_operator5_pre2: { set: 'attempts', attack: 'oneOperator', joining: 5, reportOnly: true, preTrusted: 2 },
  overlappinglists8: { set: 'attempts', attack: 'overlappingLists', joining: 8 },
  reportonly_overlappinglists8: { set: 'attempts', attack: 'overlappingLists', joining: 8, reportOnly: true },
  drift1: { set: 'attempts', attack: 'drift', joining: 1 },
  clique3: { set: 'attempts', attack: 'clique', joining: 3 },
  clique3_pre2: { set: 'attempts', attack: 'clique', joining: 3, preTrusted: 2 },
  freshcrowd33: { set: 'attempts', attack: 'freshCrowd', joining: 33 },
  freshcrowd33_pre2: { set: 'attempts', attack: 'freshCrowd', joining: 33, preTrusted: 2 },
} as const satisfies Record<string, Kind>;

export type KindName = keyof typeof kinds;

export const kindNames = Object.keys(kinds) as KindName[];

export function kindsOf(sets: readonly string[]): KindName[] {
  return kindNames.filter((name) => sets.includes(kinds[name].set));
}

export function isReportOnly(name: KindName): boolean {
  return 'reportOnly' in kinds[name];
}

const everyAttack: Readonly<Record<AttackName | AttemptName, Attack>> = { ...attacks, ...attempts };

/** Simulates a group. The most popular honest peers are the pre-trusted ones. `habits` override those of the kind. */
export function simulate(name: KindName, seed: number, size: GroupSize, habits: Partial<Habits> = {}): TrustSet {
  const kind: Kind = kinds[name];
  const { within = 0, sybilShare = 0, preTrusted = 0, reportOnly = false, playersFactor = 1 } = kind;
  const peers = kind.peers ?? size.peers;
  const players = size.players * playersFactor;
  const joining = kind.joining ?? Math.round((sybilShare * peers) / (1 - sybilShare));
  const random = randomFrom(name, seed, peers, size.players);
  const { scene, popular } = honestScene(random, peers - within, players, reportOnly, {
    ...usualHabits,
    ...kind.habits,
    ...habits,
  });
  const trusted = popular.slice(0, preTrusted);
  const added = scene.addPeers(within + joining);
  const targets = everyAttack[kind.attack](scene, added);
  return toTrustSet(scene, { name, preTrusted: trusted, adversaries: kind.importers ? [] : added, targets });
}

/** The kinds that apply to real votes, where no peer is pre-trusted and every player was reported by several. */
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
  const targets = everyAttack[kind.attack](scene, adversaries);
  return toTrustSet(scene, { name: `${set.name}+${name}`, preTrusted: set.preTrusted, adversaries, targets });
}

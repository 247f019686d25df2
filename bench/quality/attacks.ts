/**
 * Attacks on a group. Every attack adds the reports of the adversaries to a scene and returns the targeted players. A
 * lie lowers a good player or raises a bad one. Attempts to break the scoring are in `attempts.ts`.
 *
 * `stealth`: Sybils without invented subjects that report honestly on more than half of the players, so that each
 * agrees with the honest peers, and lie together on as many targets as other Sybils. `idle` and `invented` do not lie:
 * their peers only registered, or each reported one player of their own, to shift medians over peers. `importList` and
 * `importListAndJudge` do not lie either: they import the list of one honest but careless peer.
 */
import { poisson, sample } from './random.js';
import { attackerSkill, type Scene, type Skill } from './scene.js';

/** Returns the targeted players. */
export type Attack = (scene: Scene, adversaries: readonly number[]) => number[];

const seenShare = 0.35;
/** Chosen so that the first form of peer trust misjudges about a third of the targets, as when the goal was set. */
const stealthySeenShare = 0.55;
const sybilSkill: Skill = { onBad: 0.8, onGood: 0.95 };
const importedShare = 0.95;
/** Number and accuracy of the judgements that importers of a list make themselves. */
const ownJudgements = 400;
const importerSkill: Skill = { onBad: 0.75, onGood: 0.94 };
const victimMasses = [0.7, 1, 1.7, 2.5];

export type AttackName = keyof typeof attacks;

export const attacks = {
  none: () => [],
  idle: () => [],

  invert(scene, [adversary]) {
    const seen = seenPlayers(scene, seenShare);
    for (const player of seen) scene.lie(adversary!, player, 1 + poisson(scene.random, 0.8));
    return seen;
  },

  flood(scene, [adversary]) {
    const targets = ([0, 1] as const).flatMap((bad) => part(scene, scene.knownPlayers(bad), 0.2));
    for (const player of targets) scene.lie(adversary!, player, 50);
    return targets;
  },

  badmouth: (scene, [adversary]) => {
    return lieAmidHonesty(scene, adversary!, () => sample(scene.knownPlayers(0), 100, scene.random));
  },
  ballot: (scene, [adversary]) => {
    return lieAmidHonesty(scene, adversary!, () => part(scene, scene.knownPlayers(1), 0.5));
  },
  camouflage: (scene, [adversary]) => lieAmidHonesty(scene, adversary!, (seen) => part(scene, seen, 0.05)),

  sleeper(scene, [adversary]) {
    const seen = seenPlayers(scene, seenShare);
    const honestFor = Math.floor(0.7 * seen.length);
    for (const player of seen.slice(0, honestFor)) scene.reportHonestly(adversary!, player, attackerSkill);
    const targets = seen.slice(honestFor);
    for (const player of targets) scene.lie(adversary!, player, 3);
    return targets;
  },

  collude,
  colludeLowering: (scene, adversaries) => {
    return lieTogether(scene, adversaries, sample(scene.knownPlayers(0), 250, scene.random), 1500, 1);
  },
  colludeCamouflaged: (scene, adversaries) => camouflaged(scene, adversaries, collude(scene, adversaries)),
  sybils,
  sybilsCamouflaged: (scene, adversaries) => camouflaged(scene, adversaries, sybils(scene, adversaries)),

  importList: (scene, importers) => importList(scene, importers, false),
  importListAndJudge: (scene, importers) => importList(scene, importers, true),

  reportVictims(scene, adversaries) {
    const victims = sample(scene.knownPlayers(0), 300, scene.random);
    for (const adversary of adversaries) {
      for (const player of victims) {
        reportMass(scene, adversary, player, victimMasses[Math.floor(scene.random() * victimMasses.length)]!);
      }
    }
    return victims;
  },

  stealth(scene, adversaries) {
    const targets = bothKinds(scene);
    for (const player of targets) {
      for (const adversary of adversaries) scene.lie(adversary, player, 3);
    }
    reportHonestly(scene, adversaries, without(seenPlayers(scene, stealthySeenShare), targets), sybilSkill, 1);
    return targets;
  },

  invented(scene, adversaries) {
    for (const adversary of adversaries) scene.report(adversary, scene.addPlayers(1)[0]!, -1, 1);
    return [];
  },
} as const satisfies Readonly<Record<string, Attack>>;

/** Reports events of severity 1 and one of the remainder, which lower the player by `mass` in total. */
function reportMass(scene: Scene, peer: number, player: number, mass: number): void {
  let left = mass;
  for (; left > 1; left--) scene.report(peer, player, -1, 1);
  scene.report(peer, player, -1, left);
}

/**
 * Lets each importer lower nearly every player that the second largest peer mostly lowers. Returns the good players
 * among them.
 */
function importList(scene: Scene, importers: readonly number[], judge: boolean): number[] {
  const { random, truth } = scene;
  const list = loweredBy(scene, scene.peersBySize()[1]!);
  const known = scene.reportedPlayers();
  for (const importer of importers) {
    const imported = list.filter(() => random() < importedShare);
    for (const player of imported) scene.report(importer, player, -1, 1);
    if (!judge) continue;
    const own = Math.min(ownJudgements, Math.floor(known.length / 2));
    for (const player of sample(without(known, imported), own, random)) {
      const lowers = random() < (truth.get(player) === 1 ? importerSkill.onBad : 1 - importerSkill.onGood);
      if (lowers || !scene.isReportOnly) scene.report(importer, player, lowers ? -1 : 1, 1);
    }
  }
  return list.filter((player) => truth.get(player) === 0);
}

/** Returns the players that a peer mostly lowers. */
export function loweredBy(scene: Scene, peer: number): number[] {
  return [...scene.entriesOf(peer)].filter(([, { lowering, raising }]) => lowering > raising).map(([player]) => player);
}

export function seenPlayers(scene: Scene, share: number): number[] {
  return part(scene, scene.knownPlayers(), share);
}

export function part(scene: Scene, players: readonly number[], share: number): number[] {
  return sample(players, Math.floor(share * players.length), scene.random);
}

export function without(players: readonly number[], excluded: Iterable<number>): number[] {
  const gone = new Set(excluded);
  return players.filter((player) => !gone.has(player));
}

function bothKinds(scene: Scene): number[] {
  return [...sample(scene.knownPlayers(0), 200, scene.random), ...part(scene, scene.knownPlayers(1), 0.5)];
}

export function reportHonestly(
  scene: Scene,
  peers: readonly number[],
  players: readonly number[],
  skill: Skill,
  share: number,
): void {
  for (const player of players) {
    for (const peer of peers) {
      if (share === 1 || scene.random() < share) scene.reportHonestly(peer, player, skill);
    }
  }
}

function collude(scene: Scene, adversaries: readonly number[]): number[] {
  return lieTogether(scene, adversaries, bothKinds(scene), 1500, 0.5);
}

function sybils(scene: Scene, adversaries: readonly number[]): number[] {
  return lieTogether(scene, adversaries, bothKinds(scene), 1000, 0.5);
}

/** Lets the adversaries report some of the other players honestly. Returns the targets. */
function camouflaged(scene: Scene, adversaries: readonly number[], targets: number[]): number[] {
  reportHonestly(scene, adversaries, without(seenPlayers(scene, 0.2), targets), sybilSkill, 0.5);
  return targets;
}

/** Reports a third of the players honestly and lies 20 times on each target. */
function lieAmidHonesty(scene: Scene, adversary: number, choose: (seen: readonly number[]) => number[]): number[] {
  const seen = seenPlayers(scene, seenShare);
  const targets = choose(seen);
  reportHonestly(scene, [adversary], without(seen, targets), attackerSkill, 1);
  for (const player of targets) scene.lie(adversary, player, 20);
  return targets;
}

/**
 * Lets each adversary lie three times on the targets and agree fully on invented subjects, of which `loweredShare` are
 * lowered.
 */
function lieTogether(
  scene: Scene,
  adversaries: readonly number[],
  targets: number[],
  inventedSubjects: number,
  loweredShare: number,
): number[] {
  for (const player of targets) {
    for (const adversary of adversaries) scene.lie(adversary, player, 3);
  }
  for (const player of scene.addPlayers(inventedSubjects)) {
    const polarity = scene.random() < loweredShare ? -1 : 1;
    for (const adversary of adversaries) {
      for (let k = 0; k < 2; k++) scene.report(adversary, player, polarity, 1);
    }
  }
  return targets;
}

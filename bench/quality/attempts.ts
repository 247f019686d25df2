/**
 * Attempts to break the scoring: attacks by adversaries who know the method. Each adds the reports of peers that join
 * an honest group, and returns the targeted players.
 */
import { type Attack, loweredBy, part, reportHonestly, seenPlayers, without } from './attacks.js';
import { sample } from './random.js';
import { attackerSkill, type Scene, type Skill } from './scene.js';

export type AttemptName = keyof typeof attempts;

const victimCount = 150;
const cliqueSkill: Skill = { onBad: 0.95, onGood: 0.97 };

export const attempts = {
  /** Peers repeat nine tenths of the votes of a list that contains lies, and vote themselves on the rest. */
  noisyClones(scene, clones) {
    const targets = victims(scene);
    const seen = without(seenPlayers(scene, 0.35), targets);
    const master = new Map(seen.map((player) => [player, votesBad(scene, player, attackerSkill)]));
    for (const player of targets) master.set(player, true);
    for (const clone of clones) {
      for (const [player, bad] of master) {
        vote(scene, clone, player, scene.random() < 0.9 ? bad : votesBad(scene, player, attackerSkill));
      }
    }
    return targets;
  },

  /** Half of the votes of each clone are shared, lies included. The other half is its own and honest. */
  halfClones(scene, clones) {
    const targets = victims(scene);
    const shared = without(sample(scene.knownPlayers(), 250, scene.random), targets);
    const common = shared.map((player) => [player, votesBad(scene, player, attackerSkill)] as const);
    for (const clone of clones) {
      for (const player of targets) vote(scene, clone, player, true);
      for (const [player, bad] of common) vote(scene, clone, player, bad);
      const own = without(sample(scene.knownPlayers(), 600, scene.random), [...shared, ...targets]);
      reportHonestly(scene, [clone], own.slice(0, shared.length + targets.length), attackerSkill, 1);
    }
    return targets;
  },

  /** Each clone reports its own invented players, so that the shared part of their lists is small. */
  paddedClones(scene, clones) {
    const targets = victims(scene);
    for (const clone of clones) {
      for (const player of targets) vote(scene, clone, player, true);
      for (const player of scene.addPlayers(400)) vote(scene, clone, player, true);
      reportHonestly(scene, [clone], without(seenPlayers(scene, 0.2), targets), attackerSkill, 1);
    }
    return targets;
  },

  /**
   * A copier repeats the largest honest peer, so that both count as one witness, with more evidence than that peer. It
   * lies on as many shared players as clones may differ on, and on players that the honest peer did not report.
   */
  framedClone(scene, [copier]) {
    const framed = scene.entriesOf(scene.peersBySize()[0]!);
    const contradicted = sample([...framed.keys()], Math.floor(0.009 * framed.size), scene.random);
    const others = sample(without(scene.knownPlayers(0), framed.keys()), victimCount, scene.random);
    for (const [player, { lowering, raising }] of framed) {
      if (contradicted.includes(player)) scene.lie(copier!, player, 3);
      else repeatEntry(scene, copier!, player, lowering, raising);
    }
    for (const player of others) scene.lie(copier!, player, 3);
    return [...contradicted, ...others];
  },

  /** A liar praises good players and lowers bad ones, so that it counts as two-sided and right. */
  praiser(scene, [liar]) {
    const targets = victims(scene);
    for (const player of sample(without(scene.knownPlayers(0), targets), 400, scene.random)) {
      vote(scene, liar!, player, false);
    }
    for (const player of part(scene, scene.knownPlayers(1), 0.3)) vote(scene, liar!, player, true);
    for (const player of targets) scene.lie(liar!, player, 3);
    return targets;
  },

  /**
   * Peers send thirty `session_clean` about each of half the bad players. Honest peers send it about a third of the
   * others.
   */
  cleanWash(scene, washers) {
    const targets = part(scene, scene.knownPlayers(1), 0.5);
    const seen = without(seenPlayers(scene, 0.35), targets);
    for (const washer of washers) {
      reportHonestly(scene, [washer], seen, attackerSkill, 1);
      for (const player of targets) {
        for (let day = 0; day < 30; day++) scene.reportSessionClean(washer, player);
      }
    }
    return targets;
  },

  /** A peer joins late with forty honest reports, then lies about sixty good players. */
  lateJoiner(scene, [late]) {
    const targets = sample(scene.knownPlayers(0), 60, scene.random);
    reportHonestly(scene, [late!], sample(without(scene.knownPlayers(), targets), 40, scene.random), attackerSkill, 1);
    for (const player of targets) scene.lie(late!, player, 3);
    return targets;
  },

  /**
   * The peers of one operator judge players of their own, and each bans most of the operator's list of good players.
   */
  oneOperator(scene, peers) {
    const targets = victims(scene);
    for (const peer of peers) {
      reportHonestly(scene, [peer], without(seenPlayers(scene, 0.15), targets), attackerSkill, 1);
      for (const player of targets) if (scene.random() < 0.8) scene.lie(peer, player, 2);
    }
    return targets;
  },

  /** Two careless lists overlap: three peers import the first, three the second, and the others both. */
  overlappingLists(scene, importers) {
    const [, first, second] = scene.peersBySize();
    const lists = [loweredBy(scene, first!), loweredBy(scene, second!)] as const;
    const both = [...new Set(lists.flat())];
    importers.forEach((importer, i) => {
      const list = i < 3 ? lists[0] : i < 6 ? lists[1] : both;
      for (const player of list) if (scene.random() < 0.95) scene.report(importer, player, -1, 1);
    });
    return both.filter((player) => scene.truth.get(player) === 0);
  },

  /** A peer lies about a growing share of the players that it sees, from none to half. */
  drift(scene, [drifter]) {
    const seen = seenPlayers(scene, 0.35);
    return seen.filter((player, i) => {
      const lies = scene.random() < (0.5 * i) / seen.length;
      if (lies) scene.lie(drifter!, player, 3);
      else scene.reportHonestly(drifter!, player, attackerSkill);
      return lies;
    });
  },

  /** Peers judge well and alike, and lie together about a twentieth of the players that they see. */
  clique(scene, members) {
    const seen = seenPlayers(scene, 0.35);
    const targets = part(
      scene,
      seen.filter((player) => scene.truth.get(player) === 0),
      0.05,
    );
    for (const member of members) {
      for (const player of targets) scene.lie(member, player, 3);
      reportHonestly(scene, [member], without(seen, targets), cliqueSkill, 1);
    }
    return targets;
  },

  /** Fresh peers each lower twenty of the same forty good players, once. */
  freshCrowd(scene, peers) {
    const targets = sample(scene.knownPlayers(0), 40, scene.random);
    for (const peer of peers) for (const player of sample(targets, 20, scene.random)) scene.lie(peer, player, 1);
    return targets;
  },
} as const satisfies Readonly<Record<string, Attack>>;

function victims(scene: Scene): number[] {
  return sample(scene.knownPlayers(0), victimCount, scene.random);
}

function votesBad({ random, truth }: Scene, player: number, { onBad, onGood }: Skill): boolean {
  return random() < (truth.get(player) === 1 ? onBad : 1 - onGood);
}

/** Sends two events of severity 1. */
function vote(scene: Scene, peer: number, player: number, bad: boolean): void {
  for (let k = 0; k < 2; k++) scene.report(peer, player, bad ? -1 : 1, 1);
}

/** Repeats the entry's share of lowering mass, with a total mass of at least 1. */
function repeatEntry(scene: Scene, peer: number, player: number, lowering: number, raising: number): void {
  const scale = Math.max(1, 1 / (lowering + raising));
  for (const [mass, polarity] of [
    [lowering * scale, -1],
    [raising * scale, 1],
  ] as const) {
    for (let left = mass; left > 0; left--) scene.report(peer, player, polarity, Math.min(1, left));
  }
}

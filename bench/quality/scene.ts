/**
 * A group before anybody attacks it: players, honest peers and what these reported. Honest peers and their reports follow the
 * distributions that the expected figures in `attack-reference.ts` were made with.
 */
import type { Observation, TrustSet } from '../data/trust-set.js';
import { poisson, type Random, uniform, weightedIndex, weightedSample } from './random.js';

/** How well a peer tells bad players from good ones: the share of each that it reports rightly. */
export interface Skill {
  readonly onBad: number;
  readonly onGood: number;
}

export interface GroupSize {
  /** Peers without Sybils; single adversaries and colluders are among them. */
  readonly peers: number;
  readonly players: number;
}

export const attackerSkill: Skill = { onBad: 0.75, onGood: 0.95 };

const badShare = 0.05;
const raisingShare = 0.7;
const reportersExponent = 1.5;
const popularityExponent = 0.6;
const contraryEventShare = 0.1;
const extraEventsMean = 0.8;
const severityMin = 0.4;

/** What attacks work on: observations grow as peers report, players and peers are numbers. */
export class Scene {
  readonly random: Random;
  readonly observations: Observation[];
  readonly truth: ReadonlyMap<number, 0 | 1>;
  peers: number;
  players: number;
  /** Whether good votes are ever sent; a report-only group sends none. */
  readonly #raisingShare: number;

  constructor(
    random: Random,
    start: Pick<Scene, 'peers' | 'players' | 'observations' | 'truth'> & { reportOnly?: boolean },
  ) {
    this.random = random;
    this.peers = start.peers;
    this.players = start.players;
    this.observations = start.observations;
    this.truth = start.truth;
    this.#raisingShare = start.reportOnly ? 0 : raisingShare;
  }

  addPeers(count: number): number[] {
    const first = this.peers;
    this.peers += count;
    return Array.from({ length: count }, (_, i) => first + i);
  }

  /** Invented subjects, whose truth nobody knows. */
  addPlayers(count: number): number[] {
    const first = this.players;
    this.players += count;
    return Array.from({ length: count }, (_, i) => first + i);
  }

  knownPlayers(bad?: 0 | 1): number[] {
    return [...this.truth].filter(([, label]) => bad === undefined || label === bad).map(([player]) => player);
  }

  report(peer: number, player: number, polarity: -1 | 1, severity: number): void {
    this.observations.push({ peer, player, polarity, severity, timestampMs: null });
  }

  /** `count` events of full severity against the truth. */
  lie(peer: number, player: number, count: number): void {
    const polarity = this.truth.get(player) === 0 ? -1 : 1;
    for (let k = 0; k < count; k++) this.report(peer, player, polarity, 1);
  }

  /**
   * One honest peer's events on one player: one vote, one event and a few more, a tenth of them contrary. Of good votes
   * only a part is sent at all; a report-only group sends events that lower trust and no others.
   */
  reportHonestly(peer: number, player: number, skill: Skill): void {
    const { random } = this;
    const bad = this.truth.get(player) === 1;
    const votesBad = random() < (bad ? skill.onBad : 1 - skill.onGood);
    const events = Array.from({ length: 1 + poisson(random, extraEventsMean) }, () => ({
      bad: random() < contraryEventShare ? !votesBad : votesBad,
      severity: uniform(random, severityMin, 1),
    }));
    const sent = votesBad || this.#raisingShare === 0 || random() < this.#raisingShare;
    if (!sent) return;
    for (const event of events) {
      if (event.bad || this.#raisingShare > 0) this.report(peer, player, event.bad ? -1 : 1, event.severity);
    }
  }
}

/** An honest group, and its peers with the most players first. */
export function honestScene(
  random: Random,
  peers: number,
  players: number,
  reportOnly: boolean,
): { scene: Scene; popular: readonly number[] } {
  const truth = new Map(Array.from({ length: players }, (_, i) => [i, random() < badShare ? 1 : 0] as const));
  const skills = Array.from({ length: peers }, () => ({
    onBad: uniform(random, 0.55, 0.9),
    onGood: uniform(random, 0.9, 0.98),
  }));
  const popular = weightedSample(new Array<number>(peers).fill(1), peers, random);
  const popularity = new Array<number>(peers);
  popular.forEach((peer, rank) => {
    popularity[peer] = (1 + rank) ** -popularityExponent;
  });
  const reporters = Array.from({ length: peers }, (_, i) => (i + 1) ** -reportersExponent);
  const scene = new Scene(random, { peers, players, observations: [], truth, reportOnly });
  for (let player = 0; player < players; player++) {
    const count = 1 + weightedIndex(reporters, random);
    for (const peer of weightedSample(popularity, count, random)) scene.reportHonestly(peer, player, skills[peer]!);
  }
  return { scene, popular };
}

/** The finished group as a data set: players that nobody reported are left out. */
export function toTrustSet(
  scene: Scene,
  roles: Pick<TrustSet, 'name' | 'preTrusted' | 'adversaries'> & { readonly targets: readonly number[] },
): TrustSet {
  const reported = [...new Set(scene.observations.map(({ player }) => player))].sort((i, j) => i - j);
  const renumbered = new Map(reported.map((player, i) => [player, i]));
  const truth = new Map<number, 0 | 1>();
  for (const [player, bad] of scene.truth) {
    const index = renumbered.get(player);
    if (index !== undefined) truth.set(index, bad);
  }
  return {
    ...roles,
    peers: Array.from({ length: scene.peers }, (_, j) => `p${j}`),
    players: reported.map((player) => `s${player}`),
    observations: scene.observations.map((seen) => ({ ...seen, player: renumbered.get(seen.player)! })),
    truth,
    targets: roles.targets.map((player) => renumbered.get(player)).filter((player) => player !== undefined),
  };
}

/**
 * A group before any attack: players, honest peers and their reports. Honest peers and their reports follow the
 * distributions of the reference simulator, whose figures are in `attack-reference.ts`.
 */
import type { Observation, TrustSet } from '../data/trust-set.js';
import { poisson, type Random, uniform, weightedIndex, weightedSample } from './random.js';

/** Accuracy of a peer: the shares of bad and good players that it reports rightly. */
export interface Skill {
  readonly onBad: number;
  readonly onGood: number;
}

/** Mass of a peer's events on one player. */
export interface Entry {
  readonly lowering: number;
  readonly raising: number;
}

export interface GroupSize {
  /** Peers without Sybils; includes single adversaries and colluders. */
  readonly peers: number;
  readonly players: number;
}

export interface Habits {
  /** Share of the events of one peer on one player that contradict its vote. */
  readonly contraryEventShare: number;
  /** Range of the share of good players that an honest peer judges rightly. */
  readonly onGood: readonly [low: number, high: number];
  /**
   * In a group that sends no good votes: whether a peer sends a `session_clean` for each day on which it saw a player
   * and found nothing.
   */
  readonly sessionClean: boolean;
}

export const usualHabits: Habits = { contraryEventShare: 0.1, onGood: [0.9, 0.98], sessionClean: false };

export const sessionCleanMass = 0.3;

export const attackerSkill: Skill = { onBad: 0.75, onGood: 0.95 };

const badShare = 0.05;
const raisingShare = 0.7;
const reportersExponent = 1.5;
const popularityExponent = 0.6;
const extraEventsMean = 0.8;
const severityMin = 0.4;

/** A group that attacks change. Observations grow as peers report. Players and peers are numbers. */
export class Scene {
  readonly random: Random;
  readonly habits: Habits;
  readonly observations: Observation[];
  /** Kept separate, so that attacks find the same group with these events and without them. */
  readonly cleanSessions: Observation[] = [];
  readonly truth: ReadonlyMap<number, 0 | 1>;
  peers: number;
  players: number;
  /** Share of good votes that are sent; 0 in a report-only group. */
  readonly #raisingShare: number;

  constructor(
    random: Random,
    start: Pick<Scene, 'peers' | 'players' | 'observations' | 'truth'> & { reportOnly?: boolean; habits?: Habits },
  ) {
    this.random = random;
    this.habits = start.habits ?? usualHabits;
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

  /** Adds invented subjects of unknown truth, and returns their numbers. */
  addPlayers(count: number): number[] {
    const first = this.players;
    this.players += count;
    return Array.from({ length: count }, (_, i) => first + i);
  }

  knownPlayers(bad?: 0 | 1): number[] {
    return [...this.truth].filter(([, label]) => bad === undefined || label === bad).map(([player]) => player);
  }

  get isReportOnly(): boolean {
    return this.#raisingShare === 0;
  }

  report(peer: number, player: number, polarity: -1 | 1, severity: number): void {
    this.observations.push({ peer, player, polarity, severity, timestampMs: null });
  }

  reportSessionClean(peer: number, player: number): void {
    this.cleanSessions.push({ peer, player, polarity: 1, severity: sessionCleanMass, timestampMs: null });
  }

  /** Returns the mass of each player that a peer reported, in the order of its first report. */
  entriesOf(peer: number): Map<number, Entry> {
    const entries = new Map<number, Entry>();
    for (const { player, polarity, severity, peer: by } of this.observations) {
      if (by !== peer) continue;
      const { lowering, raising } = entries.get(player) ?? { lowering: 0, raising: 0 };
      entries.set(
        player,
        polarity < 0 ? { lowering: lowering + severity, raising } : { lowering, raising: raising + severity },
      );
    }
    return entries;
  }

  /** Returns the peers, those with the most reported players first. */
  peersBySize(): number[] {
    const sizes = Array.from({ length: this.peers }, () => new Set<number>());
    for (const { peer, player } of this.observations) sizes[peer]!.add(player);
    return sizes.map((_, peer) => peer).sort((j, k) => sizes[k]!.size - sizes[j]!.size);
  }

  /** Returns the players of known truth that some peer has reported. */
  reportedPlayers(): number[] {
    const reported = new Set(this.observations.map(({ player }) => player));
    return [...this.truth.keys()].filter((player) => reported.has(player));
  }

  /** Reports `count` events of full severity against the truth. */
  lie(peer: number, player: number, count: number): void {
    const polarity = this.truth.get(player) === 0 ? -1 : 1;
    for (let k = 0; k < count; k++) this.report(peer, player, polarity, 1);
  }

  /**
   * Reports one honest peer's events on one player: one vote, and one or a few events, some of them contrary. Only a
   * part of the good votes is sent. A report-only group sends only events that lower trust, and `session_clean`.
   */
  reportHonestly(peer: number, player: number, skill: Skill): void {
    const { random, habits } = this;
    const bad = this.truth.get(player) === 1;
    const votesBad = random() < (bad ? skill.onBad : 1 - skill.onGood);
    const events = Array.from({ length: 1 + poisson(random, extraEventsMean) }, () => ({
      bad: random() < habits.contraryEventShare ? !votesBad : votesBad,
      severity: uniform(random, severityMin, 1),
    }));
    const sent = votesBad || this.isReportOnly || random() < this.#raisingShare;
    if (!sent) return;
    for (const event of events) {
      if (event.bad || !this.isReportOnly) this.report(peer, player, event.bad ? -1 : 1, event.severity);
      else if (habits.sessionClean) this.reportSessionClean(peer, player);
    }
  }
}

/** Makes an honest group. The peers with the most players come first. */
export function honestScene(
  random: Random,
  peers: number,
  players: number,
  reportOnly: boolean,
  habits: Habits = usualHabits,
): { scene: Scene; popular: readonly number[] } {
  const truth = new Map(Array.from({ length: players }, (_, i) => [i, random() < badShare ? 1 : 0] as const));
  const skills = Array.from({ length: peers }, () => ({
    onBad: uniform(random, 0.55, 0.9),
    onGood: uniform(random, ...habits.onGood),
  }));
  const popular = weightedSample(new Array<number>(peers).fill(1), peers, random);
  const popularity = new Array<number>(peers);
  popular.forEach((peer, rank) => {
    popularity[peer] = (1 + rank) ** -popularityExponent;
  });
  const reporters = Array.from({ length: peers }, (_, i) => (i + 1) ** -reportersExponent);
  const scene = new Scene(random, { peers, players, observations: [], truth, reportOnly, habits });
  for (let player = 0; player < players; player++) {
    const count = 1 + weightedIndex(reporters, random);
    for (const peer of weightedSample(popularity, count, random)) scene.reportHonestly(peer, player, skills[peer]!);
  }
  return { scene, popular };
}

/** Returns the finished group as a data set. Players without reports are left out. */
export function toTrustSet(
  scene: Scene,
  roles: Pick<TrustSet, 'name' | 'preTrusted' | 'adversaries'> & { readonly targets: readonly number[] },
): TrustSet {
  const observations = [...scene.observations, ...scene.cleanSessions];
  const numbers = numbered(observations);
  return {
    ...roles,
    peers: Array.from({ length: scene.peers }, (_, j) => `p${j}`),
    players: Array.from(numbers.keys(), (player) => `s${player}`),
    observations: observations.map((seen) => ({ ...seen, player: numbers.get(seen.player)! })),
    truth: new Map(
      [...scene.truth].flatMap(([player, bad]) => (numbers.has(player) ? [[numbers.get(player)!, bad] as const] : [])),
    ),
    targets: roles.targets.flatMap((player) => numbers.get(player) ?? []),
  };
}

/** Numbers the players of the events from 0 on, in the order of their numbers in the scene, which are the keys. */
export function numbered(events: readonly { readonly player: number }[]): Map<number, number> {
  const players = new Set(events.map(({ player }) => player));
  return new Map([...players].sort((i, j) => i - j).map((player, i) => [player, i]));
}

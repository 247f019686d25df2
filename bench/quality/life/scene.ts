/**
 * A group before any attack, simulated session by session. A peer sees a player for as long as he plays there.
 * Moderators review players who were reported, and ban some; a banned cheater moves to another peer; a good player who
 * was banned appeals.
 */
import type { LifeEvent } from '../../data/life-set.js';
import {
  beta,
  exponential,
  integer,
  normal,
  pareto,
  poisson,
  type Random,
  shuffle,
  uniform,
  weightedIndex,
  weightedSample,
} from '../random.js';
import type { GroupSize } from '../scene.js';

export type LifeEventType = LifeEvent['type'];

/** A profile names the events that peers send. In `hetero` each peer has one of the other profiles. */
export const profiles = ['bans', 'reports', 'mixed', 'full', 'hetero'] as const;

export type Profile = (typeof profiles)[number];

const banning: readonly LifeEventType[] = ['ban_applied', 'ban_lifted'];
const sentIn: Readonly<Record<Exclude<Profile, 'hetero'>, readonly LifeEventType[]>> = {
  bans: banning,
  reports: ['report_cheating'],
  mixed: ['report_cheating', ...banning],
  full: ['report_cheating', 'session_anomaly', ...banning, 'commendation', 'session_clean'],
};

const lifeDays = 150;
const badShare = 0.04;
/** A lifting that would lie beyond the last day is moved just before its end. */
const lastDay = lifeDays - 1e-3;

type Player = ReturnType<typeof makePlayer>;
type Habits = ReturnType<typeof makeHabits>;

/** A group under construction, to which attacks add events. Players and peers are numbers. */
export class LifeScene {
  readonly random: Random;
  readonly profile: Profile;
  readonly days = lifeDays;
  readonly players: readonly Player[];
  /** Honest peers; adversaries join after them. */
  readonly honestPeers: number;
  readonly popularity: readonly number[];
  /** In no order. Contains events of types that their peer does not send. */
  readonly events: LifeEvent[] = [];
  readonly #sends: Set<LifeEventType>[];

  constructor(random: Random, profile: Profile, { peers, players }: GroupSize) {
    this.random = random;
    this.profile = profile;
    this.honestPeers = peers;
    const reach = Array.from({ length: peers }, (_, i) => (i + 1) ** -1.5);
    this.players = Array.from({ length: players }, () => makePlayer(random, reach));
    const popularity = Array.from({ length: peers }, (_, rank) => (1 + rank) ** -0.6);
    shuffle(popularity, random);
    this.popularity = popularity;
    const mixture = ['bans', 'reports', 'mixed', 'full'] as const;
    this.#sends = popularity.map(
      () => new Set(sentIn[profile === 'hetero' ? mixture[integer(random, 0, mixture.length)]! : profile]),
    );
    const habits = popularity.map(() => makeHabits(random));
    for (const player of this.players.keys()) this.#live(player, habits);
  }

  addPeers(count: number): number[] {
    return Array.from({ length: count }, () => this.#sends.push(new Set()) - 1);
  }

  sends(peer: number, type: LifeEventType): boolean {
    return this.#sends[peer]!.has(type);
  }

  /** Adds an event of severity 1 and of one of the types, which the peer sends from now on. */
  lie(peer: number, player: number, types: readonly LifeEventType[], day: number): void {
    this.events.push({ peer, player, type: types[integer(this.random, 0, types.length)]!, severity: 1, day });
    for (const type of types) this.#sends[peer]!.add(type);
  }

  /** Like `lie`, some time after another event; on average `delayDays`. */
  lieAfter(day: number, delayDays: number, peer: number, player: number, types: readonly LifeEventType[]): void {
    this.lie(peer, player, types, Math.min(day + exponential(this.random, delayDays), lastDay));
  }

  /** Returns the events that are sent, in the order of arrival. */
  sentEvents(): LifeEvent[] {
    return this.events.filter(({ peer, type }) => this.sends(peer, type)).sort((a, b) => a.day - b.day);
  }

  playersThatAre(bad: boolean): number[] {
    return [...this.players.keys()].filter((player) => this.players[player]!.isBad === bad);
  }

  get peerCount(): number {
    return this.#sends.length;
  }

  /** Lets the player play at each of his peers, and at others after a ban. */
  #live(player: number, habits: readonly Habits[]): void {
    const { random, honestPeers, popularity } = this;
    const { isBad, meets } = this.players[player]!;
    const stays = weightedSample(popularity, meets, random).map((peer) => ({ peer, from: 0 }));
    for (const { peer, from } of stays) {
      const bannedOn = this.#play(player, peer, from, habits[peer]!);
      if (bannedOn === null || !isBad || stays.length === honestPeers || random() >= 0.7) continue;
      const others = habits.map((_, j) => j).filter((j) => stays.every((stay) => stay.peer !== j));
      stays.push({ peer: others[integer(random, 0, others.length)]!, from: bannedOn });
    }
  }

  /** Adds the events of a player's sessions at a peer. Returns the day of a ban that lasts, or null. */
  #play(player: number, peer: number, from: number, habits: Habits): number | null {
    const { random } = this;
    const { isBad, cheats, fame, oddity, activity, meets } = this.players[player]!;
    const count = poisson(random, (activity * (lifeDays - from)) / lifeDays / meets + 0.3);
    const sessions = Array.from({ length: count }, () => uniform(random, from, lifeDays)).sort((a, b) => a - b);
    let heat = 0;
    for (const day of sessions) {
      const add = (type: LifeEventType, severity: number, at = day) =>
        this.events.push({ peer, player, type, severity, day: at });
      const reports = poisson(random, isBad ? habits.reportsOfBad * cheats : habits.reportsOfGood * fame);
      const isAnomaly = random() < (isBad ? habits.anomaliesOfBad * cheats : habits.anomaliesOfGood * oddity);
      for (let k = 0; k < Math.min(reports, 4); k++) add('report_cheating', uniform(random, 0.5, 1));
      if (isAnomaly) add('session_anomaly', uniform(random, 0.4, 1));
      if (reports === 0 && !isAnomaly) {
        if (random() < (isBad ? 0.02 : 0.06)) add('commendation', uniform(random, 0.3, 1));
        if (random() < 0.25) add('session_clean', 1);
      }
      heat += reports + (isAnomaly ? 2 : 0);
      const isReviewed = heat >= habits.patience;
      if (!isReviewed && (isBad || random() >= habits.bansAtOnce)) continue;
      if (isReviewed) {
        heat = 0;
        if (random() >= (isBad ? habits.bansBad * (0.4 + 0.6 * cheats) : habits.bansGood)) continue;
      }
      add('ban_applied', 1);
      if (random() >= (isBad ? 0.03 : habits.hearsAppeals * 0.7)) return day;
      add('ban_lifted', 1, Math.min(day + exponential(random, 6), lastDay));
    }
    return null;
  }
}

function makePlayer(random: Random, reach: readonly number[]) {
  const isBad = random() < badShare;
  return {
    isBad,
    // How blatantly a bad player cheats, 0 to 1.
    cheats: isBad ? beta(random, 2.2, 1.2) : 0,
    // Factors on the reports and anomalies of a good player.
    fame: Math.exp(0.7 * normal(random)) * (random() < 0.02 ? 6 : 1),
    oddity: Math.exp(0.5 * normal(random)) * (random() < 0.01 ? 10 : 1),
    // Sessions over all days.
    activity: Math.min(pareto(random, 1.3) * 14 + 2, 300),
    // Number of peers that the player joins by himself.
    meets: 1 + weightedIndex(reach, random),
  };
}

function makeHabits(random: Random) {
  return {
    reportsOfBad: uniform(random, 0.15, 0.5),
    reportsOfGood: uniform(random, 0.004, 0.016),
    anomaliesOfBad: uniform(random, 0.05, 0.25),
    anomaliesOfGood: uniform(random, 0.0004, 0.002),
    // Reports and anomalies (which count twice) that lead to a review.
    patience: integer(random, 2, 5),
    bansBad: uniform(random, 0.5, 0.9),
    bansGood: uniform(random, 0.02, 0.2),
    bansAtOnce: uniform(random, 0, 0.0003),
    hearsAppeals: uniform(random, 0.3, 0.9),
  };
}

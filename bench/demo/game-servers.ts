/**
 * The twelve game servers of the demo: what each of them says about the players of its matches. All play fair in the
 * first part; then one lies, two collude, one is careless and one copies the careless one's list.
 */
import type { TrustEvent } from '../../src/client/write/submission.js';
import { type Random, uniform } from '../quality/random.js';
import type { Player, Population } from './players.js';

export type Role = 'honest' | 'careless' | 'repeats' | 'lies' | 'colludes';

export interface Character {
  readonly name: string;
  readonly role: Role;
}

export const characters: readonly Character[] = [
  { name: 'Arena EU', role: 'careless' },
  { name: 'Arena US', role: 'honest' },
  { name: 'Skyfall', role: 'honest' },
  { name: 'Ironfield', role: 'honest' },
  { name: 'Nightwatch', role: 'honest' },
  { name: 'Harbor', role: 'honest' },
  { name: 'Old Forest', role: 'honest' },
  { name: 'Redshift', role: 'honest' },
  { name: 'Copycat', role: 'repeats' },
  { name: 'Mirror', role: 'lies' },
  { name: 'Twin A', role: 'colludes' },
  { name: 'Twin B', role: 'colludes' },
];

export const gameId = 'arena';

/** Part of the players that a server ever meets, and how many it meets in one round of matches. */
const metShare = 0.5;
const playersPerRound = 12;
/** How well an honest server judges. */
const caughtShare = 0.75;
const takenForCleanShare = 0.12;
const wronglyReportedShare = 0.015;
const commendedShare = 0.4;
const minuteMs = 60_000;

type Statement = Pick<TrustEvent, 'eventType' | 'playerId' | 'severity' | 'at'>;

/** Makes the statements of each server, round by round. The same random stream makes the same statements. */
export class GameServers {
  readonly #population: Population;
  readonly #random: Random;
  readonly #met: readonly (readonly Player[])[];
  /** The careless server's list: its reports so far. The copier has sent the first `#copied` of them. */
  readonly #list: Statement[] = [];
  #copied = 0;

  constructor(population: Population, random: Random) {
    this.#population = population;
    this.#random = random;
    this.#met = characters.map(() => population.players.filter(() => random() < metShare));
  }

  /** The events of one round, per server in the order of `characters`. `now`: ms since 1970. */
  round(isFair: boolean, now: number): TrustEvent[][] {
    return characters.map(({ role }, i) => {
      const met = this.#match(this.#met[i]!);
      const statements = this.#statements(isFair ? 'honest' : role, met, now);
      if (role === 'careless')
        this.#list.push(...statements.filter(({ eventType }) => eventType === 'report_cheating'));
      return statements.map((one) => ({ ...one, gameId }));
    });
  }

  #statements(role: Role, met: readonly Player[], now: number): Statement[] {
    const { victims, friends, mistaken } = this.#population;
    const judge = (players: readonly Player[]) => players.flatMap((player) => this.#judged(player, now));
    if (role === 'lies') {
      return met.map(({ id, isCheater }) =>
        isCheater ? this.#say('commendation', id, 1, now) : this.#say('report_cheating', id, 1, now),
      );
    }
    if (role === 'colludes') {
      const others = met.filter((player) => !victims.includes(player) && !friends.includes(player));
      return [
        ...this.#some(victims, 4).map(({ id }) => this.#say('ban_applied', id, 1, now)),
        ...this.#some(friends, 2).map(({ id }) => this.#say('commendation', id, 1, now)),
        // Some honest words, so that they look like the others.
        ...judge(others.slice(0, 2)),
      ];
    }
    if (role === 'repeats') {
      const added = this.#list.slice(this.#copied);
      this.#copied = this.#list.length;
      return [...added, ...judge(met.slice(0, 3))];
    }
    if (role === 'careless') {
      const wrong = [...met.filter((player) => mistaken.includes(player)), ...this.#some(mistaken, 2)];
      return [
        ...wrong.map(({ id }) => this.#say('report_cheating', id, 1, now)),
        ...judge(met.filter((player) => !mistaken.includes(player))),
      ];
    }
    return judge(met);
  }

  /** Returns what an honest server reports about a player that it met: at most one event. */
  #judged({ id, isCheater }: Player, now: number): Statement[] {
    const random = this.#random;
    if (isCheater) {
      if (random() < caughtShare) return [this.#say('report_cheating', id, uniform(random, 0.6, 1), now)];
      return random() < takenForCleanShare ? [this.#say('session_clean', id, 1, now)] : [];
    }
    if (random() < wronglyReportedShare) return [this.#say('report_cheating', id, 0.5, now)];
    if (random() < commendedShare) return [this.#say('commendation', id, uniform(random, 0.5, 1), now)];
    return [this.#say('session_clean', id, 1, now)];
  }

  #say(eventType: TrustEvent['eventType'], playerId: string, severity: number, now: number): Statement {
    return { eventType, playerId, severity, at: now - Math.floor(this.#random() * minuteMs) };
  }

  #match(met: readonly Player[]): Player[] {
    return [...new Set(this.#some(met, playersPerRound))];
  }

  /** So many draws, of which some may be the same player. */
  #some(players: readonly Player[], count: number): Player[] {
    return Array.from({ length: count }, () => players[Math.floor(this.#random() * players.length)]!);
  }
}

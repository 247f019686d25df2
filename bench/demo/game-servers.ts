/**
 * The players of the demo's group, and the twelve game servers: what each of them says about the players of its
 * matches. All play fair in the first part; then one repeats what others say, one copies a list, and two lie together.
 */
import type { TrustEvent } from '../../src/client/write/client-event.js';
import { type Random, shuffle, uniform } from '../quality/random.js';

export interface Player {
  readonly id: string;
  /** Known here, and to no game server. */
  readonly isCheater: boolean;
}

export interface Population {
  readonly players: readonly Player[];
  /** Good players whom the liars ban together. */
  readonly victims: readonly Player[];
}

export type Role = 'honest' | 'hasty' | 'echo' | 'copier' | 'liar';

export interface Character {
  readonly name: string;
  readonly role: Role;
}

export const characters: readonly Character[] = [
  { name: 'Arena EU', role: 'hasty' },
  { name: 'Arena US', role: 'honest' },
  { name: 'Skyfall', role: 'honest' },
  { name: 'Ironfield', role: 'honest' },
  { name: 'Nightwatch', role: 'honest' },
  { name: 'Harbor', role: 'honest' },
  { name: 'Old Forest', role: 'honest' },
  { name: 'Redshift', role: 'honest' },
  { name: 'Echo', role: 'echo' },
  { name: 'Copycat', role: 'copier' },
  { name: 'Twin A', role: 'liar' },
  { name: 'Twin B', role: 'liar' },
];

export const gameId = 'arena';

const playerCount = 240;
const cheaterCount = 24;
const victimCount = 18;

/** Part of the players that a server ever meets, and how many it meets in one round of matches. */
const metShare = 0.4;
const playersPerRound = 12;
/** Part of the players that look like cheaters to a server, drawn for each server alone: its mistakes. */
const misjudgedShare = 0.05;
const misjudgedShareOfHasty = 0.25;
/** How often a server reports a player after a match, and how often the review of the report ends in a ban. */
const reportedShare = { cheater: 0.4, misjudged: 0.6, other: 0.01 };
const bannedShare = { cheater: 0.6, good: 0.15 };
/** How often a ban is permanent: severity 1. The severity of any other is its days over 30, and at least 0.2. */
const permanentShare = 0.8;
const severityMin = 0.2;
const takenForCleanShare = 0.12;
const commendedShare = 0.4;
/** Chances in one round: that a wrong ban is lifted, that a liar bans a victim, that the echo repeats a statement. */
const liftedShare = 0.1;
const victimShare = 0.12;
const echoedShare = 0.5;

type Statement = Pick<TrustEvent, 'eventType' | 'playerId' | 'severity'>;

interface Memory {
  readonly met: readonly Player[];
  readonly misjudged: ReadonlySet<string>;
  readonly banned: Set<string>;
}

function isAccusation({ eventType }: Statement): boolean {
  return eventType === 'report_cheating' || eventType === 'ban_applied';
}

export function makePopulation(random: Random): Population {
  const players = Array.from({ length: playerCount }, (_, i) => ({
    id: `player-${String(i + 1).padStart(3, '0')}`,
    isCheater: i < cheaterCount,
  }));
  shuffle(players, random);
  return { players, victims: players.filter(({ isCheater }) => !isCheater).slice(0, victimCount) };
}

/** Makes the statements of each server, round by round. The same random stream makes the same statements. */
export class GameServers {
  readonly #population: Population;
  readonly #random: Random;
  readonly #memories: readonly Memory[];
  /** All accusations by the server whose list is copied. The copier has sent the first `#copied` of them. */
  readonly #list: Statement[] = [];
  #copied = 0;
  /** The accusations of the last round that the echo did not make itself. */
  #lastRound: readonly Statement[] = [];

  constructor(population: Population, random: Random) {
    this.#population = population;
    this.#random = random;
    this.#memories = characters.map(({ role }) => {
      const misjudged = this.#some(population.players, role === 'hasty' ? misjudgedShareOfHasty : misjudgedShare);
      return {
        met: this.#some(population.players, metShare),
        misjudged: new Set(misjudged.map(({ id }) => id)),
        banned: new Set(),
      };
    });
  }

  /** The field's rule, without weights: how many game servers have the player banned. */
  bansOf({ id }: Player): number {
    return this.#memories.filter(({ banned }) => banned.has(id)).length;
  }

  /** The events of one round, per server in the order of `characters`. */
  round(isFair: boolean): TrustEvent[][] {
    const lastRound: Statement[] = [];
    const events = characters.map(({ role }, i) => {
      const statements = this.#statements(isFair ? 'honest' : role, this.#memories[i]!);
      const accusations = statements.filter(isAccusation);
      if (role === 'hasty') this.#list.push(...accusations);
      if (role !== 'echo') lastRound.push(...accusations);
      return statements.map((one) => ({ ...one, gameId }));
    });
    this.#lastRound = lastRound;
    return events;
  }

  #statements(role: Role, memory: Memory): Statement[] {
    const { players, victims } = this.#population;
    const match = this.#match(memory);
    const judge = (some: readonly Player[]) => some.flatMap((player) => this.#judge(memory, player));
    if (role === 'liar') {
      const newVictims = this.#some(victims, victimShare).filter(({ id }) => !memory.banned.has(id));
      const others = match.filter((player) => !player.isCheater && !victims.includes(player));
      return [
        ...newVictims.flatMap(({ id }) => [say('report_cheating', id, 1), ...this.#ban(memory, id, 1)]),
        ...match.filter(({ isCheater }) => isCheater).map(({ id }) => say('commendation', id, 1)),
        // Some honest words, so that they look like the others.
        ...judge(others.slice(0, 4)),
      ];
    }
    if (role === 'echo') return this.#repeat(memory, this.#some(this.#lastRound, echoedShare));
    if (role === 'copier') {
      const added = this.#list.slice(this.#copied);
      this.#copied = this.#list.length;
      return [...this.#repeat(memory, added), ...judge(match.slice(0, 3))];
    }
    const wronglyBanned = players.filter(({ id, isCheater }) => !isCheater && memory.banned.has(id));
    const lifted = this.#some(wronglyBanned, liftedShare);
    for (const { id } of lifted) memory.banned.delete(id);
    return [...lifted.map(({ id }) => say('ban_lifted', id, 1)), ...judge(match)];
  }

  /** Returns what an honest server says about a player after a match: a report, perhaps with a ban, or praise. */
  #judge(memory: Memory, { id, isCheater }: Player): Statement[] {
    const random = this.#random;
    const looks = isCheater ? 'cheater' : memory.misjudged.has(id) ? 'misjudged' : 'other';
    if (random() < reportedShare[looks]) {
      const report = say('report_cheating', id, uniform(random, 0.6, 1));
      if (random() >= bannedShare[isCheater ? 'cheater' : 'good']) return [report];
      const severity = random() < permanentShare ? 1 : uniform(random, severityMin, 1);
      return [report, ...this.#ban(memory, id, severity)];
    }
    if (isCheater) return random() < takenForCleanShare ? [say('session_clean', id, 1)] : [];
    return random() < commendedShare
      ? [say('commendation', id, uniform(random, 0.5, 1))]
      : [say('session_clean', id, 1)];
  }

  #repeat(memory: Memory, statements: readonly Statement[]): Statement[] {
    return statements.flatMap((one) =>
      one.eventType === 'ban_applied' ? this.#ban(memory, one.playerId, one.severity) : [one],
    );
  }

  /** A server bans a player once, until it lifts the ban. */
  #ban({ banned }: Memory, id: string, severity: number): Statement[] {
    if (banned.has(id)) return [];
    banned.add(id);
    return [say('ban_applied', id, severity)];
  }

  /** The players of a server's matches in one round. A banned player does not play. */
  #match({ met, banned }: Memory): Player[] {
    const drawn = Array.from({ length: playersPerRound }, () => met[Math.floor(this.#random() * met.length)]!);
    return [...new Set(drawn)].filter(({ id }) => !banned.has(id));
  }

  #some<T>(items: readonly T[], share: number): T[] {
    return items.filter(() => this.#random() < share);
  }
}

function say(eventType: TrustEvent['eventType'], playerId: string, severity: number): Statement {
  return { eventType, playerId, severity };
}

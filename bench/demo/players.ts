/** The players of the demo's group: who cheats is known here, and to no game server. */
import { type Random, shuffle } from '../quality/random.js';

export interface Player {
  readonly id: string;
  readonly isCheater: boolean;
}

export interface Population {
  readonly players: readonly Player[];
  /** Good players whom the liars ban together. */
  readonly victims: readonly Player[];
}

const playerCount = 240;
const cheaterCount = 24;
const victimCount = 18;

export function makePopulation(random: Random): Population {
  const players = Array.from({ length: playerCount }, (_, i) => ({
    id: `player-${String(i + 1).padStart(3, '0')}`,
    isCheater: i < cheaterCount,
  }));
  shuffle(players, random);
  return { players, victims: players.filter(({ isCheater }) => !isCheater).slice(0, victimCount) };
}

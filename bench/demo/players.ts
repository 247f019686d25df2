/** The players of the demo's group: who cheats is known here, and to no game server. */
import { type Random, shuffle } from '../quality/random.js';

export interface Player {
  readonly id: string;
  readonly isCheater: boolean;
}

export interface Population {
  readonly players: readonly Player[];
  /** Good players whom the colluders report together. */
  readonly victims: readonly Player[];
  /** Cheaters whom the colluders praise. */
  readonly friends: readonly Player[];
  /** Good players whom the careless server takes for cheaters. */
  readonly mistaken: readonly Player[];
}

const playerCount = 240;
const cheaterCount = 18;
const victimCount = 15;
const friendCount = 6;
const mistakenCount = 14;

export function makePopulation(random: Random): Population {
  const players = Array.from({ length: playerCount }, (_, i) => ({
    id: `player-${String(i + 1).padStart(3, '0')}`,
    isCheater: i < cheaterCount,
  }));
  shuffle(players, random);
  const good = players.filter(({ isCheater }) => !isCheater);
  return {
    players,
    victims: good.slice(0, victimCount),
    friends: players.filter(({ isCheater }) => isCheater).slice(0, friendCount),
    mistaken: good.slice(victimCount, victimCount + mistakenCount),
  };
}

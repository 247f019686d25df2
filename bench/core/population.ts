/**
 * Draws the group that fills folders and tables: who reported whom, and how often. The same seed gives the same group;
 * nothing is stored.
 */
import { createHash } from 'node:crypto';
import { type Credentials, mix } from '../load/requests.js';

/** As in the sizing tables. `entriesMax` limits one player in a thousand. */
const entriesMean = 2.3;
const entriesMax = 12;
const furtherLog = Math.log(1 - 1 / entriesMean);
const badPercent = 5;
const rightPercent = 85;

/** A prime above every number of places. Steps of this length visit each place once, in a scattered order. */
const stride = 2_654_435_761;

export interface Population {
  readonly players: number;
  readonly peers: number;
  readonly seed: number;
  /** Number of players, from the first on, whom every peer reported; 0 if absent. */
  readonly knownToAll?: number;
}

/** Returns how many peers reported a player: a drawn number from 1 on, 2.3 on average, or all peers. */
export function entriesOf({ seed, peers, knownToAll = 0 }: Population, player: number): number {
  if (player < knownToAll) return peers;
  const uniform = (mix(seed + 3, player) + 1) / 0x1_0000_0001;
  return Math.min(peers, entriesMax, 1 + Math.floor(Math.log(uniform) / furtherLog));
}

/** Returns the number of the peer of a player's entry. The entries of one player belong to different peers. */
export function peerOfEntry({ seed, peers }: Population, player: number, entry: number): number {
  return (mix(seed + 5, player) + entry) % peers;
}

/** Returns whether an entry lowers trust in the player. A peer is right in 85 of 100 cases. */
export function lowers({ seed }: Population, player: number, entry: number): boolean {
  const isBad = mix(seed + 7, player) % 100 < badPercent;
  const isRight = mix(seed + 11 + entry, player) % 100 < rightPercent;
  return isBad === isRight;
}

export function writeKey(player: number, words: Uint32Array): void {
  for (let word = 0; word < words.length; word++) words[word] = mix(word, player);
}

/** Yields each (player, entry) once, in the order of arrival. Old and new players alternate, as in a growing group. */
export function* arrivals(population: Population): Generator<[player: number, entry: number]> {
  const most = population.knownToAll ? population.peers : entriesMax;
  const places = population.players * most;
  const step = stride % places || 1;
  let place = mix(population.seed, places) % places;
  for (let i = 0; i < places; i++) {
    const entry = place % most;
    const player = (place - entry) / most;
    if (entry < entriesOf(population, player)) yield [player, entry];
    place = (place + step) % places;
  }
}

export function countEntries(population: Population): number {
  let count = 0;
  for (let player = 0; player < population.players; player++) count += entriesOf(population, player);
  return count;
}

/** Returns the peers of a filled folder. Their keys follow from the seed. */
export function credentials({ peers, seed }: Population): Credentials[] {
  return Array.from({ length: peers }, (_, i) => {
    const digest = createHash('sha256').update(`bench peer ${i} of ${seed}`).digest('hex');
    const peerId = `${digest.slice(0, 8)}-${digest.slice(8, 12)}-4${digest.slice(13, 16)}-a${digest.slice(17, 20)}-${digest.slice(20, 32)}`;
    return { peerId, apiKey: `ptf_dev_${digest}` };
  });
}

/**
 * The drawn group that fills folders and tables: who reported whom how often, the same for the same seed, in no
 * stored form.
 */
import { createHash } from 'node:crypto';
import { type Credentials, mix } from '../load/requests.js';

/** As in the sizing tables; `entriesMax` cuts one player in a thousand. */
const entriesMean = 2.3;
const entriesMax = 12;
const furtherLog = Math.log(1 - 1 / entriesMean);
const badPercent = 5;
const rightPercent = 85;

/** A prime beyond every number of places: steps of it visit each place once, in an order that looks like none. */
const stride = 2_654_435_761;

export interface Population {
  readonly players: number;
  readonly peers: number;
  readonly seed: number;
  /** Every peer reported every player, so that no later event makes a pair that there was not. */
  readonly everyPair?: boolean;
}

/** How many peers reported a player: 1 and further ones by chance, 2.3 on average; or all. */
export function entriesOf({ seed, peers, everyPair }: Population, player: number): number {
  if (everyPair) return peers;
  const chance = (mix(seed + 3, player) + 1) / 0x1_0000_0001;
  return Math.min(peers, entriesMax, 1 + Math.floor(Math.log(chance) / furtherLog));
}

/** The number of the peer behind a player's entry. The entries of one player are of different peers. */
export function peerOfEntry({ seed, peers }: Population, player: number, entry: number): number {
  return (mix(seed + 5, player) + entry) % peers;
}

/** Whether an entry speaks against the player: peers are right in 85 of 100. */
export function lowers({ seed }: Population, player: number, entry: number): boolean {
  const isBad = mix(seed + 7, player) % 100 < badPercent;
  const isRight = mix(seed + 11 + entry, player) % 100 < rightPercent;
  return isBad === isRight;
}

/** The words of a player's key. */
export function writeKey(player: number, words: Uint32Array): void {
  for (let word = 0; word < words.length; word++) words[word] = mix(word, player);
}

/**
 * Calls back once for each (player, entry), in the order of their arrival: old players and new ones mixed, as in a
 * group that grows.
 */
export function* arrivals(population: Population): Generator<[player: number, entry: number]> {
  const most = population.everyPair ? population.peers : entriesMax;
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

/** The peers of a filled folder, with keys that follow from the seed. */
export function credentials({ peers, seed }: Population): Credentials[] {
  return Array.from({ length: peers }, (_, i) => {
    const digest = createHash('sha256').update(`bench peer ${i} of ${seed}`).digest('hex');
    const peerId = `${digest.slice(0, 8)}-${digest.slice(8, 12)}-4${digest.slice(13, 16)}-a${digest.slice(17, 20)}-${digest.slice(20, 32)}`;
    return { peerId, apiKey: `ptf_dev_${digest}` };
  });
}

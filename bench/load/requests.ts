/**
 * Builds the requests of the service's interface as ready texts or bytes. Their content follows from the seed and the
 * request's number. The peer follows from the connection's number, so from which connection is free when the request is
 * due.
 */
import { subjectHash } from '../../src/client/ids/subject.js';
import type { Kind, Workload } from './drive.js';

export interface Credentials {
  readonly peerId: string;
  readonly apiKey: string;
}

/** The players and peers that the requests use. */
export interface Site {
  readonly seed: number;
  /** Number of players with events. */
  readonly players: number;
  readonly peers: readonly Credentials[];
}

/**
 * In the past, so that it is the same in every run. The node of a bench decays evidence so slowly that the age has no
 * effect.
 */
export const fixedTimestamp = '2026-01-01T00:00:00.000Z';
const fixedMs = Date.parse(fixedTimestamp);

/**
 * Returns the timestamp of event number `i`. Each is unique, because two equal events of a peer count as one piece of
 * evidence.
 */
export function timestampOf(i: number): string {
  return new Date(fixedMs + msOfDay(i)).toISOString();
}

function msOfDay(i: number): number {
  return 1 + (i % 80_000_000);
}

export const gameId = 'bench';
export const matchPlayers = 50;
export const batchEvents = 500;

/**
 * Returns a uniform unsigned number of 32 bits (the finaliser of MurmurHash3). Different numbers of one seed give
 * different results.
 */
export function mix(seed: number, i: number): number {
  let x = (i ^ Math.imul(seed + 1, 0x9e3779b1)) | 0;
  x = Math.imul(x ^ (x >>> 16), 0x85ebca6b);
  x = Math.imul(x ^ (x >>> 13), 0xc2b2ae35);
  return (x ^ (x >>> 16)) >>> 0;
}

/** Each source of events adds its own number to the seed, so that their event ids differ. Single events add 0. */
export const idSeeds = { batches: 1009, fill: 2003, repeats: 3001 } as const;

const threeDigits = Array.from({ length: 1_000 }, (_, n) => String(n).padStart(3, '0'));

/**
 * Returns an account id of a platform, 17 digits. Built from parts, because V8 caches texts of whole numbers, and each
 * garbage collection of the load would copy thousands of them.
 */
export function playerId(i: number): string {
  const three = (from: number): string => threeDigits[Math.floor(i / from) % 1_000]!;
  return `7656119${Math.floor(i / 1e9)}${three(1e6)}${three(1e3)}${three(1)}`;
}

/**
 * Returns the subject hashes of the same players, as a client with the salt sends them. Each is computed once, so that
 * the load is not the limit.
 */
export function hashedIds(salt: string): (n: number) => string {
  const hashes: string[] = [];
  return (n) => {
    hashes[n] ??= subjectHash(playerId(n), salt);
    return hashes[n];
  };
}

function hex(word: number): string {
  return (word + 0x100000000).toString(16).slice(1);
}

export function eventId(seed: number, i: number): string {
  const a = hex(mix(seed, i));
  const b = hex(mix(seed + 101, i));
  const c = hex(mix(seed + 211, i));
  return `${a}-${b.slice(0, 4)}-4${b.slice(5)}-a${c.slice(0, 3)}-${c.slice(3)}${a.slice(1)}`;
}

const eventTypes = ['report_cheating', 'report_toxicity', 'commendation', 'report_spam'];

function playerNumber({ seed, players }: Site, i: number): number {
  return mix(seed + 47, i) % players;
}

export function playerOfEvent(site: Site, i: number): string {
  return playerId(playerNumber(site, i));
}

/** Returns event number `i` as JSON. `stampOf`: the event whose timestamp it has. */
function eventJson(site: Site, peer: Credentials, i: number, stampOf = i): string {
  const { seed } = site;
  const bits = mix(seed + 31, i);
  const type = eventTypes[bits & 3]!;
  const severity = ((bits >>> 8) % 101) / 100;
  const player = playerOfEvent(site, i);
  return `{"schema_version":"1.0.0","event_id":"${eventId(seed, i)}","event_type":"${type}","peer_id":"${peer.peerId}","player_id":"${player}","game_id":"${gameId}","severity":${severity},"timestamp":"${timestampOf(stampOf)}"}`;
}

export function peerOf({ peers }: Site, connection: number): Credentials {
  return peers[connection % peers.length]!;
}

export function get(path: string, headers = ''): string {
  return `GET ${path} HTTP/1.1\r\nhost: 127.0.0.1\r\n${headers}\r\n`;
}

/** Returns a POST request. The body must be ASCII. */
export function post(path: string, headers: string, body: string): string {
  return `POST ${path} HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\n${headers}content-length: ${body.length}\r\n\r\n${body}`;
}

/** Reads the score of one player. `playerAt` gives the player of request number `i`. */
export function scoreKind(
  { seed, players }: Site,
  playerAt: (i: number) => string = (i) => playerId(mix(seed, i) % players),
): Kind<string> {
  return { name: 'score', expects: [200], request: (i) => get(`/api/v1/players/${playerAt(i)}/trust-score`) };
}

export function listingKind(site: Site): Kind<string> {
  return {
    name: 'listing',
    expects: [200],
    request(i, connection) {
      const { apiKey } = peerOf(site, connection);
      const player = playerId(mix(site.seed, i) % site.players);
      return get(`/api/v1/players/${player}/events`, `x-peer-api-key: ${apiKey}\r\n`);
    },
  };
}

/**
 * Reads the scores of a match of 50 in one call. `idOf` gives the id of player number `n`: an account id or its hash.
 */
export function matchKind({ seed, players }: Site, idOf: (n: number) => string = playerId): Kind<string> {
  return {
    name: 'match',
    expects: [200],
    items: matchPlayers,
    request(i) {
      let ids = idOf(mix(seed, i * matchPlayers) % players);
      for (let j = 1; j < matchPlayers; j++) ids += `,${idOf(mix(seed, i * matchPlayers + j) % players)}`;
      return get(`/api/v1/trust-scores?ids=${ids}`);
    },
  };
}

/**
 * Sends one event with the timestamp of its match, as a peer does that stamps by the match. Most events then repeat a
 * timestamp of their player.
 */
export function repeatKind(given: Site, eventsOfMatch: number): Kind<string> {
  const site = { ...given, seed: given.seed + idSeeds.repeats };
  return {
    ...eventKind(site),
    request(i, connection) {
      const peer = peerOf(site, connection);
      const body = eventJson(site, peer, i, i - (i % eventsOfMatch));
      return post('/api/v1/events', `x-peer-api-key: ${peer.apiKey}\r\n`, body);
    },
  };
}

export function eventKind(site: Site): Kind<string> {
  return {
    name: 'event',
    expects: [201],
    stores: true,
    request(i, connection) {
      const peer = peerOf(site, connection);
      return post('/api/v1/events', `x-peer-api-key: ${peer.apiKey}\r\n`, eventJson(site, peer, i));
    },
  };
}

/** Withdraws the event that request number `i - after` sent, of the site's only peer; 404 if it was not stored. */
export function withdrawalKind(site: Site, after: number): Kind<string> {
  const end = ` HTTP/1.1\r\nhost: 127.0.0.1\r\nx-peer-api-key: ${peerOf(site, 0).apiKey}\r\n\r\n`;
  const request = (i: number) => `DELETE /api/v1/events/${eventId(site.seed, i - after)}${end}`;
  return { name: 'withdrawal', expects: [200], request };
}

/** Sends 500 events of one peer in one call. */
export function batchKind(given: Site, size = batchEvents): Kind<Buffer> {
  const site = { ...given, seed: given.seed + idSeeds.batches };
  const batches = new Map<Credentials, (first: number) => Buffer>();
  return {
    name: 'batch',
    expects: [200],
    items: size,
    stores: true,
    request(i, connection) {
      const peer = peerOf(site, connection);
      const batchFrom = batches.get(peer) ?? batchesOf(site, peer, size);
      batches.set(peer, batchFrom);
      return batchFrom(i * size);
    },
  };
}

const idDigits = 8;
const playerDigits = 10;
const hexDigits = Buffer.from('0123456789abcdef');
const zero = 48;

/** Writes `count` digits of a number, the last one at `end - 1`. */
function writeDigits(bytes: Buffer, end: number, count: number, number: number): void {
  let rest = number;
  for (let at = end - 1; at >= end - count; at--) {
    bytes[at] = zero + (rest % 10);
    rest = Math.floor(rest / 10);
  }
}

/** Writes `HH:MM:SS.mmm`, which ends at `end`. */
function writeTime(bytes: Buffer, end: number, ms: number): void {
  writeDigits(bytes, end, 3, ms);
  writeDigits(bytes, end - 4, 2, Math.floor(ms / 1_000) % 60);
  writeDigits(bytes, end - 7, 2, Math.floor(ms / 60_000) % 60);
  writeDigits(bytes, end - 10, 2, Math.floor(ms / 3_600_000));
}

/**
 * Returns a function that builds a batch from a template, beginning with an event: the bytes are encoded once per peer,
 * then copied, and what differs between events of one place is overwritten. Encoding 500 events takes 2 ms, longer than
 * a node takes to answer them, so the load would measure itself.
 */
function batchesOf(site: Site, peer: Credentials, size: number): (first: number) => Buffer {
  const events = Array.from({ length: size }, (_, place) => eventJson(site, peer, place));
  const request = post('/api/v1/events/batch', `x-peer-api-key: ${peer.apiKey}\r\n`, `{"events":[${events}]}`);
  const template = Buffer.from(request, 'latin1');
  // The beginning of each event's id, and the ends of the digits of its player and its time.
  const places = [...request.matchAll(/"event_id":"(.*?"player_id":"\d{17}).*?Z"/dg)].map(({ indices }) => ({
    id: indices![1]![0],
    playerEnd: indices![1]![1],
    timeEnd: indices![0]![1] - 'Z"'.length,
  }));
  return (first) => {
    const bytes = Buffer.from(template);
    for (const [place, { id, playerEnd, timeEnd }] of places.entries()) {
      let word = mix(site.seed, first + place);
      for (let at = id + idDigits - 1; at >= id; at--) {
        bytes[at] = hexDigits[word & 15]!;
        word >>>= 4;
      }
      writeDigits(bytes, playerEnd, playerDigits, playerNumber(site, first + place));
      writeTime(bytes, timeEnd, msOfDay(first + place));
    }
    return bytes;
  };
}

export function only(kind: Kind): Workload {
  return { kinds: [kind] };
}

/** Mixes kinds by their share of the requests. The shares add up to 100. */
export function mixture(seed: number, ...parts: readonly (readonly [kind: Kind, percent: number])[]): Workload {
  const table = parts.flatMap(([, percent], kind) => new Array<number>(percent).fill(kind));
  return {
    kinds: parts.map(([kind]) => kind),
    kindAt: (i) => table[mix(seed + 71, i) % table.length]!,
  };
}

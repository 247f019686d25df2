/**
 * Grows a table player by player, in turns as short as those of a node. Measures memory, the longest turn (a stall of
 * the event loop) and the time of a full garbage collection.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { sipKey } from '../../src/core/hashing/siphash.js';
import { EventIds } from '../../src/core/tables/event-ids.js';
import { Subjects } from '../../src/core/tables/subjects.js';
import type { OnProgress } from '../progress.js';
import { arrivals, countEntries, type Population, peerOfEntry, writeKey } from './population.js';

export interface GrowthTask extends Population {
  /**
   * `subjects` is the service's table of players, `map` a plain Map of objects, `event-ids` the service's table of
   * event ids.
   */
  readonly table: 'subjects' | 'map' | 'event-ids';
}

export interface GrowthResult {
  readonly rows: number;
  readonly bytesPerRow: number;
  readonly worstTurnMs: number;
  readonly collectionMs: number;
}

/** Insertions of one turn; few enough that a turn alone causes no stall. */
const turnRows = 256;

interface Table {
  /** Inserts or updates the row of a 32-byte key. */
  add(key: Uint8Array, peer: number, number: number): void;
  rows(): number;
}

/**
 * Players of a table that is grown and discarded first, so that growth excludes the time in which V8 compiles the code.
 */
const warmUpPlayers = 100_000;

export async function grow(task: GrowthTask, onProgress: OnProgress): Promise<GrowthResult> {
  await measureGrowth({ ...task, players: warmUpPlayers }, () => undefined);
  return measureGrowth(task, onProgress);
}

async function measureGrowth(task: GrowthTask, onProgress: OnProgress): Promise<GrowthResult> {
  const total = countEntries(task);
  await collect();
  const before = heldBytes();
  const table = tables[task.table]();
  const words = new Uint32Array(8);
  const key = new Uint8Array(words.buffer);
  let worstTurnMs = 0;
  let number = 0;
  let turnStart = now();
  for (const [player, entry] of arrivals(task)) {
    writeKey(player, words);
    table.add(key, peerOfEntry(task, player, entry), ++number);
    if (number % turnRows !== 0) continue;
    await nextTurn();
    worstTurnMs = Math.max(worstTurnMs, stallSince(turnStart));
    onProgress(number, total);
    turnStart = now();
  }
  const collectionMs = await collect();
  const bytesPerRow = (heldBytes() - before) / table.rows();
  return { rows: table.rows(), bytesPerRow, worstTurnMs, collectionMs };
}

function now() {
  const { user, system } = process.cpuUsage();
  return { wallMs: performance.now(), cpuMs: (user + system) / 1000 };
}

/**
 * Returns the time since the instant without the share of other processes: at most the processor time of this process.
 */
function stallSince({ wallMs, cpuMs }: ReturnType<typeof now>): number {
  const { wallMs: toWallMs, cpuMs: toCpuMs } = now();
  return Math.min(toWallMs - wallMs, toCpuMs - cpuMs);
}

/**
 * Runs a full collection and returns its time in ms. Freed buffers are subtracted later, by the next collection at the
 * latest.
 */
async function collect(): Promise<number> {
  const startedMs = performance.now();
  globalThis.gc!();
  const tookMs = performance.now() - startedMs;
  await nextTurn();
  globalThis.gc!();
  await nextTurn();
  return tookMs;
}

function heldBytes(): number {
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
}

const tables: Readonly<Record<GrowthTask['table'], () => Table>> = {
  subjects() {
    const subjects = new Subjects(sipKey(Buffer.alloc(32, 7)));
    return {
      add(key, peer, number) {
        const entry = subjects.ensureEntry(key, peer, number, number);
        subjects.entries.add(entry, -0.5, number, false);
      },
      rows: () => subjects.size,
    };
  },
  map() {
    const players = new Map<string, PlayerObject>();
    return {
      add(key, peer, number) {
        const name = Buffer.from(key.buffer, key.byteOffset, key.byteLength).toString('hex');
        let player = players.get(name);
        if (player === undefined) {
          player = { updatedAt: number, peers: new Map() };
          players.set(name, player);
        }
        const entry = player.peers.get(peer) ?? { lowering: 0, raising: 0, count: 0, head: 0 };
        entry.lowering += 0.5;
        entry.count++;
        entry.head = number;
        player.peers.set(peer, entry);
        player.updatedAt = number;
      },
      rows: () => players.size,
    };
  },
  'event-ids'() {
    const ids = new EventIds();
    return {
      add(key, peer, number) {
        let tag = '';
        for (let i = 0; i < 8; i++) tag += String.fromCharCode(key[i]!);
        ids.insert(tag + String.fromCharCode(peer & 255, number & 255), number, peer);
      },
      rows: () => ids.size,
    };
  },
};

interface PlayerObject {
  updatedAt: number;
  readonly peers: Map<number, { lowering: number; raising: number; count: number; head: number }>;
}

/**
 * Measures how long a folder takes to become a state: from snapshot and tail, from the whole log, and, for comparison,
 * filling the tables alone.
 */
import { TAG_WORDS } from '../../src/core/columns/packed-keys.js';
import { sipKey } from '../../src/core/hashing/siphash.js';
import type { GroupState } from '../../src/core/state.js';
import { EventIds } from '../../src/core/tables/event-ids.js';
import { Subjects } from '../../src/core/tables/subjects.js';
import type { SnapshotStore } from '../../src/group/ports/storage.js';
import { lastSeqOf, recover } from '../../src/group/recovery/recovery.js';
import { openLogReader } from '../../src/store/log/lmdb-log.js';
import { LmdbSnapshotStore } from '../../src/store/snapshots/lmdb-snapshots.js';

class WithoutSnapshots extends LmdbSnapshotStore {
  override list(): number[] {
    return [];
  }
}

/**
 * Resolves to the times from snapshot and tail to state, from the whole log to state, and to insert the same players,
 * entries and event ids into empty tables, s.
 */
export async function rebuild({ dir, salt }: { readonly dir: string; readonly salt: string }) {
  const log = openLogReader(dir);
  const upTo = lastSeqOf(log);
  const timed = (snapshots: SnapshotStore): [state: GroupState, seconds: number] => {
    const startedMs = performance.now();
    const { follower } = recover(log, snapshots, Buffer.from(salt), upTo)!;
    return [follower.state, (performance.now() - startedMs) / 1000];
  };
  // Build one state at a time, because two may not fit into memory.
  const [, replayS] = timed(new WithoutSnapshots(dir));
  globalThis.gc?.();
  const [state, snapshotS] = timed(new LmdbSnapshotStore(dir));
  await log.close();
  return { records: upTo, players: state.subjects.size, snapshotS, replayS, tablesS: fillTables(state) };
}

/** Fills empty tables from columns that are prepared before the time starts. */
function fillTables(state: GroupState): number {
  const { subjects: from, eventIds } = state;
  const rows = Array.from({ length: from.rows }, (_, row) => row).filter((row) => from.has(row));
  const keys = new Uint8Array(rows.length * KEY_BYTES);
  const peerCounts = new Uint16Array(rows.length);
  rows.forEach((row, i) => {
    keys.set(from.keyOf(row), i * KEY_BYTES);
    peerCounts[i] = from.peerCount(row);
  });
  const total = peerCounts.reduce((sum, count) => sum + count, 0);
  const peers = new Uint16Array(total);
  let at = 0;
  for (const row of rows) {
    const first = from.firstEntry(row);
    for (let e = first; e < first + from.peerCount(row); e++) peers[at++] = from.entries.peer(e);
  }
  // Sort the ids by arrival. Their order in the table differs from it.
  const places = new Uint32Array(state.lastSeq + 1);
  let held = 0;
  for (const { seq } of eventIds.held()) places[seq] = 1;
  for (let seq = 1; seq < places.length; seq++) if (places[seq] === 1) places[seq] = held++;
  const tags = new Uint16Array(held * TAG_WORDS);
  const owners = new Uint16Array(held);
  for (const id of eventIds.held()) {
    const place = places[id.seq]!;
    for (let i = 0; i < TAG_WORDS; i++) tags[place * TAG_WORDS + i] = id.words[id.at + i]!;
    owners[place] = id.peer;
  }

  const startedMs = performance.now();
  const subjects = new Subjects(sipKey(Buffer.alloc(32, 7)));
  at = 0;
  for (let i = 0; i < rows.length; i++) {
    const key = keys.subarray(i * KEY_BYTES, (i + 1) * KEY_BYTES);
    for (let k = 0; k < peerCounts[i]!; k++)
      subjects.entries.add(subjects.ensureEntry(key, peers[at++]!, 1, 1), -1, 1, false);
  }
  const ids = new EventIds();
  ids.reserve(owners.length);
  for (let i = 0; i < owners.length; i++) ids.insertFrom(tags, i * TAG_WORDS, i + 1, owners[i]!);
  return (performance.now() - startedMs) / 1000;
}

const KEY_BYTES = 32;

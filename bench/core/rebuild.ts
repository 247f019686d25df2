/** From a folder back to a state: by its snapshot and the tail, by the whole log, and beside both the time that the tables alone take. */
import { EventIds } from '../../src/core/event-ids.js';
import { sipKey } from '../../src/core/siphash.js';
import type { GroupState } from '../../src/core/state.js';
import { Subjects } from '../../src/core/subjects.js';
import type { SnapshotStore } from '../../src/group/ports.js';
import { lastSeqOf, recover } from '../../src/group/recovery.js';
import { openLogReader } from '../../src/store/lmdb-log.js';
import { LmdbSnapshotStore } from '../../src/store/lmdb-snapshots.js';
import { MemorySnapshotStore } from '../../src/store/memory-snapshots.js';

export interface RebuildTask {
  readonly dir: string;
  readonly salt: string;
}

export interface RebuildResult {
  readonly records: number;
  readonly players: number;
  /** Snapshot and tail to state, s. */
  readonly snapshotS: number;
  /** Whole log to state, s. */
  readonly replayS: number;
  /** The same players, entries and event ids put into empty tables from the tables of the state, s. */
  readonly tablesS: number;
}

export async function rebuild({ dir, salt }: RebuildTask): Promise<RebuildResult> {
  const log = openLogReader(dir);
  const upTo = lastSeqOf(log);
  const timed = (snapshots: SnapshotStore): [state: GroupState, seconds: number] => {
    const startedMs = performance.now();
    const { follower } = recover(log, snapshots, Buffer.from(salt), upTo)!;
    return [follower.state, (performance.now() - startedMs) / 1000];
  };
  // One state at a time: two of them need not fit into memory.
  const [, replayS] = timed(new MemorySnapshotStore());
  globalThis.gc?.();
  const [state, snapshotS] = timed(new LmdbSnapshotStore(dir));
  await log.close();
  return { records: upTo, players: state.subjects.size, snapshotS, replayS, tablesS: fillTables(state) };
}

function fillTables({ subjects: from, eventIds }: GroupState): number {
  const keys = new Uint8Array(from.size * 32);
  let held = 0;
  for (let row = 0; row < from.rows; row++) if (from.has(row)) keys.set(from.keyOf(row), held++ * 32);
  const tags = [...eventIds];
  const startedMs = performance.now();
  const subjects = new Subjects(sipKey(Buffer.alloc(32, 7)));
  for (let i = 0; i < held; i++) {
    const key = keys.subarray(i * 32, i * 32 + 32);
    const row = from.find(key);
    const first = from.firstEntry(row);
    for (let entry = first; entry < first + from.peerCount(row); entry++) {
      const to = subjects.entryFor(key, from.entries.peer(entry), { updatedAt: 1, evidenceAt: 1 });
      subjects.entries.add(to, -from.entries.lowering(entry), from.entries.head(entry));
    }
  }
  const ids = new EventIds();
  for (const [tag, seq, peer] of tags) ids.insert(tag, seq, peer);
  return (performance.now() - startedMs) / 1000;
}

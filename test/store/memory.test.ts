/** Log and snapshots in memory, on which the other tests stand, keep the contracts of their ports. */
import { test } from 'uvu';
import { MemoryLog } from '../support/memory-log.js';
import { MemorySnapshotStore } from '../support/memory-snapshots.js';
import { testLog } from './log-contract.js';
import { testSnapshots } from './snapshots-contract.js';

testLog('memory log', async () => {
  const log = new MemoryLog();
  return {
    writer: async () => log.acquire(),
    takeOver: async () => log.acquire(),
    reader: () => log,
    end: async () => {},
  };
});

testSnapshots('memory snapshots', () => new MemorySnapshotStore());

test.run();

/**
 * Power cuts under concurrent writers: a node of its own on a disk of its own is stopped in mid-run, only the content
 * of that disk without the system's page cache remains, and the node starts on it. All acknowledged events and
 * withdrawals must be present.
 */
import { spawnSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Fault } from './fault.js';
import { PowerDisk } from './power-disk.js';
import { livesUnderWriters, withdrawing } from './writers.js';

const diskMb = 192;
/** One writer waits for each commit by itself; many share one. */
const connections = [1, 4, 32];

export const power: Fault = {
  name: 'power',
  summary:
    'power cuts under writers: what the disk holds without the page cache is all that is left; nothing acknowledged may be lost',
  rounds: 300,
  async run(rounds) {
    const disk = PowerDisk.mount(diskMb);
    if (disk === null) return rounds.tally.note('skipped', 'mounting a file system of its own is not permitted here');
    const dir = join(disk.path, 'data');
    mkdirSync(dir);
    spawnSync('sync', ['-f', dir]);
    try {
      await livesUnderWriters(rounds, dir, {
        env: { SNAPSHOT_EVERY: '500', DISK_FREE_MIN_MB: '0' },
        connections: () => rounds.random.pick(connections),
        beside: withdrawing(rounds.random),
        endWithinMs: () => 700,
        end: async (node) => {
          process.kill(node.child.pid!, 'SIGSTOP');
          disk.cut();
          await node.kill('SIGKILL');
          disk.restore();
        },
      });
    } finally {
      disk.unmount();
    }
  },
};

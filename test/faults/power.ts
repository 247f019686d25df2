/**
 * Power cuts under concurrent writers: a node of its own on a disk of its own is stopped in mid-run, only the content
 * of that disk without the system's page cache remains, and the node starts on it. All acknowledged events and
 * withdrawals must be present.
 */
import { spawnSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { startProcess } from '../support/process.js';
import { Random } from '../support/random.js';
import { type Fault, type Findings, type Rounds, Tally } from './fault.js';
import { mustEndWell, mustHold, register, writtenUntil } from './kill.js';
import { PowerDisk } from './power-disk.js';

const diskMb = 192;
/** One writer waits for each commit by itself; many share one. */
const connections = [1, 4, 32];
/** From the first acknowledgement of a round. */
const cutWithinMs = 700;

async function run(rounds: Rounds): Promise<Findings> {
  const tally = new Tally();
  const disk = PowerDisk.mount(diskMb);
  if (disk === null) {
    return { figures: [['skipped', 'mounting a file system of its own is not permitted here']], broken: [] };
  }
  const random = new Random(rounds.seed);
  const dir = join(disk.path, 'data');
  mkdirSync(dir);
  spawnSync('sync', ['-f', dir]);
  const env = { DATA_DIR: dir, LOG_LEVEL: 'info', SNAPSHOT_EVERY: '500', DISK_FREE_MIN_MB: '0' };
  let node = await startProcess(env);
  try {
    const writing = { peer: await register(node.url), random, rounds, tally };
    for (const round of rounds) {
      const running = node;
      const cut = async () => {
        process.kill(running.child.pid!, 'SIGSTOP');
        disk.cut();
        await running.kill('SIGKILL');
      };
      const count = connections[random.below(connections.length)]!;
      const acknowledged = await writtenUntil(cut, running, writing, { round, count, endWithinMs: cutWithinMs });
      disk.restore();
      node = await startProcess(env);
      await mustHold(node, writing, round, acknowledged);
    }
    await mustEndWell(node, dir, writing);
  } finally {
    node.child.kill('SIGKILL');
    await node.ended;
    disk.unmount();
  }
  return tally.findings();
}

export const power: Fault = {
  name: 'power',
  summary:
    'power cuts under writers: what the disk holds without the page cache is all that is left; nothing acknowledged may be lost',
  rounds: 300,
  run,
};

/**
 * A disk that is full to the last byte, under a node of its own that writes as fast as it can: the node ends by itself with a
 * failure, answers nothing more, and with room again a start holds all that was acknowledged.
 */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { verifyInChild } from '../../src/workers/verification.js';
import { type NodeProcess, startProcess } from '../support/process.js';
import { Random } from '../support/random.js';
import { type Fault, type Findings, type Rounds, Tally } from './fault.js';
import { eventOf, missing, type Peer, post, register } from './kill.js';
import { SmallDisk } from './small-disk.js';

const diskMb = 64;
const connections = 8;
/** What is left for the node to write before the disk is full, at most. */
const leftBytesMax = 3_000_000;
const endWithinMs = 1_000;
/**
 * 1 and SIGKILL: as a node ends that cannot go on. SIGABRT, SIGSEGV: where a write finds no space, LMDB's binding damages its own
 * heap, and the C library, or the next use of what was there, ends the process. SIGBUS: a file that is mapped into memory cannot take a page more.
 */
const endings: readonly (number | string | null)[] = [1, 'SIGKILL', 'SIGABRT', 'SIGSEGV', 'SIGBUS'];
/** What a node logs that ends by itself, be it that a SIGKILL of its own had to help: any other is not its own. */
const ownEnd = '"msg":"the node cannot go on"';
/** Of a node that writes what fills its disk within a second, far longer than its end can take. */
const endlessMs = 120_000;

interface Written {
  readonly acknowledged: string[];
  /** `performance.now()` of the last 201, or of the beginning where there was none. */
  lastAt: number;
}

/** Sends batches until the node answers no more. */
async function write(node: NodeProcess, peer: Peer, name: string): Promise<Written> {
  const written: Written = { acknowledged: [], lastAt: performance.now() };
  for (let i = 0; ; i++) {
    const ids = Array.from({ length: 50 }, (_, n) => `${name}-${i}-${n}`);
    try {
      const events = ids.map((id) => eventOf(peer, id, `player ${id}`));
      const response = await post(node.url, '/api/v1/events/batch', peer, { events });
      const body = (await response.json()) as { results?: { status: number }[] };
      if (response.status !== 200) continue;
      written.acknowledged.push(...ids.filter((_, n) => body.results![n]!.status === 201));
      written.lastAt = performance.now();
    } catch {
      return written;
    }
  }
}

function lastLines(node: NodeProcess): string {
  return node.output().trimEnd().split('\n').slice(-3).join('\n');
}

/** Whether a node with no room left may end so. */
function isEndOf(node: NodeProcess, exit: number | string | null): boolean {
  const isItsOwn = exit === 1 || exit === 'SIGKILL';
  return endings.includes(exit) && (!isItsOwn || node.output().includes(ownEnd));
}

async function run(rounds: Rounds): Promise<Findings> {
  const tally = new Tally();
  const disk = SmallDisk.mount(diskMb);
  if (disk === null) {
    return { figures: [['skipped', 'mounting a small file system is not permitted here']], broken: [] };
  }
  const random = new Random(rounds.seed);
  try {
    for (const round of rounds) {
      const dir = join(disk.path, 'data');
      mkdirSync(dir);
      const env = { DATA_DIR: dir, LOG_LEVEL: 'info', SNAPSHOT_EVERY: '2000', DISK_FREE_MIN_MB: '0' };
      let node = await startProcess(env);
      try {
        const peer = await register(node.url);
        disk.fill(random.below(leftBytesMax));
        const writers = Array.from({ length: connections }, (_, i) => write(node, peer, `r${round}-c${i}`));
        const exit = await Promise.race([node.ended, delay(endlessMs, 'nothing', { ref: false })]);
        const endedAt = performance.now();
        if (exit === 'nothing') {
          rounds.end();
          await node.kill('SIGKILL');
        }
        tally.add(`ended with ${exit}`);
        if (!isEndOf(node, exit)) tally.break(`round ${round}: the node ended with ${exit}: ${lastLines(node)}`);
        const written = await Promise.all(writers);
        const acknowledged = written.flatMap((of) => of.acknowledged);
        const silentMs = endedAt - Math.max(...written.map(({ lastAt }) => lastAt));
        tally.add('acknowledged events', acknowledged.length);
        tally.most('longest from the last answer to the end, ms', Math.round(silentMs));
        if (silentMs > endWithinMs) {
          tally.add(`rounds that took longer than ${endWithinMs} ms to end`);
          if (rounds.strict)
            tally.break(`round ${round}: the node ended ${Math.round(silentMs)} ms after its last answer`);
        }
        disk.clear();
        node = await startProcess(env);
        const lost = await missing(node.url, peer, acknowledged);
        if (lost.length > 0) tally.break(`round ${round}: ${lost.length} acknowledged events are lost`);
        if ((await node.kill('SIGTERM')) !== 0) tally.break(`round ${round}: the stop failed`);
        const report = await verifyInChild(dir, 'full');
        if (!report.ok) tally.break(`round ${round}: ${report.faults.join('; ')}`);
      } finally {
        node.child.kill('SIGKILL');
        await node.ended;
        disk.clear();
        disk.remove('data');
      }
    }
    tally.need('acknowledged events');
  } finally {
    disk.unmount();
  }
  return tally.findings();
}

export const disk: Fault = {
  name: 'disk',
  summary: 'a disk that is full to the last byte; the node must end, and lose nothing',
  rounds: 50,
  run,
};

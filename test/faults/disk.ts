/**
 * A disk that another process fills to the last byte at once, under a node that writes as fast as it can. The node
 * refuses writes and goes on with reads, whatever its watermark, unless a commit is cut. It is stopped or killed,
 * starts on the full disk, takes up writing once there is room, and holds all that was acknowledged.
 */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { verifyInChild } from '../../src/workers/verify/verify-runner.js';
import { type NodeProcess, startProcess } from '../support/process.js';
import { Random } from '../support/random.js';
import { until } from '../support/until.js';
import { type Fault, type Findings, type Rounds, Tally } from './fault.js';
import { eventOf, missing, type Peer, post, register } from './kill.js';
import { SmallDisk } from './small-disk.js';

const diskMb = 64;
const connections = 8;
/** The disk fills up so many ms after the first answer, at most. */
const fillWithinMs = 500;
const fullMs = 300;
const watermarksMb = ['0', '10', '20'];

interface Written {
  readonly acknowledged: string[];
  readonly unexpected: string[];
}

/** Sends batches until told to stop, or until the node answers no more. */
async function write(node: NodeProcess, peer: Peer, name: string, isOver: () => boolean): Promise<Written> {
  const acknowledged: string[] = [];
  const unexpected: string[] = [];
  for (let i = 0; !isOver(); i++) {
    const ids = Array.from({ length: 50 }, (_, n) => `${name}-${i}-${n}`);
    try {
      const events = ids.map((id) => eventOf(peer, id, `player ${id}`));
      const response = await post(node.url, '/api/v1/events/batch', peer, { events });
      const body = (await response.json()) as { results?: { status: number; code?: string }[]; code?: string };
      const answers = body.results ?? [{ status: response.status, code: body.code }];
      acknowledged.push(...ids.filter((_, n) => answers[n]?.status === 201));
      for (const { status, code } of answers) {
        const isExpected =
          status === 201 || (status === 503 && code === 'dependency_unavailable') || code === 'overloaded';
        if (!isExpected) unexpected.push(`${status} ${code}`);
      }
      if (response.status !== 200) await delay(5);
    } catch (error) {
      unexpected.push(String(error));
      break;
    }
  }
  return { acknowledged, unexpected };
}

const lastLines = (node: NodeProcess): string => node.output().trimEnd().split('\n').slice(-3).join('\n');

/** A commit amid which the disk fills up has no known outcome: the node ends by itself, or LMDB ends it. */
function hasCutCommit(node: NodeProcess, end: number | string | null): boolean {
  return end === 1 ? /DiskFullError|ENOSPC|code: 28/.test(node.output()) : /^SIG(?:ABRT|BUS|SEGV)$/.test(`${end}`);
}

/** Why a node on a full disk does not do what it should; null where it does. */
async function faultOn(node: NodeProcess, peer: Peer, player: string): Promise<string | null> {
  await until(async () => (await fetch(`${node.url}/api/v1/health`)).status === 503);
  const health = (await (await fetch(`${node.url}/api/v1/health`)).json()) as { details?: { reason?: string } };
  if (health.details?.reason !== 'disk_low') return `health says ${JSON.stringify(health)}`;
  const refused = await post(node.url, '/api/v1/events', peer, eventOf(peer, 'refused', player));
  const { code } = (await refused.json()) as { code?: string };
  if (refused.status !== 503 || code !== 'dependency_unavailable')
    return `a write is answered ${refused.status} ${code}`;
  const read = await fetch(`${node.url}/api/v1/players/${encodeURIComponent(player)}/trust-score`);
  if (read.status !== 200) return `a read is answered ${read.status}`;
  const lines = node.output().split('"msg":"the disk is nearly full').length - 1;
  return lines === 1 ? null : `the log says ${lines} times that the disk is full`;
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
      const watermarkMb = watermarksMb[random.below(watermarksMb.length)]!;
      const env = { DATA_DIR: dir, LOG_LEVEL: 'info', SNAPSHOT_EVERY: '2000', DISK_FREE_MIN_MB: watermarkMb };
      const how = random.below(2) === 0 ? 'SIGTERM' : 'SIGKILL';
      const broken = (what: string) => tally.break(`round ${round}, watermark ${watermarkMb}, ${how}: ${what}`);
      let node = await startProcess(env);
      try {
        const peer = await register(node.url);
        const player = `player ${round}`;
        const first = `first-${round}`;
        if ((await post(node.url, '/api/v1/events', peer, eventOf(peer, first, player))).status !== 201)
          broken('the first event was refused');
        let isOver = false;
        const names = Array.from({ length: connections }, (_, i) => `r${round}-c${i}`);
        const writers = names.map((name) => write(node, peer, name, () => isOver));
        await delay(random.below(fillWithinMs));
        disk.fill(0);
        await Promise.race([node.ended, delay(fullMs)]);
        const failed = (error: unknown) => `${String(error)}: ${lastLines(node)}`;
        const fault = await faultOn(node, peer, player).catch(failed);
        isOver = true;
        const written = await Promise.all(writers);
        const acknowledged = [first, ...written.flatMap((of) => of.acknowledged)];
        tally.add('acknowledged events', acknowledged.length);
        disk.fill(0);
        const end = await node.kill(how);
        if (hasCutCommit(node, end)) tally.add('rounds whose fill cut a commit');
        else {
          tally.add('rounds in which reads went on');
          if (fault !== null) broken(fault);
          for (const what of new Set(written.flatMap((of) => of.unexpected))) broken(`unexpected: ${what}`);
          if (end !== (how === 'SIGTERM' ? 0 : how)) broken(`the node ended with ${end}: ${lastLines(node)}`);
        }
        disk.fill(0);
        node = await startProcess(env);
        const faultAgain = await faultOn(node, peer, player);
        if (faultAgain !== null) broken(`after a start on the full disk ${faultAgain}`);
        disk.clear();
        await until(async () => (await fetch(`${node.url}/api/v1/health`)).status === 200);
        const lost = await missing(node.url, peer, acknowledged);
        if (lost.length > 0) broken(`${lost.length} acknowledged events are lost`);
        if ((await node.kill('SIGTERM')) !== 0) broken('the stop failed');
        const report = await verifyInChild(dir, 'full');
        if (!report.ok) broken(report.faults.join('; '));
        tally.add(`rounds ended by ${how}`);
      } finally {
        node.child.kill('SIGKILL');
        await node.ended;
        disk.clear();
        disk.remove('data');
      }
    }
    tally.need('acknowledged events');
    tally.need('rounds in which reads went on');
  } finally {
    disk.unmount();
  }
  return tally.findings();
}

export const disk: Fault = {
  name: 'disk',
  summary: 'a disk that fills to the last byte at once; the node must go on reading, start again, and lose nothing',
  rounds: 50,
  run,
};

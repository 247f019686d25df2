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
import { until } from '../support/until.js';
import type { Fault, Rounds } from './fault.js';
import { SmallDisk } from './small-disk.js';
import { eventOf, missing, type Peer, register, send, Writers } from './writers.js';

const diskMb = 64;
/** The disk fills up so many ms after the first requests, at most. */
const fillWithinMs = 500;
const fullMs = 300;
const watermarksMb = ['0', '10', '20'];

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
  const [refused] = await send(node.url, peer, [eventOf(peer, 'refused', player)]);
  const { status, code } = refused!;
  if (status !== 503 || code !== 'dependency_unavailable') return `a write is answered ${status} ${code}`;
  const read = await fetch(`${node.url}/api/v1/players/${encodeURIComponent(player)}/trust-score`);
  if (read.status !== 200) return `a read is answered ${read.status}`;
  const lines = node.output().split('"msg":"the disk is nearly full').length - 1;
  return lines === 1 ? null : `the log says ${lines} times that the disk is full`;
}

/** One life on the disk, and the one after it. */
async function playRound({ tally, random }: Rounds, disk: SmallDisk, round: number): Promise<void> {
  const dir = join(disk.path, 'data');
  mkdirSync(dir);
  const watermarkMb = random.pick(watermarksMb);
  const env = { DATA_DIR: dir, LOG_LEVEL: 'info', SNAPSHOT_EVERY: '2000', DISK_FREE_MIN_MB: watermarkMb };
  const how = random.pick(['SIGTERM', 'SIGKILL'] as const);
  const say = (what: string) => tally.break(`round ${round}, watermark ${watermarkMb}, ${how}: ${what}`);
  let node = await startProcess(env);
  try {
    const peer = await register(node.url);
    const player = `player ${round}`;
    const first = `first-${round}`;
    const [answer] = await send(node.url, peer, [eventOf(peer, first, player)]);
    if (answer!.status !== 201) say('the first event was refused');
    const writers = new Writers(node, peer, `r${round}`, { connections: () => 8, batch: 50 });
    await delay(random.below(fillWithinMs));
    disk.fill(0);
    await Promise.race([node.ended, delay(fullMs)]);
    const failed = (error: unknown) => `${String(error)}: ${lastLines(node)}`;
    const fault = await faultOn(node, peer, player).catch(failed);
    await writers.end();
    const acknowledged = [first, ...writers.events];
    tally.add('acknowledged events', acknowledged.length);
    disk.fill(0);
    const end = await node.kill(how);
    if (hasCutCommit(node, end)) tally.add('rounds whose fill cut a commit');
    else {
      tally.add('rounds in which reads went on');
      if (fault !== null) say(fault);
      for (const what of writers.unexpected) say(`unexpected: ${what}`);
      if (end !== (how === 'SIGTERM' ? 0 : how)) say(`the node ended with ${end}: ${lastLines(node)}`);
    }
    disk.fill(0);
    node = await startProcess(env);
    const faultAgain = await faultOn(node, peer, player);
    if (faultAgain !== null) say(`after a start on the full disk ${faultAgain}`);
    disk.clear();
    await until(async () => (await fetch(`${node.url}/api/v1/health`)).status === 200);
    const lost = await missing(node.url, peer, acknowledged);
    if (lost.length > 0) say(`${lost.length} acknowledged events are lost`);
    if ((await node.kill('SIGTERM')) !== 0) say('the stop failed');
    const report = await verifyInChild(dir, 'full');
    if (!report.ok) say(report.faults.join('; '));
    tally.add(`rounds ended by ${how}`);
  } finally {
    node.child.kill('SIGKILL');
    await node.ended;
    disk.clear();
    disk.remove('data');
  }
}

export const disk: Fault = {
  name: 'disk',
  summary: 'a disk that fills to the last byte at once; the node must go on reading, start again, and lose nothing',
  rounds: 50,
  async run(rounds) {
    const { tally } = rounds;
    const small = SmallDisk.mount(diskMb);
    if (small === null) return tally.note('skipped', 'mounting a small file system is not permitted here');
    try {
      for (const round of rounds) await playRound(rounds, small, round);
      for (const name of ['acknowledged events', 'rounds in which reads went on']) tally.need(name);
    } finally {
      small.unmount();
    }
  },
};

/**
 * One run of the fault harness: a group under load, and one fault after the other. At the end it checks the history of
 * all clients against the logs of the nodes, and searches the files of nodes and members for erased players.
 */
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { groupId, leaderOf, salt } from '../../bench/cluster/node-group.js';
import { messageOf } from '../../src/errors.js';
import type { Rounds, Tally } from '../faults/fault.js';
import type { Random } from '../support/random.js';
import { check } from './checker.js';
import type { ClusterFault } from './faults.js';
import { filesWith, finalNode, withdrawnGone } from './final-log.js';
import { Group, walSettings } from './group.js';
import { History } from './history.js';
import { type Call, Load } from './load.js';
import { quietSeq } from './same-records.js';

const ptf = fileURLToPath(new URL('../../../bin/ptf.mjs', import.meta.url));
const scrubMs = 120_000;
/** Small, because filling etcd takes long. */
const quotaBytes = 64 * 1024 * 1024;
const env = {
  ERASURE_QUOTA_PER_DAY: '1000000',
  WEIGHTS_INTERVAL_MS: '1000',
  SNAPSHOT_EVERY: '5000',
  DISK_FREE_MIN_MB: '16',
  ETCD_QUOTA_BACKEND_BYTES: String(quotaBytes),
};

export interface ClusterRun {
  readonly next: (round: number, random: Random) => ClusterFault;
  readonly smallDisks?: boolean;
}

export async function runCluster(rounds: Rounds, { next, smallDisks = false }: ClusterRun): Promise<void> {
  const { tally, random } = rounds;
  const history = new History();
  const group = await Group.start({ smallDisks, quotaBytes, env });
  const load = new Load(group.nodes, history, rounds.seed);
  const pauses = new Pauses();
  try {
    await load.start();
    for (const round of rounds) {
      const fault = next(round, random);
      if (!fault.isPossible(group)) {
        tally.add(`${fault.name}: not possible on this machine`);
        continue;
      }
      const startedAt = performance.now();
      try {
        await fault.run(group, random);
        await group.heal();
        await load.written(1);
      } catch (error) {
        const what = `round ${round}, ${fault.name}: ${messageOf(error)}`;
        progress(what);
        tally.break(what);
        break;
      }
      tally.add(`${fault.name}: rounds`);
      const endedAt = performance.now();
      const pauseMs = pauses.add(fault.name, load, startedAt, endedAt);
      progress(
        `round ${round}, ${fault.name}: ${Math.round(endedAt - startedAt)} ms, writes paused ${Math.round(pauseMs)} ms`,
      );
      if (rounds.strict && pauseMs > fault.writePauseMsMax) {
        tally.break(`round ${round}, ${fault.name}: no write was acknowledged for ${Math.round(pauseMs)} ms`);
      }
    }
    phase('the end of writing');
    await load.stopWriting();
    await group.heal();
    phase('the last record');
    await withdrawnGone(group.nodes, history);
    await quietSeq(group.nodes);
    phase('the streams');
    for (const text of await load.streamDifferences((await group.awaitLeader()).directUrl)) tally.break(text);
    phase('the scrub');
    await scrub(group, tally);
    await load.close();
    phase('the stop');
    await stopped(group);
    phase('the logs');
    history.slots.push(...group.watch.slots);
    const finals = await Promise.all(group.nodes.map(({ name, dir }) => finalNode(name, dir, salt)));
    for (const broken of check(history, finals)) tally.break(broken);
    searchErased(group, load, tally);
    count(tally, history, load, group);
    pauses.addTo(tally);
  } finally {
    await load.close();
    await group.close();
  }
}

/** Reports the progress of the end, because the end takes minutes on a busy machine. */
function phase(name: string): void {
  if (process.stderr.isTTY) process.stderr.write(`waiting for ${name}\n`);
  else progress(`waiting for ${name}`);
}

/** Writes a line for a log; a terminal has a progress line instead. */
function progress(line: string): void {
  if (process.env.HARNESS_VERBOSE) process.stderr.write(`${line}\n`);
}

/** Removes the bytes of erased players from the files of the members, with the command that an operator uses. */
function scrub({ nodes }: Group, tally: Tally): Promise<void> {
  const [node] = nodes;
  const { snapshotCount, maxWals } = walSettings;
  const args = [ptf, 'cluster', 'scrub', '--now', '--snapshot-count', snapshotCount, '--max-wals', maxWals, '--json'];
  const options = { env: { PATH: process.env.PATH, DATA_DIR: node!.dir, GROUP_ID: groupId }, timeout: scrubMs };
  return new Promise((resolve) => {
    execFile(process.execPath, args, options, (error, stdout, stderr) => {
      if (error !== null) tally.break(`ptf cluster scrub: ${stderr || stdout || error.message}`);
      resolve();
    });
  });
}

/** Stops the nodes, the leader last, and then the members. */
async function stopped({ nodes, etcd }: Group): Promise<void> {
  const leader = await leaderOf(nodes);
  const last = leader === undefined ? [] : [leader];
  for (const node of [...nodes.filter((other) => other !== leader), ...last]) await node.child.kill('SIGTERM');
  for (let index = 0; index < etcd.count; index++) await etcd.member(index).kill('SIGTERM');
}

/** Breaks the run if a file of a node or a member contains bytes of an erased player. */
function searchErased(group: Group, { erased }: Load, tally: Tally): void {
  const marks = new Map<string, Buffer>();
  for (const { hash, eventIds } of erased) {
    marks.set(`the hash ${hash}`, Buffer.from(hash, 'hex'));
    marks.set(`the hash ${hash} as text`, Buffer.from(hash));
    for (const id of eventIds) marks.set(`event ${id}`, Buffer.from(id));
  }
  const dirs = [...group.nodes.map(({ dir }) => dir), ...group.etcd.folders];
  for (const found of filesWith(dirs, marks)) tally.break(found);
  tally.add('erased players searched for', erased.length);
}

function count(tally: Tally, history: History, load: Load, { watch, nodes }: Group): void {
  tally.add('events acknowledged', history.events.filter(({ outcome }) => outcome === 'acknowledged').length);
  tally.add('events with unknown outcome', history.events.filter(({ outcome }) => outcome === 'unknown').length);
  tally.add('withdrawals and erasures', history.removals.filter(({ outcome }) => outcome === 'acknowledged').length);
  for (const { name, ends } of nodes) {
    if (ends.length > 0) tally.add(`${name} ended by itself`, ends.length);
    for (const end of new Set(ends.map(lastMessage))) tally.add(`  ${end}`);
  }
  tally.add('leaders', watch.fences.length);
  tally.add('slots', watch.slots.length);
  for (const [what, calls] of [
    ['reads of single nodes', load.reads],
    ['reads of the client', load.clientReads],
    ['writes of the client', load.writes],
  ] as const) {
    for (const [code, times] of countsOf(calls))
      tally.add(`${what}${code === 'ok' ? ' answered' : `: ${code}`}`, times);
  }
  for (const name of [
    'events acknowledged',
    'leaders',
    'slots',
    'reads of single nodes answered',
    'erased players searched for',
  ])
    tally.need(name);
}

/** Returns the exit of a process and its last log message. */
function lastMessage(end: string): string {
  const line = end.match(/"msg":"[^"]*"/g)?.at(-1) ?? '';
  return `${end.split(':')[0]} ${line}`;
}

function countsOf(calls: readonly Call[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const { code } of calls) counts.set(code, (counts.get(code) ?? 0) + 1);
  return counts;
}

/** The longest times without a successful answer, for each fault. */
class Pauses {
  readonly #writes = new Map<string, number[]>();
  readonly #reads = new Map<string, number[]>();

  /** Adds a round of a fault from `from` to `to`. Returns the longest time without an acknowledged write. */
  add(name: string, load: Load, from: number, to: number): number {
    const write = longestGap(load.writes, from, to);
    push(this.#writes, name, write);
    push(this.#reads, name, longestGap(load.clientReads, from, to));
    return write;
  }

  addTo(tally: Tally): void {
    for (const [name, all] of this.#writes) tally.most(`${name}: pause of writes, p50 ms`, median(all));
    for (const [name, all] of this.#writes)
      tally.most(`${name}: pause of writes, max ms`, Math.round(Math.max(...all)));
    for (const [name, all] of this.#reads) tally.most(`${name}: pause of reads, max ms`, Math.round(Math.max(...all)));
  }
}

/** Returns the longest time between two successful answers to any caller. */
function longestGap(calls: readonly Call[], from: number, to: number): number {
  const answered = calls.filter(({ code, endedAt }) => code === 'ok' && endedAt >= from && endedAt <= to);
  const times = [from, ...answered.map(({ endedAt }) => endedAt).sort((one, two) => one - two), to];
  return Math.max(...times.slice(1).map((time, index) => time - times[index]!));
}

function push(all: Map<string, number[]>, name: string, value: number): void {
  all.set(name, [...(all.get(name) ?? []), value]);
}

function median(values: readonly number[]): number {
  return Math.round([...values].sort((one, two) => one - two)[Math.floor(values.length / 2)]!);
}

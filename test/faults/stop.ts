/**
 * Starts and stops, the stop at any moment: while threads load, under load, amid a snapshot or an erasure. Each must
 * end with 0 within its time and lose nothing; a thread that is ended amid a call into LMDB would end the process by a
 * signal.
 */
import { rmSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { limits } from '../../src/limits.js';
import { startProcess, temporaryFolder } from '../support/process.js';
import { Random } from '../support/random.js';
import { type Fault, type Findings, type Rounds, Tally } from './fault.js';
import { eventOf, isAnswered, missing, type Peer, post, register } from './kill.js';

const connections = 4;
const batchEvents = 100;
const runMsMax = 600;
const earlyMsMax = 20;

/** Sends batches, and at times an erasure, until the node is gone; adds to `acknowledged` what was. */
async function write(url: string, peer: Peer, name: string, random: Random, acknowledged: string[]): Promise<void> {
  for (let i = 0; ; i++) {
    const ids = Array.from({ length: batchEvents }, (_, n) => `${name}-${i}-${n}`);
    try {
      if (random.below(20) === 0) {
        const hash = random
          .below(2 ** 32)
          .toString(16)
          .padStart(64, '0');
        await post(url, '/api/v1/events', peer, eventOf(peer, `${name}-${i}-erased`, hash));
        const headers = { 'x-peer-api-key': peer.api_key };
        await fetch(`${url}/api/v1/subjects/${hash}`, { method: 'DELETE', headers });
      }
      const events = ids.map((id) => eventOf(peer, id, `player ${id}`));
      const response = await post(url, '/api/v1/events/batch', peer, { events });
      const body = (await response.json()) as { results?: { status: number }[] };
      if (response.status === 200) acknowledged.push(...ids.filter((_, n) => body.results![n]!.status === 201));
      else if (response.status === 503) await delay(5);
    } catch {
      return;
    }
  }
}

async function run(rounds: Rounds): Promise<Findings> {
  const tally = new Tally();
  const random = new Random(rounds.seed);
  const dir = temporaryFolder();
  const env = {
    DATA_DIR: dir,
    LOG_LEVEL: 'info',
    SNAPSHOT_EVERY: '200',
    WEIGHTS_INTERVAL_MS: '50',
    ERASURE_QUOTA_PER_DAY: '1000000',
  };
  try {
    let node = await startProcess(env);
    const peer = await register(node.url);
    for (const round of rounds) {
      const { url } = node;
      const acknowledged: string[] = [];
      const names = Array.from({ length: connections }, (_, i) => `r${round}-c${i}`);
      const writers = names.map((name) => write(url, peer, name, random, acknowledged));
      // A third of the stops comes before there is anything to stop.
      const isEarly = round % 3 === 1;
      if (!isEarly && !(await isAnswered(() => acknowledged.length, node))) {
        tally.break(`round ${round}: nothing was acknowledged, so nothing could be lost`);
        rounds.end();
      }
      await delay(random.below(isEarly ? earlyMsMax : runMsMax));
      const started = performance.now();
      const exit = await node.kill('SIGTERM');
      const ms = performance.now() - started;
      tally.most('longest stop, ms', Math.round(ms));
      if (exit !== 0) tally.break(`round ${round}: a stop ended with ${exit}: ${node.output().slice(-600)}`);
      if (ms > limits.shutdownMs) tally.break(`round ${round}: a stop took ${Math.round(ms)} ms`);
      await Promise.all(writers);
      tally.add('acknowledged events', acknowledged.length);
      node = await startProcess(env);
      const lost = await missing(node.url, peer, acknowledged);
      if (lost.length > 0) tally.break(`round ${round}: ${lost.length} acknowledged events are lost`);
    }
    await node.kill('SIGKILL');
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
  return tally.findings();
}

export const stop: Fault = {
  name: 'stop',
  summary: 'stops at any moment of a node that loads, writes, snapshots and erases; each must end with 0',
  rounds: 300,
  run,
};

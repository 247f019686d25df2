/**
 * SIGKILL at random times under concurrent writers: a node of its own on a real disk is killed and started again on the
 * same folder. All acknowledged events and withdrawals must be present.
 */
import { rmSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { verifyInChild } from '../../src/workers/verify/verify-runner.js';
import { type NodeProcess, startProcess, temporaryFolder } from '../support/process.js';
import { Random } from '../support/random.js';
import { until } from '../support/until.js';
import { type Fault, type Findings, type Rounds, Tally } from './fault.js';

const connections = 32;
/** Percentage of writes that withdraw an event. */
const withdrawalsPercent = 2;
const batchMax = 500;
/** From the first acknowledgement of a round. */
const killWithinMs = 500;

export interface Peer {
  readonly peer_id: string;
  readonly api_key: string;
}

export async function register(url: string): Promise<Peer> {
  const response = await fetch(`${url}/api/v1/peers/register`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ peer_name: 'durable', game_ids: ['g'] }),
  });
  if (response.status !== 201) throw new Error(`registration answered ${response.status}`);
  return (await response.json()) as Peer;
}

export function eventOf(peer: Peer, id: string, player: string) {
  const timestamp = '2026-01-01T00:00:00Z';
  const fixed = { schema_version: '1.0.0', event_type: 'commendation', game_id: 'g', severity: 1, timestamp };
  return { ...fixed, event_id: id, peer_id: peer.peer_id, player_id: player };
}

export function post(url: string, path: string, peer: Peer, body: unknown, more = {}): Promise<Response> {
  const headers = { 'content-type': 'application/json', 'x-peer-api-key': peer.api_key, ...more };
  return fetch(url + path, { method: 'POST', headers, body: JSON.stringify(body) });
}

async function withdraw(url: string, peer: Peer, id: string): Promise<number> {
  const headers = { 'x-peer-api-key': peer.api_key };
  const response = await fetch(`${url}/api/v1/events/${id}`, { method: 'DELETE', headers });
  await response.arrayBuffer();
  return response.status;
}

interface Acknowledged {
  readonly events: string[];
  readonly withdrawals: string[];
}

/**
 * Resolves once something was acknowledged, before which a round has nothing to lose, or once nothing can be any more:
 * the node has ended, or answered nothing else for far longer than that takes. Which of both, it answers.
 */
export async function isAnswered(acknowledged: () => number, { ended }: NodeProcess): Promise<boolean> {
  let isOver = false;
  void ended.then(() => {
    isOver = true;
  });
  await until(() => isOver || acknowledged() > 0).catch(() => undefined);
  return acknowledged() > 0;
}

/** One connection: writes on and on until the node dies; answers what was acknowledged, and says so meanwhile. */
async function write(
  node: NodeProcess,
  peer: Peer,
  name: string,
  random: Random,
  onAcknowledged: () => void,
): Promise<Acknowledged> {
  const events: string[] = [];
  const withdrawals: string[] = [];
  for (let i = 0; ; i++) {
    const id = `${name}-${i}`;
    try {
      if (events.length > withdrawals.length && random.below(100) < withdrawalsPercent) {
        const oldest = events[withdrawals.length]!;
        if ((await withdraw(node.url, peer, oldest)) === 200) withdrawals.push(oldest);
        continue;
      }
      const response = await post(node.url, '/api/v1/events', peer, eventOf(peer, id, `player ${i % 7}`));
      if (response.status === 201) {
        events.push(id);
        onAcknowledged();
      }
      await response.arrayBuffer();
    } catch {
      return { events, withdrawals };
    }
  }
}

/** Ids of `ids` that the node does not hold: each is sent again, and a stored one, withdrawn or not, is a duplicate. */
export async function missing(url: string, peer: Peer, ids: readonly string[]): Promise<string[]> {
  const lost: string[] = [];
  for (let from = 0; from < ids.length; from += batchMax) {
    const part = ids.slice(from, from + batchMax);
    const events = part.map((id) => eventOf(peer, id, 'nobody'));
    // A connection that rests for as long as a busy machine likes may be closed just when it is used again.
    const response = await post(url, '/api/v1/events/batch', peer, { events }, { connection: 'close' });
    const { results } = (await response.json()) as { results: { status: number }[] };
    lost.push(...part.filter((_, i) => results[i]!.status !== 409));
  }
  return lost;
}

/** The data that rounds of writers share. */
export interface Writing {
  readonly peer: Peer;
  readonly random: Random;
  readonly rounds: Rounds;
  readonly tally: Tally;
}

/**
 * Lets `connections` writers write to `node` until `end` has ended it, within `endWithinMs` of the first
 * acknowledgement. Resolves with the acknowledged writes; after a round without any, no further rounds follow.
 */
export async function writtenUntil(
  end: () => Promise<void>,
  node: NodeProcess,
  { peer, random, rounds, tally }: Writing,
  { round, count, endWithinMs }: { readonly round: number; readonly count: number; readonly endWithinMs: number },
): Promise<Acknowledged> {
  let answered = 0;
  const onAcknowledged = () => {
    answered += 1;
  };
  const names = Array.from({ length: count }, (_, i) => `r${round}-c${i}`);
  const writers = names.map((name) => write(node, peer, name, random, onAcknowledged));
  if (!(await isAnswered(() => answered, node))) {
    tally.break(`round ${round}: nothing was acknowledged, so nothing could be lost`);
    rounds.end();
  }
  await delay(random.below(endWithinMs));
  await end();
  const written = await Promise.all(writers);
  const events = written.flatMap((of) => of.events);
  const withdrawals = written.flatMap((of) => of.withdrawals);
  tally.add('acknowledged events', events.length);
  tally.add('acknowledged withdrawals', withdrawals.length);
  return { events, withdrawals };
}

/** Checks that a restarted node holds all acknowledged writes. */
export async function mustHold(
  { url }: NodeProcess,
  { peer, tally }: Writing,
  round: number,
  { events, withdrawals }: Acknowledged,
): Promise<void> {
  const lost = await missing(url, peer, events);
  if (lost.length > 0) tally.break(`round ${round}: ${lost.length} acknowledged events are lost, ${lost[0]} first`);
  for (const id of withdrawals) {
    const status = await withdraw(url, peer, id);
    if (status !== 404) tally.break(`round ${round}: ${id} was withdrawn, and again with ${status}`);
  }
}

/** A last stop in good order, and all of the store. */
export async function mustEndWell(node: NodeProcess, dir: string, { tally }: Writing): Promise<void> {
  const stopped = await node.kill('SIGTERM');
  if (stopped !== 0) tally.break(`the last stop ended with ${stopped}`);
  const { ok, faults } = await verifyInChild(dir, 'full');
  if (!ok) tally.break(`the store does not hold: ${faults.join('; ')}`);
}

async function run(rounds: Rounds): Promise<Findings> {
  const tally = new Tally();
  const random = new Random(rounds.seed);
  const dir = temporaryFolder();
  const env = { DATA_DIR: dir, LOG_LEVEL: 'info', SNAPSHOT_EVERY: '500' };
  let node = await startProcess(env);
  try {
    const writing = { peer: await register(node.url), random, rounds, tally };
    for (const round of rounds) {
      const running = node;
      const kill = async () => {
        const ended = await running.kill('SIGKILL');
        if (ended !== 'SIGKILL') tally.break(`round ${round}: the node ended by itself with ${ended}`);
      };
      const acknowledged = await writtenUntil(kill, running, writing, {
        round,
        count: connections,
        endWithinMs: killWithinMs,
      });
      node = await startProcess(env);
      await mustHold(node, writing, round, acknowledged);
    }
    if (rounds.strict) tally.need('acknowledged withdrawals');
    await mustEndWell(node, dir, writing);
  } finally {
    node.child.kill('SIGKILL');
    rmSync(dir, { recursive: true, force: true });
  }
  return tally.findings();
}

export const kill: Fault = {
  name: 'kill',
  summary: `SIGKILL at random moments under ${connections} writers; nothing acknowledged may be lost`,
  rounds: 1_000,
  run,
};

/** What was acknowledged survives SIGKILL, and each acknowledgement waited for a sync of its own. */
import { spawnSync } from 'node:child_process';
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { endAll, type NodeProcess, startProcess, temporaryFolder } from './support/process.js';
import { Random } from './support/random.js';

const ROUNDS = Number(process.env.KILL_ROUNDS ?? 20);
const CONNECTIONS = 32;

interface Peer {
  readonly peer_id: string;
  readonly api_key: string;
}

async function register(url: string): Promise<Peer> {
  const response = await fetch(`${url}/api/v1/peers/register`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ peer_name: 'durable', game_ids: ['g'] }),
  });
  assert.is(response.status, 201);
  return (await response.json()) as Peer;
}

function eventOf(peer: Peer, id: string, player: string) {
  const timestamp = '2026-01-01T00:00:00Z';
  const fixed = { schema_version: '1.0.0', event_type: 'commendation', game_id: 'g', severity: 1, timestamp };
  return { ...fixed, event_id: id, peer_id: peer.peer_id, player_id: player };
}

function post(url: string, path: string, peer: Peer, body: unknown): Promise<Response> {
  const headers = { 'content-type': 'application/json', 'x-peer-api-key': peer.api_key };
  return fetch(url + path, { method: 'POST', headers, body: JSON.stringify(body) });
}

/** One connection: sends event after event until the node dies; answers the ids that were acknowledged. */
async function write(node: NodeProcess, peer: Peer, name: string): Promise<string[]> {
  const acknowledged: string[] = [];
  for (let i = 0; ; i++) {
    const id = `${name}-${i}`;
    try {
      const response = await post(node.url, '/api/v1/events', peer, eventOf(peer, id, `player ${i % 7}`));
      if (response.status === 201) acknowledged.push(id);
      await response.arrayBuffer();
    } catch {
      return acknowledged;
    }
  }
}

/** Ids of `ids` that the node does not hold: each is sent again, and a stored one is a duplicate. */
async function missing(node: NodeProcess, peer: Peer, ids: readonly string[]): Promise<string[]> {
  const lost: string[] = [];
  for (let from = 0; from < ids.length; from += 500) {
    const part = ids.slice(from, from + 500);
    const events = part.map((id) => eventOf(peer, id, 'nobody'));
    const response = await post(node.url, '/api/v1/events/batch', peer, { events });
    const { results } = (await response.json()) as { results: { status: number }[] };
    lost.push(...part.filter((_, i) => results[i]!.status !== 409));
  }
  return lost;
}

test(`${ROUNDS} rounds of SIGKILL under ${CONNECTIONS} writers lose no acknowledged event`, async () => {
  const dir = temporaryFolder();
  const random = new Random(Number(process.env.KILL_SEED ?? 1));
  const env = { DATA_DIR: dir, LOG_LEVEL: 'info', SNAPSHOT_EVERY: '500' };
  let node = await startProcess(env);
  const peer = await register(node.url);
  let acknowledged = 0;
  for (let round = 0; round < ROUNDS; round++) {
    const running = node;
    const writers = Array.from({ length: CONNECTIONS }, (_, i) => write(running, peer, `r${round}-c${i}`));
    await new Promise((resolve) => setTimeout(resolve, 100 + random.below(400)));
    assert.is(await running.kill('SIGKILL'), 'SIGKILL');
    const ids = (await Promise.all(writers)).flat();
    acknowledged += ids.length;
    node = await startProcess(env);
    assert.equal(await missing(node, peer, ids), [], `round ${round}`);
  }
  assert.ok(acknowledged >= 1000, `only ${acknowledged} events were acknowledged`);
  process.stdout.write(`${acknowledged} acknowledged events, none lost\n`);
  assert.is(await node.kill('SIGTERM'), 0);
  rmSync(dir, { recursive: true });
});

test('a hundred sequential acknowledged events cause at least a hundred syncs', async () => {
  if (spawnSync('strace', ['-V']).status !== 0) {
    process.stdout.write('SKIPPED: strace is not installed, so syncs cannot be counted\n');
    return;
  }
  const dir = temporaryFolder();
  const trace = join(dir, 'trace.txt');
  const wrapper = ['strace', '-f', '-e', 'trace=fdatasync,fsync,msync', '-o', trace];
  const node = await startProcess({ DATA_DIR: dir }, wrapper);
  const peer = await register(node.url);
  const syncs = () => (readFileSync(trace, 'utf8').match(/(fdatasync|fsync|msync)\(/g) ?? []).length;
  const before = syncs();
  for (let i = 0; i < 100; i++) {
    const response = await post(node.url, '/api/v1/events', peer, eventOf(peer, `e${i}`, 'p'));
    assert.is(response.status, 201);
  }
  const after = syncs();
  assert.ok(after - before >= 100, `${after - before} syncs`);
  await node.kill('SIGTERM');
  rmSync(dir, { recursive: true });
});

test.after(endAll);
test.run();

/**
 * An acknowledged event survives SIGKILL, and no answer leaves the node before its event is durable: LMDB syncs the
 * pages of a commit, then writes the meta page through a descriptor that syncs each write.
 */
import { hash } from 'node:crypto';
import { readFileSync, realpathSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { kill } from './faults/kill.js';
import { testShort } from './faults/short.js';
import { eventOf, type Peer, post, register } from './faults/writers.js';
import { answersOf, converse } from './fuzz/wire.js';
import { endAll, type NodeProcess, startProcess, temporaryFolder } from './support/process.js';
import { canTrace, escaped, type TracedCall, tracedCalls, tracing } from './support/traced-calls.js';

// The long form is `npm run faults -- kill`.
testShort(kill, 20);

const metaPagesBytes = 2 * 4096;
const salt = 'a salt of sixteen bytes';
const writes = ['write', 'writev', 'pwrite64', 'pwritev', 'pwritev2', 'sendto', 'sendmsg'];
const syncs = ['fsync', 'fdatasync'];

/** Each event has an id and a player of the same name, which is nobody else's. */
type Sending = (node: NodeProcess, peer: Peer) => Promise<string[]>;

const oneByOne: Sending = async (node, peer) => {
  const names = Array.from({ length: 100 }, (_, i) => `alone-${i}-`);
  for (const name of names) {
    const response = await post(node.url, '/api/v1/events', peer, eventOf(peer, name, name));
    assert.is(response.status, 201);
    await response.arrayBuffer();
  }
  return names;
};

const pipelined: Sending = async (node, peer) => {
  const callers = Array.from({ length: 8 }, (_, c) => Array.from({ length: 12 }, (_, i) => `caller-${c}-${i}-`));
  const head = `POST /api/v1/events HTTP/1.1\r\nHost: x\r\nX-Peer-API-Key: ${peer.api_key}\r\nContent-Type: application/json\r\n`;
  await Promise.all(
    callers.map(async (names) => {
      const bodies = names.map((name) => JSON.stringify(eventOf(peer, name, name)));
      const text = bodies.map((body) => `${head}Content-Length: ${body.length}\r\n\r\n${body}`).join('');
      const answers = answersOf(await converse(Number(new URL(node.url).port), [Buffer.from(text)]), []);
      assert.equal(
        answers.map(({ status }) => status),
        names.map(() => 201),
      );
    }),
  );
  return callers.flat();
};

const inBatches: Sending = async (node, peer) => {
  const batches = Array.from({ length: 5 }, (_, b) => Array.from({ length: 50 }, (_, i) => `batch-${b}-${i}-`));
  await Promise.all(
    batches.map(async (names) => {
      const events = names.map((name) => eventOf(peer, name, name));
      const response = await post(node.url, '/api/v1/events/batch', peer, { events });
      const { results } = (await response.json()) as { results: { status: number }[] };
      assert.ok(results.every(({ status }) => status === 201));
    }),
  );
  return batches.flat();
};

/** True if a call writes the meta page that counts from now on: it is the only write to the first two pages. */
function isOfMeta({ name, args }: TracedCall): boolean {
  return name === 'pwrite64' && Number(args.slice(args.lastIndexOf(',') + 1)) < metaPagesBytes;
}

/** The commit that made an event durable before its answer began to leave. Throws where there is none. */
function commitOf(name: string, ofLog: readonly TracedCall[], answers: readonly TracedCall[]): TracedCall {
  const subject = escaped(hash('sha256', name + salt, 'buffer'));
  const stored = ofLog.find((call) => writes.includes(call.name) && call.args.includes(subject));
  assert.ok(stored, `${name} was never written to the log`);
  const synced = ofLog.find((call) => syncs.includes(call.name) && call.begin > stored.end);
  assert.ok(synced, `${name} was never synced`);
  const committed = ofLog.find((call) => isOfMeta(call) && call.begin > stored.end);
  assert.ok(committed, `${name} was never committed`);
  assert.ok(committed.begin > synced.end, `${name} counted before it was synced`);
  const syncing = ofLog.filter((call) => call.name === 'openat' && call.args.includes('O_DSYNC')).map(({ fd }) => fd);
  assert.ok(syncing.includes(committed.fd), `the meta page of ${name} was not synced`);
  const answered = answers.find(({ args }) => args.includes(escaped(Buffer.from(`"event_id":"${name}"`))));
  assert.ok(answered, `no answer names ${name}`);
  assert.ok(committed.end < answered.begin, `${name} was answered before it was durable`);
  return committed;
}

for (const FAST_PATH of ['true', 'false']) {
  test(`an event and its meta page are synced before its answer is written (fast path ${FAST_PATH})`, async () => {
    if (!canTrace()) {
      process.stdout.write('SKIPPED: strace is not installed or may not trace, so syncs are not seen\n');
      return;
    }
    const dir = realpathSync(temporaryFolder());
    const trace = `${dir}-trace.txt`;
    const env = { DATA_DIR: dir, GROUP_SALT: salt, FAST_PATH };
    const node = await startProcess(env, tracing([...writes, ...syncs, 'openat'], [...syncs, 'pwrite64'], trace));
    const peer = await register(node.url);
    const alone = await oneByOne(node, peer);
    const others = [...(await pipelined(node, peer)), ...(await inBatches(node, peer))];
    // Once this is answered, every answer before has left its call.
    await fetch(`${node.url}/api/v1/health`);
    await node.kill('SIGKILL');
    const calls = tracedCalls(readFileSync(trace, 'utf8'));
    const ofLog = calls.filter((call) => call.of === join(dir, 'log', 'data.mdb'));
    const answers = calls.filter((call) => writes.includes(call.name) && call.of.startsWith('TCP:'));
    const commits = alone.map((name) => commitOf(name, ofLog, answers));
    assert.is(new Set(commits).size, alone.length, 'who waits for each answer has a commit of its own for each');
    for (const name of others) commitOf(name, ofLog, answers);
    rmSync(dir, { recursive: true });
  });
}

test.after(endAll);
test.run();

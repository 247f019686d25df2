/** Batches of a peer that ignores refusals wait at the face of the node, and those of other peers do not. */
import { hash } from 'node:crypto';
import { once } from 'node:events';
import { connect } from 'node:net';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { limits } from '../../../src/limits.js';
import { ask } from '../exchange.js';
import { startFace, type TestFace } from '../face.js';
import { acceptAfter, activeKey, peerView } from '../group-double.js';
import { eventBody } from '../samples.js';

const otherKey = 'ptf_dev_other';
const views = new Map([activeKey, otherKey].map((key, index) => [hash('sha256', key, 'hex'), peerView(index)]));
const path = '/api/v1/events/batch';
const small = { events: [eventBody()] };

/** A face of an overloaded group that refuses events until `state.admits`. */
async function overloadedFace(fastPath: boolean, admits = false) {
  const state = { admits, submitted: 0 };
  const face = await startFace({
    fastPath,
    group: {
      peerByKeyDigest: (digest) => views.get(digest),
      overloaded: true,
      admits: () => state.admits,
      submit: acceptAfter(() => state.submitted++),
    },
  });
  return { face, state, [Symbol.asyncDispose]: () => face.drain() };
}

function headOf(bytes: number): string {
  return `POST ${path} HTTP/1.1\r\nHost: x\r\nX-Peer-API-Key: ${activeKey}\r\nContent-Type: application/json\r\nContent-Length: ${bytes}\r\n\r\n`;
}

/** Has so many large batches of the peer refused at the same time that further ones wait for as long as they may. */
async function indebt(face: TestFace, fastPath: boolean): Promise<void> {
  const body = Buffer.alloc(limits.batchBodyBytes, ' ');
  const sockets = Array.from({ length: limits.batchesArriving }, () => connect(face.port, '127.0.0.1'));
  await Promise.all(sockets.map((socket) => once(socket, 'connect')));
  const answers = sockets.map(async (socket) => String(((await once(socket, 'data')) as [Buffer])[0]));
  for (const socket of sockets) socket.on('error', () => undefined).write(headOf(body.length));
  // The node has read the heads once it answers what arrived later; none of them has a debt yet.
  assert.is((await ask(face.url, path, { key: otherKey, json: small })).status, 503);
  for (const socket of sockets) socket.write(body);
  // Koa refuses by the head, so most of them wait there.
  for (const answer of fastPath ? answers : answers.slice(0, 1)) assert.match(await answer, /^HTTP\/1\.1 503 /);
}

for (const [way, fastPath] of [
  ['the fast path', true],
  ['Koa', false],
] as const) {
  test(`a batch of a peer in debt waits, and later ones of another peer do not (${way})`, async () => {
    await using overloaded = await overloadedFace(fastPath);
    const { face, state } = overloaded;
    await indebt(face, fastPath);
    state.admits = true;
    const order: string[] = [];
    const send = async (key: string): Promise<void> => {
      const { status } = await ask(face.url, path, { key, json: small });
      order.push(`${key} ${status}`);
    };
    const waits = send(activeKey);
    for (let n = 0; n < 3; n++) await send(otherKey);
    assert.equal(order, new Array(3).fill(`${otherKey} 200`));
    await waits;
    assert.equal([order.at(-1), state.submitted], [`${activeKey} 200`, 4]);
  });

  test(`a batch whose caller resets the connection while it waits is not submitted (${way})`, async () => {
    await using overloaded = await overloadedFace(fastPath);
    const { face, state } = overloaded;
    await indebt(face, fastPath);
    state.admits = true;
    const body = JSON.stringify(small);
    const socket = connect(face.port, '127.0.0.1');
    await once(socket, 'connect');
    socket.write(headOf(body.length) + body);
    // The node has read it once it answers what arrived later.
    assert.is((await ask(face.url, path, { key: otherKey, json: small })).status, 200);
    socket.resetAndDestroy();
    assert.is((await ask(face.url, path, { key: activeKey, json: small })).status, 200);
    assert.is(state.submitted, 2);
    assert.not(face.logged.some(({ level }) => Number(level) >= 50));
  });

  test(`a drain answers the batches that wait (${way})`, async () => {
    const { face, state } = await overloadedFace(fastPath);
    await indebt(face, fastPath);
    state.admits = true;
    const waits = ask(face.url, path, { key: activeKey, json: small });
    assert.is((await ask(face.url, path, { key: otherKey, json: small })).status, 200);
    await face.drain();
    assert.is((await waits).status, 200);
  });
}

test('full batches that arrive together are parsed one after the other, and all answered', async () => {
  await using overloaded = await overloadedFace(true, true);
  const { face, state } = overloaded;
  const { parse } = JSON;
  const now = performance.now;
  let nowMs = performance.now();
  let isOver = false;
  try {
    const events = Array.from({ length: limits.batchEventsMax }, () => eventBody());
    const turnsOfBatches: number[] = [];
    let turns = 0;
    const countTurns = (): void => {
      turns += 1;
      if (!isOver) setImmediate(countTurns);
    };
    // By this clock each batch takes all the time of a turn, and nothing else takes any.
    performance.now = () => nowMs;
    JSON.parse = (...given: Parameters<typeof parse>) => {
      if (String(given[0]).startsWith('{"events":')) {
        turnsOfBatches.push(turns);
        nowMs += limits.workTurnMs;
      }
      return parse(...given) as unknown;
    };
    setImmediate(countTurns);
    const answers = await Promise.all(
      Array.from({ length: 12 }, async () => (await ask(face.url, path, { key: activeKey, json: { events } })).status),
    );
    assert.equal(answers, new Array(12).fill(200));
    assert.is(turnsOfBatches.length, 12);
    // The count may rise just before or just after a batch is parsed, so two batches may share a number.
    assert.ok(new Set(turnsOfBatches).size > 9, `parsed in turns ${turnsOfBatches.join(', ')} of the loop`);
  } finally {
    isOver = true;
    JSON.parse = parse;
    performance.now = now;
  }
  assert.is(state.submitted, 12);
});

test.run();

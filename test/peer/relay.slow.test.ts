/** `ptf-peer relay` as a process between a real node and a receiver: signatures, retries, order, resume. */

import { readFileSync } from 'node:fs';
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import { Webhook } from 'standardwebhooks';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { subjectHash } from '../../src/client/ids/subject.js';
import { startTestNode, type TestNode, type TestPeer } from '../../src/testing/test-node.js';
import type { Running } from '../support/child-process.js';
import { until } from '../support/until.js';
import { endChildren, PeerWorld } from './peer-world.js';

interface Received {
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  // biome-ignore lint/suspicious/noExplicitAny: the body is what the test looks at
  readonly body: any;
}

class Receiver {
  readonly all: Received[] = [];
  /** The next answers; 204 if there is none. */
  readonly answers: number[] = [];
  readonly #server: Server;

  constructor() {
    this.#server = createServer((request, response) => {
      let text = '';
      request.setEncoding('utf8').on('data', (part: string) => {
        text += part;
      });
      request.on('end', () => {
        const status = this.answers.shift() ?? 204;
        if (status === 204) this.all.push({ headers: request.headers, text, body: JSON.parse(text) });
        response.writeHead(status, status === 429 ? { 'retry-after': '1' } : {}).end();
      });
    });
  }

  async start(): Promise<this> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
    return this;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as { port: number }).port}/hooks?token=a-secret-token`;
  }

  of(subject: string): Received[] {
    return this.all.filter(({ body }) => body.data?.subject_hash === subject);
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise<void>((resolve) => this.#server.close(() => resolve()));
  }
}

let node: TestNode;
let peers: TestPeer[];
let receiver: Receiver;
let world: PeerWorld;

test.before(async () => {
  node = await startTestNode();
  peers = await node.seed({ bad: ['known-bad'], good: ['known-good'] });
});
test.after(async () => {
  endChildren();
  await node.close();
});
test.before.each(async () => {
  receiver = await new Receiver().start();
  world = new PeerWorld();
  world.writeConfig({ url: node.url, ...peers[0]!, groupSalt: node.groupSalt });
});
test.after.each(() => receiver.close());

const hashOf = (id: string) => subjectHash(id, node.groupSalt);

async function relay(...args: string[]): Promise<Running> {
  const running = world.start(['relay', '--webhook', receiver.url, ...args]);
  await until(() => /follows the stream/.test(running.err()));
  return running;
}

/** Makes a player untrusted, by all peers. */
async function condemn(playerId: string): Promise<void> {
  for (const [index, peer] of peers.entries()) {
    const at = Date.now() - index;
    const event = { eventType: 'ban_applied', playerId, gameId: 'arena', severity: 1 } as const;
    await node.client(peer).submitMany([0, 1, 2].map((n) => ({ ...event, at: at - n * 1_000 })));
  }
}

async function end({ child, ended }: Running, signal: NodeJS.Signals = 'SIGTERM') {
  child.kill(signal);
  return ended;
}

test('a change of a verdict arrives as a webhook with a valid signature', async () => {
  const running = await relay();
  await condemn('relayed-1');
  await until(() => receiver.of(hashOf('relayed-1')).some(({ body }) => body.data.verdict === 'untrusted'));
  const secret = readFileSync(/secret in (.*)$/m.exec(running.out())![1]!, 'utf8').trim();
  let before = 'neutral';
  for (const { headers, text, body } of receiver.of(hashOf('relayed-1'))) {
    new Webhook(secret).verify(text, headers as Record<string, string>);
    assert.is(body.type, 'verdict.changed');
    assert.is(body.data.previous_verdict, before);
    before = body.data.verdict;
    assert.equal(Object.keys(body.data).sort(), ['confidence', 'previous_verdict', 'score', 'subject_hash', 'verdict']);
  }
  assert.is(receiver.of(hashOf('known-bad')).length, 0, 'what was known before the first start is no news');
  const { code, err } = await end(running);
  assert.is(code, 0);
  assert.not.match(err, 'a-secret-token');
});

test('with --all the first start sends each player that is not neutral', async () => {
  const running = await relay('--all');
  await until(() => receiver.of(hashOf('known-bad')).length > 0 && receiver.of(hashOf('known-good')).length > 0);
  assert.is(receiver.of(hashOf('known-good'))[0]!.body.data.verdict, 'trusted');
  await end(running);
});

test('a failing receiver finally gets each webhook, under one id', async () => {
  const running = await relay();
  receiver.answers.push(500, 429, 503);
  await condemn('relayed-2');
  await until(() => receiver.of(hashOf('relayed-2')).some(({ body }) => body.data.verdict === 'untrusted'));
  const ids = receiver.all.map(({ headers }) => headers['webhook-id']);
  assert.is(new Set(ids).size, ids.length);
  assert.match(
    (await end(running)).err,
    /answered 500; retried until the receiver accepts the webhook[\s\S]*webhooks are accepted again/,
  );
});

test('after a kill the relay goes on from the last delivery and misses no change', async () => {
  const first = await relay();
  await condemn('relayed-3');
  await until(() => receiver.of(hashOf('relayed-3')).some(({ body }) => body.data.verdict === 'untrusted'));
  await end(first, 'SIGKILL');
  await condemn('relayed-4');
  await node.settled();
  const second = await relay();
  await until(() => receiver.of(hashOf('relayed-4')).some(({ body }) => body.data.verdict === 'untrusted'));
  const steps = receiver.of(hashOf('relayed-3')).map(({ body, headers }) => [headers['webhook-id'], body.data.verdict]);
  const once = new Map(steps.map(([id, verdict]) => [id, verdict]));
  assert.is([...once.values()].filter((verdict) => verdict === 'untrusted').length, 1);
  await end(second);
});

test('an erased player is sent as removed', async () => {
  await condemn('relayed-5');
  await node.settled();
  const running = await relay('--all');
  await until(() => receiver.of(hashOf('relayed-5')).length > 0);
  await node.client(peers[0]!).eraseSubject('relayed-5');
  await until(() => receiver.of(hashOf('relayed-5')).some(({ body }) => body.type === 'player.removed'));
  await end(running);
});

test('a webhook that was deleted ends the relay with exit code 1 and one line', async () => {
  for (const [status, name] of [
    [410, 'relayed-8'],
    [404, 'relayed-8b'],
    [401, 'relayed-8c'],
  ] as const) {
    const running = await relay();
    receiver.answers.push(status);
    await condemn(name);
    const { code, err } = await running.ended;
    assert.is(code, 1);
    assert.is(err.match(new RegExp(`answered ${status}.*webhook_gone`, 'g'))?.length, 1, err);
  }
});

test('with --discord the body is an embed that mentions no user', async () => {
  const running = await relay('--discord');
  await condemn('relayed-9');
  const subject = hashOf('relayed-9').slice(0, 16);
  // Verdicts about other players may still be relayed.
  const embed = () =>
    receiver.all.find(({ body }) => {
      return /untrusted/.test(body.embeds?.[0]?.title) && JSON.stringify(body).includes(subject);
    });
  await until(() => embed() !== undefined);
  const { body, headers } = embed()!;
  assert.equal(body.allowed_mentions, { parse: [] });
  assert.is(headers['webhook-signature'], undefined);
  await end(running);
});

test.run();

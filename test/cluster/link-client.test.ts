/** The client of the link with servers that hang, close early or answer: every call settles. */
import { getEventListeners, once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { Readable } from 'node:stream';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { LinkClient, LinkError } from '../../src/cluster/link-client.js';
import { type LinkHandler, LinkRefusedError, LinkServer } from '../../src/cluster/link-server.js';
import type { Timers } from '../../src/group/ports/clock.js';
import { limits } from '../../src/limits.js';
import { timers } from '../../src/node/system.js';
import { withBounds } from '../sim/profile.js';
import { rejectionAs } from '../store/log-contract.js';
import { closing } from '../support/closing.js';
import { until } from '../support/until.js';
import { VirtualTime } from '../support/virtual-time.js';

const secret = 'a secret of at least 32 bytes, for tests';
const open: Server[] = [];
const sockets = new Set<Socket>();

async function serverThat(does: (socket: Socket) => void): Promise<string> {
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    does(socket);
  });
  open.push(server);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no address');
  return `http://127.0.0.1:${address.port}`;
}

/** A node that answers with `handle`. It reads only the authority from the head of the tunnel. */
function nodeWith(
  handle: LinkHandler,
  onFailure: (error: unknown) => void = () => undefined,
): (socket: Socket) => void {
  const link = new LinkServer(secret, 'g', handle, onFailure);
  return (socket) => {
    socket.once('data', (chunk: Buffer) => {
      const [, authority = ''] = chunk.toString('latin1').split(' ');
      link.tunnel(authority, socket, Buffer.alloc(0));
    });
  };
}

const nodeThat = (handle: () => Promise<object>): Promise<string> => serverThat(nodeWith(handle));

const call = (url: string, timeoutMs = 60_000) => ({ url, method: 'GET', path: '/node', timeoutMs }) as const;

const linkOver = (over: Pick<Timers, 'later'> = timers) => new LinkClient(secret, 'g', over);

const failureOf = (answer: Promise<unknown>) => rejectionAs(LinkError, answer);

test.after(() => {
  for (const socket of sockets) socket.destroy();
  for (const server of open) server.close();
});

test('a call fails as unsent if the node closes the connection before the link is established', async () => {
  await using link = closing(linkOver());
  const closes: Readonly<Record<string, (socket: Socket) => void>> = {
    'at once': (socket) => socket.resume().end(),
    'after the head': (socket) => socket.once('data', () => socket.end()),
    'during the handshake': (socket) =>
      socket.once('data', () => {
        socket.write('HTTP/1.1 200 Connection established\r\n\r\n');
        socket.once('data', () => socket.end());
      }),
  };
  for (const [when, close] of Object.entries(closes)) {
    assert.ok((await failureOf(link.call(call(await serverThat(close))))).isUnsent, when);
  }
});

test('a connection that is given up is closed, also while the node does not answer its handshake', async () => {
  const time = new VirtualTime();
  await using link = closing(linkOver(time));
  let [asked, closed] = [0, 0];
  const url = await serverThat((socket) => {
    socket.once('close', () => {
      closed += 1;
    });
    socket.once('data', () => {
      asked += 1;
      socket.write('HTTP/1.1 200 Connection established\r\n\r\n');
    });
    socket.resume();
  });
  const failed = failureOf(link.call(call(url)));
  await until(() => asked === 1);
  assert.match((await time.wait(failed)).message, `no connection within ${limits.linkConnectMs} ms`);
  assert.is(time.elapsed(), limits.linkConnectMs);
  await until(() => closed === 1);
});

test('a call fails after its time limit: as unsent while it has no connection, then as possibly executed', async () => {
  const time = new VirtualTime();
  await using link = closing(linkOver(time));
  const silent = await serverThat(() => undefined);
  const unsent = await time.wait(failureOf(link.call(call(silent, 100))));
  assert.match(unsent.message, /no answer within 100 ms/);
  assert.ok(unsent.isUnsent);
  const asked: (() => void)[] = [];
  const url = await nodeThat(() => new Promise((resolve) => asked.push(() => resolve({}))));
  const first = link.call(call(url));
  await until(() => asked.length === 1);
  asked[0]!();
  await first;
  const late = failureOf(link.call(call(url, 100)));
  await until(() => asked.length === 2);
  assert.not((await time.wait(late)).isUnsent);
  assert.is(time.elapsed(), 200);
});

test('closing the client ends all running calls and refuses further ones', async () => {
  const link = linkOver();
  const url = await nodeThat(() => new Promise(() => undefined));
  const silent = await serverThat(() => undefined);
  const waiting = [link.call(call(url)), link.call(call(silent))].map(failureOf);
  link.close();
  for (const failed of waiting) assert.match((await failed).message, /the node is shutting down/);
  assert.ok((await failureOf(link.call(call(url)))).isUnsent);
});

test('a signal ends a call, at once if it was aborted before', async () => {
  await using link = closing(linkOver());
  const url = await nodeThat(() => new Promise(() => undefined));
  const ending = new AbortController();
  const called = failureOf(link.call({ ...call(url), signal: ending.signal }));
  ending.abort();
  assert.match((await called).message, /was aborted/);
  const late = await failureOf(link.call({ ...call(url), signal: ending.signal }));
  assert.equal([late.isUnsent, /was aborted/.test(late.message)], [true, true]);
});

test('a handler learns that its answer is sent, or that its caller is gone', async () => {
  await using link = closing(linkOver());
  const sent: Promise<void>[] = [];
  let answers = true;
  const url = await serverThat(
    nodeWith(({ sent: one }) => {
      sent.push(one);
      return answers ? Promise.resolve({}) : new Promise(() => undefined);
    }),
  );
  await link.call(call(url));
  await sent[0];
  answers = false;
  await failureOf(link.call(call(url, 50)));
  await sent[1];
});

test('a refusal of the other node and its failure reject the call, and the failure alone is reported there', async () => {
  await using link = closing(linkOver());
  const failures: string[] = [];
  const fails = nodeWith(
    async ({ path }) => {
      throw path === '/refused' ? new LinkRefusedError('no such piece') : new Error('a defect');
    },
    (error) => failures.push(String(error)),
  );
  const url = await serverThat(fails);
  const refused = await failureOf(link.call({ ...call(url), path: '/refused' }));
  assert.equal([refused.message, refused.isUnsent], ['/refused: 404 {"error":"no such piece"}', false]);
  assert.equal(failures, []);
  assert.is((await failureOf(link.call(call(url)))).message, '/node: 500 {"error":"a defect"}');
  assert.equal(failures, ['Error: a defect']);
});

test('a request reaches the handler as it was sent, and a body or an answer beyond its bound is refused', async () => {
  await using link = closing(linkOver());
  let answer: object = {};
  const seen: unknown[] = [];
  const url = await serverThat(
    nodeWith(async ({ method, path, query, body }) => {
      seen.push([method, path, query.get('seq'), body.toString('utf8')]);
      return answer;
    }),
  );
  await withBounds({ linkBodyBytes: 10, linkAnswerBytes: 100 }, async () => {
    await link.call({ ...call(url), method: 'POST', path: '/applied?seq=5', body: { a: 'ü' } });
    await link.call(call(url));
    const sent = link.call({ ...call(url), method: 'POST', body: { a: 'long' } });
    assert.match((await failureOf(sent)).message, /404 .*the body must have at most 10 bytes/);
    answer = Uint8Array.from({ length: 100 }, (_, i) => 255 - i);
    assert.equal(new Uint8Array(await link.bytes(call(url))), answer);
    answer = new Uint8Array(101);
    const error = await failureOf(link.bytes(call(url)));
    assert.equal([error.message, error.isUnsent], [`${url}: the body must have at most 100 bytes`, false]);
  });
  assert.equal(seen.slice(0, 2), [
    ['POST', '/applied', '5', '{"a":"ü"}'],
    ['GET', '/node', null, ''],
  ]);
});

test('an answer that arrives in several pieces is whole', async () => {
  await using link = closing(linkOver());
  const sent = Buffer.from(Array.from({ length: 100_000 }, (_, i) => i % 251));
  const url = await nodeThat(async () => sent);
  assert.ok((await link.bytes(call(url))).equals(sent));
});

test('a node that cannot be reached ends no call that waits for a connection to another node', async () => {
  await using link = closing(linkOver());
  const tunnel = nodeWith(async () => ({ role: 'leader' }));
  const waiting: Socket[] = [];
  const slow = await serverThat((socket) => void waiting.push(socket));
  const dead = await serverThat(() => undefined);
  open.at(-1)!.close();
  const answer = link.call(call(slow));
  await until(() => waiting.length > 0);
  assert.ok((await failureOf(link.call(call(dead)))).isUnsent);
  tunnel(waiting[0]!);
  assert.equal(await answer, { role: 'leader' });
});

test('a call that has ended no longer listens for the end of its commands', async () => {
  await using link = closing(linkOver());
  const { signal } = new AbortController();
  await link.call({ ...call(await nodeThat(async () => ({}))), signal });
  assert.is(getEventListeners(signal, 'abort').length, 0);
});

test('the lines of an answer come as they are sent, and a lost connection or a refusal fails the call', async () => {
  await using link = closing(linkOver());
  const answer = new Readable({ read: () => undefined });
  const url = await nodeThat(async () => answer);
  const lines: string[] = [];
  const reading = link.lines(call(url), (line) => lines.push(line));
  answer.push('one\ntw');
  await until(() => lines.length === 1);
  answer.push('o\nthree');
  await until(() => lines.length === 2);
  answer.push(null);
  await reading;
  assert.equal(lines, ['one', 'two', 'three']);

  const lost = new Readable({ read: () => undefined });
  const failing = failureOf(link.lines(call(await nodeThat(async () => lost)), (line) => lines.push(line)));
  lost.push('four\n');
  await until(() => lines.length === 4);
  for (const socket of sockets) socket.destroy();
  assert.not((await failing).isUnsent);
  lost.push('five\n');
  lost.push(null);

  const refusing = await nodeThat(() => Promise.reject(new LinkRefusedError('unknown request')));
  const refused = await failureOf(link.lines(call(refusing), () => assert.unreachable()));
  assert.match(refused.message, /404.*unknown request/);
});

test('a stream of lines may be silent, but a node that does not read it is given up', () =>
  withBounds({ linkSilentMs: 20 }, async () => {
    const link = linkOver();
    const answer = new Readable({ read: () => undefined });
    let silences = 0;
    const pipe = answer.pipe.bind(answer);
    answer.pipe = (response) => {
      response.on('timeout', () => void silences++);
      return pipe(response);
    };
    const url = await nodeThat(async () => answer);
    const ways: Socket[] = [];
    const front = await serverThat((socket) => {
      const way = connect(Number(new URL(url).port), '127.0.0.1').on('error', () => undefined);
      ways.push(way);
      socket.pipe(way).pipe(socket);
    });
    const lines: string[] = [];
    const failing = failureOf(link.lines(call(front), (line) => lines.push(line)));
    answer.push('first\n');
    await until(() => lines.length === 1);
    await until(() => silences > 0);
    answer.push('second\n');
    await until(() => lines.length === 2);
    for (const way of ways) way.unpipe().pause();
    const [ofNode] = [...sockets].filter(({ remotePort }) => remotePort === ways[0]!.localPort);
    answer.push('a'.repeat(16 * 1024 * 1024));
    await until(() => ofNode!.destroyed);
    link.close();
    await failing;
  }));

test.run();

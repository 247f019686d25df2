/**
 * The stream over real connections: what the double tells arrives, a cut is resumed, an end leaves
 * nothing open.
 */
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { poolTransport } from '../../src/client/transport/pool-transport.js';
import { systemRuntime } from '../../src/client/transport/time.js';
import { TrustClient } from '../../src/client/trust-client.js';
import { bad, hashOf, StreamDouble, salt } from './stream-double.js';

/** The double behind a server of its own. */
function serve(double: StreamDouble): Server {
  return createServer((request, response) => {
    const given = new AbortController();
    response.once('close', () => given.abort(new Error('the reader is gone')));
    const headers = { 'last-event-id': request.headers['last-event-id'] as string };
    void double
      .request({ method: 'GET', path: request.url ?? '', headers, signal: given.signal })
      .then(async (answer) => {
        response.writeHead(answer.status, { 'content-type': answer.header('content-type') ?? 'application/json' });
        for await (const chunk of answer.body) response.write(chunk);
        response.end();
      })
      .catch(() => response.destroy());
  }).listen(0, '127.0.0.1');
}

test(`the cache follows the stream, through a cut, until it is closed`, async () => {
  const double = new StreamDouble({ runtime: systemRuntime, rowsPerFrame: 500 });
  const players = Array.from({ length: 2_000 }, (_, index) => `player-${index}`);
  for (const player of players) double.board.set(hashOf(player), bad);
  const server = serve(double);
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const client = new TrustClient({ url, groupSalt: salt, transport: poolTransport(url) });
  const feed = client.follow();
  await feed.live();
  assert.is(feed.state.players, 2_000);

  double.change([hashOf('player-7'), { ...bad, score: 33 }]);
  const until = async (holds: () => boolean) => {
    while (!holds()) await new Promise((resolve) => setImmediate(resolve));
  };
  await until(() => feed.state.seq === 1);
  assert.is((await client.score('player-7')).score, 33);

  double.connection.break(new Error('cut'));
  double.change([hashOf('player-8'), null]);
  await until(() => feed.state.seq === 2 && feed.state.phase === 'live');
  assert.is(double.connections.length, 2);
  assert.is(double.connection.lastEventId, '1-0');
  const trust = await client.score('player-8');
  assert.equal([trust.known, trust.source], [false, 'cache']);
  assert.is(double.calls, 0);

  await client.close();
  await until(() => !double.connection.isOpen);
  server.close();
  await once(server, 'close');
});

test.run();

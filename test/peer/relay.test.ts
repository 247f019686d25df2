/** A relay whose node answers as the test says. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { relayVerdicts } from '../../src/peer/relay/relay.js';
import { temporaryFolder } from '../support/process.js';

test('a relay whose node refuses the stream waits before it asks again, and ends with its signal', async () => {
  let asked = 0;
  const ending = new AbortController();
  const node = createServer((_, response) => {
    asked++;
    response.writeHead(401, { 'content-type': 'application/json' }).end('{"code":"invalid_api_key","error":"no"}');
  }).listen(0, '127.0.0.1');
  await once(node, 'listening');
  const url = `http://127.0.0.1:${(node.address() as AddressInfo).port}`;
  const stateDir = temporaryFolder();
  const secrets = { apiKey: 'key', groupSalt: 'a salt of sixteen bytes', signingKey: undefined };
  const config = { url, peerId: 'p', gameIds: ['g'], stateDir, path: stateDir, ...secrets };
  const webhook = { url: 'http://127.0.0.1:9/', secret: '', discord: true, newOnly: true };
  await relayVerdicts({ config, ...webhook, signal: ending.signal, log: () => setImmediate(() => ending.abort()) });
  node.close();
  assert.is(asked, 1);
});

test.run();

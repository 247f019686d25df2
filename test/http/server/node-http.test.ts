/** The server uses some of node:http that Node does not document: these tests fail when Node changes it. */
import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { createBoundedServer, detachConnections, feedUnread } from '../../../src/http/server/node-http.js';

/** Serves one caller, whose first bytes are read before node:http gets the connection. */
async function served(send: (caller: Socket) => void, answer: (response: ServerResponse, socket: Socket) => void) {
  const server = createBoundedServer(10);
  const adopt = detachConnections(server);
  server.on('request', (_, response) => answer(response, response.socket!));
  server.on('connection', (socket: Socket) => {
    let isEnded = false;
    let rest: Buffer = Buffer.alloc(0);
    const onData = (chunk: Buffer): void => {
      rest = chunk;
      socket.pause().off('data', onData);
    };
    socket.on('data', onData).once('end', () => {
      isEnded = true;
    });
    setImmediate(function pass() {
      if (rest.length === 0) {
        setImmediate(pass);
        return;
      }
      adopt(socket);
      // A single byte is a rest, too.
      feedUnread(socket, rest.subarray(0, 1), false);
      feedUnread(socket, rest.subarray(1), isEnded);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const caller = connect((server.address() as AddressInfo).port, '127.0.0.1');
  let text = '';
  caller.setEncoding('utf8').on('data', (chunk: string) => {
    text += chunk;
  });
  send(caller);
  await once(caller, 'end');
  caller.destroy();
  server.close();
  return text;
}

test('node:http has one listener of connections, which serves those that were read from before', async () => {
  assert.is(createBoundedServer(10).listenerCount('connection'), 1);
  const text = await served(
    (caller) => caller.write('GET /first HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n'),
    (response) => response.end('done'),
  );
  assert.match(text, /^HTTP\/1\.1 200 [\s\S]*done$/);
});

test('node:http ends a connection after its last answer by destroySoon', async () => {
  let ends = 0;
  await served(
    (caller) => caller.write('GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n'),
    (response, socket) => {
      const { destroySoon } = socket;
      socket.destroySoon = () => {
        ends += 1;
        destroySoon();
      };
      response.end();
    },
  );
  assert.is(ends, 1);
});

test('a caller that has ended its half gets its answer', async () => {
  const text = await served(
    (caller) => caller.end('GET / HTTP/1.1\r\nHost: a\r\n\r\n'),
    (response) => setImmediate(() => response.end('late')),
  );
  assert.match(text, /late$/);
});

test('node:http stops its reads at the event pause of a connection', async () => {
  let listeners = 0;
  await served(
    (caller) => caller.write('GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n'),
    (response, socket) => {
      listeners = socket.listenerCount('pause');
      response.end();
    },
  );
  assert.ok(listeners > 0);
});

test.run();

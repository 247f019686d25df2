/** One buffer for the reads of all connections: what is taken from it is right, and whoever listens as usual hears as usual. */
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { kept, readShared } from '../../src/http/shared-reads.js';
import { until } from '../support/until.js';

/** Runs with `count` connections: the node's ends of them, and the callers'. */
async function connected(count: number, run: (accepted: Socket[], callers: Socket[]) => Promise<void>): Promise<void> {
  const accepted: Socket[] = [];
  const server = createServer({ allowHalfOpen: true }, (socket) => accepted.push(socket));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const callers: Socket[] = [];
  for (let i = 0; i < count; i++) {
    callers.push(connect((server.address() as AddressInfo).port, '127.0.0.1'));
    await until(() => accepted.length === i + 1);
  }
  try {
    await run(accepted, callers);
  } finally {
    for (const socket of [...callers, ...accepted]) socket.destroy();
    server.close();
  }
}

test('this Node reads into the one buffer', async () => {
  await connected(2, async (accepted, callers) => {
    const memories = new Set<ArrayBufferLike>();
    let calls = 0;
    for (const socket of accepted) {
      readShared(socket, (chunk) => {
        memories.add(chunk.buffer);
        calls++;
      });
    }
    callers[0]?.write('one');
    await until(() => calls === 1);
    callers[1]?.write('two');
    await until(() => calls === 2);
    assert.is(memories.size, 1);
  });
});

for (const [name, prepare] of [
  ['into one buffer', () => undefined],
  // As a Node would be that keeps its sockets in another way.
  ['in the usual way', (socket: Socket) => Object.assign(Reflect.get(socket, '_handle'), { useUserBuffer: undefined })],
] as const) {
  test(`read ${name}, connections that send at once get their own bytes, held back or not, up to their end`, async () => {
    await connected(8, async (accepted, callers) => {
      const heard = accepted.map(() => '');
      let ends = 0;
      for (const [i, socket] of accepted.entries()) {
        prepare(socket);
        readShared(socket, (chunk) => {
          heard[i] += chunk.toString('latin1');
          if (i % 2 === 1) return;
          socket.pause();
          setImmediate(() => socket.resume());
        });
        socket.on('end', () => {
          ends++;
        });
      }
      const sent = callers.map((_, i) => `${i}`.repeat(300_000));
      for (const [i, caller] of callers.entries()) caller.end(sent[i]!);
      await until(() => ends === callers.length);
      assert.equal(
        heard.map((text, i) => text === sent[i]),
        sent.map(() => true),
      );
    });
  });
}

test('what is kept stays what it was, whatever is read next', async () => {
  await connected(1, async ([socket], [caller]) => {
    const chunks: Buffer[] = [];
    readShared(socket!, (chunk) => chunks.push(kept(chunk)));
    for (const text of ['first', 'other']) {
      const before = chunks.length;
      caller?.write(text);
      await until(() => chunks.length > before);
    }
    assert.equal(chunks.map(String), ['first', 'other']);
  });
});

test('from the moment somebody listens for data it is theirs, and stays what it was', async () => {
  await connected(1, async ([socket], [caller]) => {
    let taken = '';
    readShared(socket!, (chunk) => {
      taken += chunk.toString('latin1');
    });
    caller?.write('first');
    await until(() => taken === 'first');
    const chunks: Buffer[] = [];
    socket?.on('data', (chunk: Buffer) => chunks.push(chunk));
    for (const text of ['second', 'third!']) {
      caller?.write(text);
      await until(() => Buffer.concat(chunks).toString('latin1').endsWith(text));
    }
    assert.is(Buffer.concat(chunks).toString('latin1'), 'secondthird!');
    assert.is(taken, 'first');
  });
});

test.run();

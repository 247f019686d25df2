/** The bounds on connections that ask for the link between nodes, before and during their handshake. */
import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { LinkClient } from '../../src/cluster/link-client.js';
import { LinkAuthority } from '../../src/cluster/link-security.js';
import { LinkServer } from '../../src/cluster/link-server.js';
import { limits } from '../../src/limits.js';
import { timers } from '../../src/node/system.js';
import { withBounds } from '../sim/profile.js';
import { closing } from '../support/closing.js';
import { until } from '../support/until.js';

const secret = 'a secret of at least 32 bytes, for tests';
const authority = new LinkAuthority(secret, 'g');

/** A node whose connections ask for the given authority. */
class Node {
  readonly link = new LinkServer(
    secret,
    'g',
    async () => ({}),
    () => undefined,
  );
  readonly accepted: Socket[] = [];
  readonly #server: Server;

  constructor() {
    this.#server = createServer({ allowHalfOpen: true }, (socket) => {
      this.accepted.push(socket);
      socket.on('error', () => undefined);
      socket.once('data', (chunk: Buffer) => {
        const [, asked = ''] = chunk.toString('latin1').split(' ');
        if (!this.link.tunnel(asked, socket, Buffer.alloc(0))) socket.end('refused');
      });
    });
  }

  async listen(): Promise<string> {
    this.#server.listen(0, '127.0.0.1');
    await once(this.#server, 'listening');
    const address = this.#server.address();
    if (address === null || typeof address === 'string') throw new Error('no address');
    return `http://127.0.0.1:${address.port}`;
  }

  async close(): Promise<void> {
    await this.link.close();
    for (const socket of this.accepted) socket.destroy();
    this.#server.close();
  }

  get openCount(): number {
    return this.accepted.filter(({ destroyed }) => !destroyed).length;
  }
}

/** Asks for a tunnel and resolves to the connection with the first bytes of the answer. */
async function asked(url: string, name = authority.make()): Promise<{ socket: Socket; answer: string }> {
  const socket = connect(Number(new URL(url).port), '127.0.0.1').on('error', () => undefined);
  socket.write(`CONNECT ${name} HTTP/1.1\r\n\r\n`);
  const [chunk] = (await once(socket, 'data')) as [Buffer];
  return { socket, answer: chunk.toString('latin1') };
}

const call = { method: 'GET', path: '/node', timeoutMs: 60_000 } as const;

test('a tunnel is refused unless its authority proves the secret of this group for the link', async () => {
  await using node = closing(new Node());
  const url = await node.listen();
  const others = [
    'ptf-cluster:1',
    'ptf-cluster-2.:1',
    `ptf-cluster-2.${Buffer.alloc(64).toString('base64url')}:1`,
    new LinkAuthority(secret, 'another group').make(),
    new LinkAuthority('another secret of at least 32 bytes', 'g').make(),
    `${authority.make().slice(0, -3)}:1`,
  ];
  for (const other of others) assert.is((await asked(url, other)).answer, 'refused', other);
  const { socket, answer } = await asked(url);
  assert.match(answer, /^HTTP\/1\.1 200 /);
  let clear = '';
  socket.on('data', (chunk: Buffer) => {
    clear += chunk.toString('latin1');
  });
  socket.write('GET /node HTTP/1.1\r\nHost: a\r\n\r\n');
  await once(socket, 'close');
  assert.not.match(clear, 'HTTP/1.1', 'without a handshake');
  await node.link.close();
  assert.is((await asked(url)).answer, 'refused', 'a node that ends');
});

test('an authority that was overheard takes no room, however its bytes are written', async () => {
  await using node = closing(new Node());
  const url = await node.listen();
  const name = authority.make();
  assert.match((await asked(url, name)).answer, /^HTTP\/1\.1 200 /);
  for (const again of [name, name.replace(/:1$/, '=:1'), name.replace('2.', '2.*')]) {
    assert.is((await asked(url, again)).answer, 'refused', again);
  }
});

test('a connection in its handshake closes when the other end closes its half, and after a time', async () => {
  await using node = closing(new Node());
  const url = await node.listen();
  const { socket } = await asked(url);
  socket.end();
  await until(() => node.openCount === 0);
  assert.is(limits.linkHandshakeMs, 2_000);
  await withBounds({ linkHandshakeMs: 500 }, async () => {
    await using slow = closing(new Node());
    await asked(await slow.listen());
    const begun = performance.now();
    await until(() => slow.openCount === 0);
    assert.ok(performance.now() - begun < 4_500, 'the handshake has no more time than its bound');
  });
});

test('connections in their handshake are bounded per address and in all, apart from those of nodes', async () => {
  for (const bound of ['linkHandshakesPerAddressMax', 'linkHandshakesMax'] as const) {
    await withBounds({ [bound]: 3, linkConnectionsMax: 2 }, async () => {
      await using node = closing(new Node());
      const url = await node.listen();
      const first = await Promise.all([asked(url), asked(url), asked(url)]);
      assert.is((await asked(url)).answer, 'refused', bound);
      first[0].socket.destroy();
      await using link = closing(new LinkClient(secret, 'g', timers));
      await until(() => node.openCount < 4);
      const ask = () =>
        link.call({ ...call, url }).then(
          () => true,
          () => false,
        );
      await until(ask);
      // Two connections of the link are all that the bound permits; handshakes do not count.
      assert.equal(await Promise.all([ask(), ask()]), [true, true]);
    });
  }
});

test.run();

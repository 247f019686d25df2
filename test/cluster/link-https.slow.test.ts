/** The link to a node behind a proxy that ends TLS: an address of https. */
import { execFileSync, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { createServer } from 'node:tls';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { temporaryFolder } from '../../bench/ending.js';
import { LinkClient, LinkError } from '../../src/cluster/link-client.js';
import { LinkServer } from '../../src/cluster/link-server.js';
import { timers } from '../../src/node/system.js';
import { rejectionAs } from '../store/log-contract.js';
import { closing } from '../support/closing.js';

const secret = 'a secret of at least 32 bytes, for tests';
const key = '-newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout key.pem -out cert.pem'.split(' ');
const hasOpenssl = spawnSync('openssl', ['version']).error === undefined;

if (hasOpenssl) {
  test('a node calls another one through TLS that ends before it, unless it does not trust the certificate', async () => {
    const { path } = temporaryFolder('ptf-link-https-');
    execFileSync('openssl', ['req', '-x509', ...key, '-subj', '/CN=localhost'], { cwd: path, stdio: 'pipe' });
    const [ownKey, cert] = ['key.pem', 'cert.pem'].map((name) => readFileSync(`${path}/${name}`));
    const answers = new LinkServer(
      secret,
      'g',
      async () => ({ reached: true }),
      () => undefined,
    );
    await using proxy = closing(
      createServer({ key: ownKey!, cert: cert! }, (socket) => {
        socket.on('error', () => undefined);
        socket.once('data', (chunk: Buffer) => {
          const [, authority = ''] = chunk.toString('latin1').split(' ');
          assert.ok(answers.tunnel(authority, socket, Buffer.alloc(0)));
        });
      }),
    );
    await once(proxy.listen(0, 'localhost'), 'listening');
    const url = `https://localhost:${(proxy.address() as AddressInfo).port}`;
    const link = new LinkClient(secret, 'g', timers);
    const call = { url, method: 'GET', path: '/applied', timeoutMs: 60_000 } as const;
    const refused = await rejectionAs(LinkError, link.call(call));
    assert.match(refused.message, /self.signed/);
    assert.ok(refused.isUnsent);
    process.env.NODE_TLS_REJECT_UNAUTHORIZED = '0';
    assert.equal(await link.call(call), { reached: true });
    link.close();
    await answers.close();
  });
} else {
  process.stdout.write('SKIPPED: openssl not found\n');
}

test.run();

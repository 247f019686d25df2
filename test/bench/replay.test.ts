/** The inputs that a replay refuses before it sends anything. */
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { Command } from 'commander';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { freePort } from '../../bench/free-ports.js';
import { replay } from '../../bench/replay.js';
import { messageOf } from '../../src/errors.js';
import { closing } from '../support/closing.js';
import { temporaryFolder } from '../support/process.js';

const folder = temporaryFolder();
writeFileSync(join(folder, 'small.obs.csv.gz'), gzipSync('peer,player,polarity,severity,ts\np,s,-1,1,\n'));
writeFileSync(join(folder, 'small.truth.csv.gz'), gzipSync('player,bad\ns,1\n'));

async function refusalOf(url: string): Promise<string> {
  const command = new Command('replay');
  replay.define(command);
  const args = ['--data', folder, '--set', 'small', '--url', url];
  return command.parseAsync(args, { from: 'user' }).then(() => 'it ran', messageOf);
}

test('an address that is invalid, or on which no process listens, is reported as having no node', async () => {
  const url = `http://127.0.0.1:${await freePort()}`;
  const startedMs = performance.now();
  assert.match(await refusalOf(url), new RegExp(`^no node answers at ${url}: .*ECONNREFUSED`));
  // It tried for a minute, and said nothing.
  assert.ok(performance.now() - startedMs < 30_000);
  assert.match(await refusalOf('nowhere'), /^no node answers at nowhere: Invalid URL/);
});

test('a server that is not a node is sent nothing', async () => {
  const asked: string[] = [];
  await using server = closing(
    createServer((request, response) => {
      asked.push(`${request.method} ${request.url}`);
      response.writeHead(404).end();
    }),
  );
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  assert.is(await refusalOf(url), `no node answers at ${url}: its health is 404`);
  assert.equal(asked, ['GET /api/v1/health']);
  server.closeAllConnections();
});

test.run();

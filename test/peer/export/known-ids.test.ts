import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { bounds } from '../../../src/client/bounds.js';
import type { TransportRequest } from '../../../src/client/transport/transport.js';
import { knownIds } from '../../../src/peer/cli/export-command.js';
import { matchAnswer, peersAnswer, saltCheckPath } from '../../client/scripted-transport.js';
import { PeerWorld } from '../peer-world.js';

const idsOf = (text: string): string[] => [...knownIds(text, {}).players.keys()];

test('empty lines, comments and the name of the column are no ids', () => {
  const text = 'steam_id\n\n// my players\n76561197960287930,name\n"76561197960287931"\n76561197960287930\n';
  assert.equal(knownIds(text, {}).refused, []);
  assert.is(idsOf(text).length, 2);
});

test('a last line that may be truncated is refused where each shorter id is an id, too', () => {
  assert.equal([idsOf('STEAM_0:0:11101\n').length, knownIds('STEAM_0:0:11101', {}).refused.length], [1, 1]);
  assert.is(idsOf('76561197960287930').length, 1);
});

test('a list names every untrusted player of the file, over more players than one read takes', async () => {
  const node = createServer(({ url: path = '' }, response) => {
    const { body } = path === saltCheckPath ? peersAnswer(null) : matchAnswer({ path } as TransportRequest);
    response.end(JSON.stringify(body).replaceAll('"neutral"', '"untrusted"'));
  });
  await once(node.listen(0, '127.0.0.1').unref(), 'listening');
  const world = new PeerWorld();
  const url = `http://127.0.0.1:${(node.address() as AddressInfo).port}`;
  world.writeConfig({ url, peerId: 'p', apiKey: 'k', groupSalt: 'a salt of sixteen bytes' });
  const ids = Array.from({ length: bounds.scoresPerCall + 2 }, (_, i) => `${76561197960287930n + BigInt(i)}`);
  writeFileSync(join(world.folder, 'ids'), `${ids.join('\n')}\n`);
  const { out } = await world.run(['export', '--format', 'squad', '--ids', join(world.folder, 'ids')]);
  assert.equal(out.match(/\b7656\d+/g), ids);
  world.remove();
});

test.run();

/** Ids in the form of the kinds that the node stated last. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { KnownKinds } from '../../../src/peer/node/known-kinds.js';
import { temporaryFolder } from '../../support/process.js';

const url = 'http://127.0.0.1:9';

/** Opens the kinds that a node stated to an earlier process. */
async function known(kinds: readonly string[]): Promise<KnownKinds> {
  const stateDir = join(temporaryFolder(), 'state');
  mkdirSync(stateDir);
  writeFileSync(join(stateDir, 'group.json'), JSON.stringify({ url, kinds }));
  const secrets = { apiKey: 'key', groupSalt: 'a salt of sixteen bytes', signingKey: undefined };
  return await KnownKinds.open({ url, peerId: 'p', gameIds: ['g'], stateDir, path: stateDir, ...secrets });
}

test('a group of a single kind refuses ids of no account, which a group of opaque ids takes as they are', async () => {
  assert.is((await known([])).canonical('a-name'), 'a-name');
  for (const kinds of [['steam'], ['steam', 'xuid']]) {
    const group = await known(kinds);
    assert.throws(
      () => group.canonical('a-name'),
      (error: { code?: string }) => error.code === 'invalid_argument',
    );
  }
});

test.run();

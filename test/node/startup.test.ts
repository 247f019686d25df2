import { mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pino } from 'pino';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { type Config, loadConfig } from '../../src/node/config.js';
import { lastSeqOfFolder, saltOf, settingsProblem } from '../../src/node/startup.js';
import { dataFileOf } from '../../src/store/files/lmdb-file.js';
import { logFolderOf } from '../../src/store/log/lmdb-log.js';
import { removeFolder, temporaryFolder } from '../store/temporary-folder.js';

let dir = '';
test.before.each(() => {
  dir = temporaryFolder();
});
test.after.each(() => removeFolder(dir));

test('a folder without a log has the record 0, and a damaged log has none', async () => {
  const lines: string[] = [];
  const log = pino({ level: 'error' }, { write: (line) => void lines.push(line) });
  assert.is(await lastSeqOfFolder(dir, log), 0);
  mkdirSync(logFolderOf(dir));
  writeFileSync(dataFileOf(logFolderOf(dir)), Buffer.alloc(8_192, 1));
  assert.is(await lastSeqOfFolder(dir, log), null);
  assert.match(lines.join(), 'the store is damaged');
});

test('a salt is made once, for a new folder alone, and only the owner may read it', async () => {
  const config = { salt: null } as unknown as Config;
  const refused = await saltOf(config, dir, false).catch((error: Error) => error.name);
  assert.is(refused, 'StartRefusedError');
  const made = await saltOf(config, dir, true);
  assert.is(Buffer.from(made, 'base64url').length, 32);
  assert.is(readFileSync(join(dir, 'group-salt'), 'utf8').trim(), made);
  assert.is(statSync(join(dir, 'group-salt')).mode & 0o077, 0);
  assert.is(await saltOf(config, dir, false), made);
});

test('a variable differs from a setting of the group by its value, pre-trusted peers in any order', () => {
  const loaded = loadConfig({ PRE_TRUSTED_PEERS: 'a,b', PEERS_MAX: '7' }, () => undefined);
  if (!loaded.ok) throw new Error(JSON.stringify(loaded));
  const { config } = loaded;
  assert.is(settingsProblem(config, { PRE_TRUSTED_PEERS: 'b,a', PEERS_MAX: 7 }), null);
  assert.match(
    settingsProblem(config, { PRE_TRUSTED_PEERS: 'a,c' }) ?? '',
    'PRE_TRUSTED_PEERS is a,b, and the group has a,c',
  );
  assert.match(settingsProblem(config, { PEERS_MAX: 8 }) ?? '', 'PEERS_MAX is 7, and the group has 8');
});

test.run();

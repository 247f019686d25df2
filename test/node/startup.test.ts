import { mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pino } from 'pino';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { Config } from '../../src/node/config.js';
import { lastSeqOfFolder, saltOf } from '../../src/node/startup.js';
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

test.run();

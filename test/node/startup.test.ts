import { mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pino } from 'pino';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { type GroupSettings, settingNames } from '../../src/core/settings.js';
import type { Group } from '../../src/group/group.js';
import { SharedLogUnavailableError } from '../../src/group/ports/shared-log.js';
import { DamagedError } from '../../src/group/ports/storage.js';
import { mixedReleases } from '../../src/group/record-format.js';
import { logUnreachable } from '../../src/group/refusals.js';
import { type Config, loadConfig } from '../../src/node/config.js';
import {
  applyConfiguration,
  hasSettings,
  lastSeqOfFolder,
  listeningOrRefuse,
  prepareFolder,
  refuseClock,
  refuseStart,
  StartRefusedError,
  saltOf,
  settingsProblem,
} from '../../src/node/startup.js';
import { dataFileOf } from '../../src/store/files/lmdb-file.js';
import { logFolderOf } from '../../src/store/log/lmdb-log.js';
import { rejection } from '../store/log-contract.js';
import { temporaryFolder } from '../support/process.js';

let dir = '';
test.before.each(() => {
  dir = temporaryFolder();
});

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

test('a port that cannot be opened refuses the start with the variable to change', async () => {
  const at = { port: 80, address: '127.0.0.1' };
  const texts: readonly [code: string, text: string][] = [
    ['EADDRINUSE', 'PORT: port 80 of 127.0.0.1 is in use by another process; stop it, or set PORT to another port'],
    ['EACCES', 'PORT: this user may not listen on port 80; set PORT to a port from 1024'],
    ['EADDRNOTAVAIL', 'HOST: this machine has no such address (EADDRNOTAVAIL)'],
    ['ENOTFOUND', 'HOST: this machine has no such address (ENOTFOUND)'],
    ['EAI_AGAIN', 'HOST: this machine has no such address (EAI_AGAIN)'],
    ['EMFILE', 'PORT, HOST: cannot listen: too bad'],
  ];
  for (const [code, text] of texts) {
    const error = await rejection(
      listeningOrRefuse(Promise.reject(Object.assign(new Error('too bad'), { code, ...at }))),
    );
    assert.equal([error instanceof StartRefusedError, (error as Error).message], [true, text]);
  }
  const plain = await rejection(listeningOrRefuse(Promise.reject(new Error('too bad')), 'METRICS_'));
  assert.is((plain as Error).message, 'METRICS_PORT, METRICS_HOST: cannot listen: too bad');
  assert.is(await listeningOrRefuse(Promise.resolve(5)), 5);
});

test('a data folder is made, and one that cannot be used is refused', () => {
  prepareFolder(join(dir, 'made'));
  assert.ok(statSync(join(dir, 'made')).isDirectory());
  writeFileSync(join(dir, 'file'), '');
  assert.throws(
    () => prepareFolder(join(dir, 'file', 'below')),
    ({ name, message }: Error) =>
      name === 'StartRefusedError' && /^DATA_DIR: .* cannot be used: a part of its path is a file; set/.test(message),
  );
});

test('a clock that is ahead refuses a start, except in development', () => {
  const lines: string[] = [];
  const log = pino({}, { write: (line) => void lines.push(line) });
  refuseClock(null, 'prod', log);
  for (const environment of ['prod', 'staging'] as const) {
    assert.throws(
      () => refuseClock('the clock is ahead', environment, log),
      /^the clock is ahead: correct the clock; if /,
    );
  }
  assert.equal(lines, []);
  refuseClock('the clock is ahead', 'dev', log);
  assert.match(lines[0]!, 'set CLOCK_ACCEPTED_UNTIL to today; outside of dev this start would be refused');
});

test('a start that the store refuses fails with a reason for the operator, any other with its own error', () => {
  const thrownFor = (error: unknown): unknown => {
    try {
      return refuseStart(error);
    } catch (thrown) {
      return thrown;
    }
  };
  const refused = thrownFor(new DamagedError('page 3'));
  assert.instance(refused, StartRefusedError);
  assert.is((refused as Error).message, 'page 3');
  for (const error of [new Error('a defect'), 'text']) assert.is(thrownFor(error), error);
});

const loaded = loadConfig({ PRE_TRUSTED_PEERS: 'a' }, () => undefined);
if (!loaded.ok) throw new Error(JSON.stringify(loaded));
const { config } = loaded;

/** Applies the configuration to a group. Returns the commands that the group got, and then the error or null. */
async function applied(logged: Partial<GroupSettings> | null, refusedAt = '', refusal: object = {}) {
  const got: string[] = [];
  const configure = async ({ type, name = type, by }: { type: string; name?: string; by?: string }) => {
    got.push(by === undefined || by === 'configuration' ? name : `${name} by ${by}`);
    return name === refusedAt ? { ok: false, ...refusal } : { ok: true, value: null };
  };
  const error = await applyConfiguration(config, { configure } as unknown as Group, logged).then(
    () => null,
    (reason: Error) => reason.message,
  );
  return [...got, error];
}

test('a node applies its configuration in the order in which it may be refused, and a cluster once', async () => {
  const first = ['PRE_TRUSTED_PEERS', 'HALF_LIFE_DAYS', 'scoring', 'BAN_HALF_LIFE_DAYS'];
  assert.equal(await applied(null), [...first, null]);
  assert.equal(await applied({}), [...first, ...settingNames, null]);
  const all = Object.fromEntries(settingNames.map((name) => [name, 1])) as Partial<GroupSettings>;
  assert.equal(await applied(all), ['scoring', null]);
  const unknown = { code: 'unknown_peer', text: 'no such peer' };
  const refused = await applied(null, 'PRE_TRUSTED_PEERS', unknown);
  assert.equal(refused, ['PRE_TRUSTED_PEERS', 'PRE_TRUSTED_PEERS: no such peer']);
  assert.equal(await applied(null, 'scoring', { code: 'unknown_peer' }), [...first.slice(0, 3), 'unknown_peer']);
  // A node of an older release could not read these records.
  assert.equal(await applied({}, 'scoring', mixedReleases()), [...first.slice(0, 3), null]);
  assert.equal((await applied({}, 'PEERS_MAX', mixedReleases())).slice(-2), ['PEERS_MAX', null]);
});

test('a leader whose first settings meet a silent etcd leads again later, and leaves no cluster for that', async () => {
  const group = { configure: async () => logUnreachable(true) } as unknown as Group;
  assert.instance(await rejection(applyConfiguration(config, group, {})), SharedLogUnavailableError);
  assert.instance(await rejection(applyConfiguration(config, group, null)), StartRefusedError);
});

test('a cluster has its settings once the log has each, but peers to trust from the start may follow', () => {
  const all = Object.fromEntries(settingNames.map((name) => [name, 1])) as Partial<GroupSettings>;
  const { PRE_TRUSTED_PEERS: _peers, ...others } = all;
  const { PEERS_MAX: _max, ...incomplete } = all;
  assert.equal([all, others, incomplete, {}].map(hasSettings), [true, true, false, false]);
});

test.run();

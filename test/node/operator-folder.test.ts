/** The work of `ptf` itself on a data folder: whose folder it may be, and what is refused with which code. */
import { chownSync, existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { formGroup } from '../../src/group/recovery/formation.js';
import { limits } from '../../src/limits.js';
import { folderWork } from '../../src/node/operator-folder.js';
import { OperatorError } from '../../src/operator/cli/node-client.js';
import { acquireFolder } from '../../src/store/ownership/owner.js';
import { temporaryFolder } from '../support/process.js';
import { until } from '../support/until.js';

const salt = 's'.repeat(limits.saltBytesMin);
const cluster = {
  CLUSTER: 'etcd',
  NODE_ID: 'n1',
  ADVERTISE_URL: 'http://127.0.0.1:7000',
  ETCD_ENDPOINTS: 'http://127.0.0.1:1',
  CLUSTER_SECRET: 'c'.repeat(64),
  GROUP_SALT: salt,
};
let dir = '';
test.before.each(() => {
  dir = temporaryFolder();
});

type Env = Readonly<Record<string, string>>;
const workOf = (env: Env = {}, { uid, hidden = [] }: { uid?: number; hidden?: readonly string[] } = {}) =>
  folderWork(() => ({ env, hidden }), uid);

/** Returns exit code, code and text of a refusal. */
async function refusal(work: Promise<unknown>): Promise<string> {
  const error = await work.then(
    () => 'not refused',
    (reason: unknown) => reason,
  );
  return error instanceof OperatorError ? `${error.exitCode} ${error.code} ${error.message}` : String(error);
}

/** Makes the store of a group that a node with the salt may open. */
async function formed(folder: string): Promise<string> {
  const writer = await acquireFolder(folder);
  const identity = { groupId: 'local', identityMode: 'privacy-first', environment: 'dev' } as const;
  const random = { bytes: (count: number) => new Uint8Array(count), uuid: () => '' };
  const formation = { identity, halfLifeDays: 30, banHalfLifeDays: 180, salt: Buffer.from(salt) };
  await formGroup(formation, writer, { now: Date.now }, random);
  await writer.close();
  return folder;
}

test('every command that opens a folder refuses the folder of another user', async () => {
  await formed(dir);
  const none = join(dir, 'none');
  const task = { dataDir: none, dir: none, replace: false, erasuresFrom: null, withoutErasures: true };
  const { backups, ...work } = workOf({}, { uid: statSync(dir).uid + 1 });
  for (const refused of [
    () => work.verifyFolder(dir, 'full'),
    () => work.keepSecret(dir, 'secret', 'x'),
    () => work.adoptFolder(dir),
    () => work.moveData('import', dir),
    () => backups.backUp({ dataDir: dir, dir: none, version: '0' }, () => undefined),
    ...[{ dataDir: dir }, { dir }, { erasuresFrom: dir }].map(
      (other) => () => backups.restore({ ...task, ...other }, () => undefined),
    ),
  ]) {
    const expected = `1 access_denied ${dir} is another user's; run as the user of the node`;
    assert.is(await refusal(refused()), expected, `${refused}`);
  }
  assert.not(existsSync(join(dir, 'secret')));
  const outcome = await backups.restore(task, () => undefined);
  assert.equal(outcome, { ok: false, code: 'no_backup', error: `${none} is not a complete backup` });
});

test("root makes no folder in another user's, where the node could not reach it", async () => {
  if (process.getuid?.() === 0) chownSync(dir, 65_534, 65_534);
  for (const path of [join(dir, 'data'), join(dir, 'not', 'there')]) {
    assert.match(await refusal(workOf({}, { uid: 0 }).keepSecret(path, 'secret', 'x')), `access_denied ${dir} is`);
  }
  assert.not(existsSync(join(dir, 'data')));
  await workOf({}, { uid: statSync(dir).uid + 1 }).keepSecret(join(dir, 'data'), 'secret', 'x');
  assert.ok(existsSync(join(dir, 'data')));
});

test('a secret is stored for its owner alone, in a folder that is made for it', async () => {
  const data = join(dir, 'data');
  await workOf().keepSecret(data, 'secret', 'hash\n');
  assert.is(readFileSync(join(data, 'secret'), 'utf8'), 'hash\n');
  assert.equal(
    [data, join(data, 'secret')].map((path) => statSync(path).mode & 0o777),
    [0o700, 0o600],
  );
  const refused = await refusal(workOf().keepSecret(join(data, 'secret'), 'other', 'x'));
  assert.match(refused, `1 folder_refused ${join(data, 'secret')} cannot be used: `);
});

test('a folder without a store, or whose node runs, is not adopted; another one is free', async () => {
  const { adoptFolder } = workOf();
  assert.is(await refusal(adoptFolder(dir)), `1 no_store ${dir} holds no store`);
  const writer = await acquireFolder(dir);
  assert.match(await refusal(adoptFolder(dir)), `1 folder_in_use the data folder ${dir} is in use by process`);
  await writer.close();
  assert.is(await adoptFolder(dir), 'free');
});

test('data moves only with the settings of a cluster, from a folder that is intact and not in use', async () => {
  assert.is(await refusal(workOf().moveData('import', dir)), '2 wrong_usage CLUSTER must be etcd');
  const invalid = await refusal(workOf({ PORT: 'x', HALF_LIFE_DAYS: 'x' }).moveData('export', dir));
  assert.match(invalid, /^2 wrong_usage PORT: .*; HALF_LIFE_DAYS: /);
  const { moveData } = workOf(cluster);
  writeFileSync(join(dir, '.joining'), '');
  assert.is(await refusal(moveData('import', dir)), `1 move_refused ${dir} contains no store`);
  assert.match(await refusal(moveData('export', dir)), `1 move_refused the data in ${dir} is being replaced`);
  const writer = await acquireFolder(dir);
  assert.match(await refusal(moveData('import', dir)), `1 folder_in_use the data folder ${dir} is in use by process`);
  await writer.close();
});

test('a start is refused for a mark or settings of another group, as far as all settings are known', async () => {
  await formed(dir);
  const problems = async (env: Env, hidden: readonly string[] = []) =>
    (await workOf({ GROUP_SALT: salt, ...env }, { hidden }).startProblems(dir)).join();
  assert.is(await problems({}), '');
  const other = { GROUP_ID: 'other' };
  assert.match(await problems(other), /^GROUP_ID is other/);
  assert.is(await problems({ ...other, PORT: 'x' }), '');
  assert.is(await problems(other, ['/etc/ptf/ptf.env']), '');
  writeFileSync(join(dir, 'cluster.json'), JSON.stringify({ cluster_id: 'c1', node_id: 'n1' }));
  assert.match(await problems(other), /^DATA_DIR: .* belongs to node n1 of the cluster c1, and CLUSTER is none/);
  assert.is(await problems(cluster), '');
});

test('a signal cancels a backup, and is no longer caught afterwards', async () => {
  const { backups } = workOf();
  await formed(dir);
  mkdirSync(join(dir, 'x'));
  const cancelled = { ok: false, code: 'cancelled', error: 'cancelled' };
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    const before = process.listenerCount(signal);
    const backup = backups.backUp({ dataDir: dir, dir: join(dir, 'x'), version: '0' }, () => undefined);
    await until(() => process.listenerCount(signal) > before);
    process.kill(process.pid, signal);
    assert.equal([await backup, process.listenerCount(signal)], [cancelled, before], signal);
  }
});

test.run();

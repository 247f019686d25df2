import { existsSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { GroupIdentity } from '../../../src/group/api.js';
import { DAY_MS } from '../../../src/limits.js';
import type { CommandDeps } from '../../../src/operator/cli/command-context.js';
import type { Finding } from '../../../src/operator/cli/findings.js';
import { dataFileOf } from '../../../src/store/files/lmdb-file.js';
import { logFolderOf } from '../../../src/store/log/lmdb-log.js';
import { verifyAny } from '../../../src/workers/backup/backup-processes.js';
import { startProblems } from '../../../src/workers/verify/preflight.js';
import { verifyInChild } from '../../../src/workers/verify/verify-runner.js';
import { registerPeer } from '../../http/peer-client.js';
import { startTestNode } from '../../support/node.js';
import { startProcess, temporaryFolder } from '../../support/process.js';
import { runPtf } from '../../support/ptf.js';
import { until } from '../../support/until.js';
import { runHere } from '../run-here.js';

test('a setting that a start would refuse is an error, even if the store is intact', async () => {
  const dir = temporaryFolder();
  const place = join(dir, 'backup');
  const data = join(dir, 'data');
  const identity = { groupId: 'local', identityMode: 'privacy-first', environment: 'dev' } as const;
  let now = Date.now();
  const textsOf = async (folder: string, over: Partial<GroupIdentity> = {}, salt: string | null = null) => {
    const { out } = await runHere(['doctor', '--json'], folder, {
      verifyFolder: (of, mode) => verifyAny(of, mode),
      startProblems: (of) => startProblems(of, { ...identity, ...over }, salt, { now, acceptedUntil: null }),
    });
    const { checks } = JSON.parse(out) as { checks: Finding[] };
    return checks.filter(({ check }) => check === 'configuration').map(({ text }) => text);
  };
  const node = await startTestNode({ DATA_DIR: data });
  await registerPeer(node.url);
  await node.close();
  assert.match((await textsOf(data)).join(), /^group local, dev/);
  const other = { groupId: 'other', identityMode: 'high-security', environment: 'staging' } as const;
  const faults = await textsOf(data, other, 'a salt of another group');
  assert.equal(
    faults.map((text) => text.split(' ')[0]),
    ['GROUP_ID', 'IDENTITY_MODE', 'ENVIRONMENT', 'GROUP_SALT'],
  );
  now += 3 * DAY_MS;
  assert.match((await textsOf(data, { environment: 'staging' })).join(), /more than a day ahead of the newest time/);
  now -= 3 * DAY_MS;
  assert.is((await runPtf(['backup', place], data)).code, 0);
  assert.match((await textsOf(place)).join(), 'is a backup');
  // A start has its group from a snapshot, and passes damage so far back over.
  const file = dataFileOf(logFolderOf(data));
  const content = readFileSync(file);
  for (let at = content.indexOf('local'); at >= 0; at = content.indexOf('local', at + 1)) content[at]! ^= 1;
  writeFileSync(file, content);
  assert.match((await textsOf(data, other)).join(), /^group local, dev/);
  rmSync(join(data, 'group-salt'));
  assert.match((await textsOf(data)).join(), 'GROUP_SALT is unset');
});

test('a healthy folder is found so with its node and without, and damage makes the exit code 1', async () => {
  const dir = temporaryFolder();
  const doctor = async (code: number) => {
    const verifyFolder: CommandDeps['verifyFolder'] = (folder, mode) => verifyInChild(folder, mode);
    const ran = await runHere(['doctor', '--json'], dir, { verifyFolder });
    assert.is(ran.code, code, ran.out);
    const { checks } = JSON.parse(ran.out) as { checks: Finding[] };
    return new Map(checks.map((finding) => [finding.check, finding]));
  };
  const node = await startTestNode({ DATA_DIR: dir });
  const live = await doctor(0);
  assert.match(live.get('node')!.text, /runs and accepts commands/);
  assert.is(live.get('permissions')!.result, 'ok');
  assert.is(live.get('versions')!.result, 'warn', 'the node is of another release than 9.8.7');
  await node.close();

  const stopped = await doctor(1);
  assert.match(stopped.get('store')!.text, /up to record 1/);
  assert.equal([stopped.get('folder')!.text, stopped.get('node')!.text], [dir, `no node runs on ${dir}`]);
  truncateSync(dataFileOf(logFolderOf(dir)), 0);
  assert.is((await doctor(1)).get('store')!.result, 'fail');
});

test('the process of the command finds an entry that no node made, and exits with 1', async () => {
  const dir = temporaryFolder();
  writeFileSync(join(dir, 'notes.txt'), '');
  const { code, out } = await runPtf(['doctor'], dir);
  assert.is(code, 1, out);
  assert.match(out, new RegExp(`^fail {2}folder {2,}${dir} has the entry notes.txt, which no node made`, 'm'));
});

test('a dead node is an error, with the absolute folder and the last line that it logged', async () => {
  const dir = temporaryFolder();
  const nodeLine = async () => {
    const { code, out } = await runPtf(['doctor', '--json'], dir);
    assert.is(code, 1, out);
    return (JSON.parse(out) as { checks: Finding[] }).checks.find(({ check }) => check === 'node');
  };
  const killed = await startProcess({ DATA_DIR: dir });
  await until(() => existsSync(join(dir, 'last-line')));
  await killed.kill('SIGKILL');
  const { result, text } = (await nodeLine())!;
  assert.is(result, 'fail');
  assert.match(text, new RegExp(`^no node runs on ${dir}; its last line, of \\d{4}-\\S+: listening$`));
  const stopped = await startProcess({ DATA_DIR: dir });
  await stopped.kill('SIGTERM');
  assert.match((await nodeLine())!.text, /: stopped$/);
});

test.run();

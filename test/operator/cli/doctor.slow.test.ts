/** `ptf doctor`: what it makes of each thing it looks at, and what it says of real folders, with a node and without. */
import { once } from 'node:events';
import {
  chmodSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { GroupIdentity } from '../../../src/group/api.js';
import { DAY_MS } from '../../../src/limits.js';
import type { StatusValue } from '../../../src/operations/status-operation.js';
import {
  type Finding,
  type FolderFacts,
  judgeClock,
  judgeConfiguration,
  judgeDisk,
  judgeEtcd,
  judgeMemory,
  judgePermissions,
  judgeRunning,
  judgeSilence,
  judgeStore,
  judgeVersions,
} from '../../../src/operator/cli/findings.js';
import { dataFileOf } from '../../../src/store/files/lmdb-file.js';
import { logFolderOf } from '../../../src/store/log/lmdb-log.js';
import { verifyAny } from '../../../src/workers/backup/backup-processes.js';
import { startProblems } from '../../../src/workers/verify/preflight.js';
import { verifyInChild } from '../../../src/workers/verify/verify-runner.js';
import { registerPeer } from '../../http/peer-client.js';
import { startTestNode } from '../../support/node.js';
import { startProcess } from '../../support/process.js';
import { runPtf } from '../../support/ptf.js';
import { until } from '../../support/until.js';
import { configuration, runHere, runtime } from '../run-here.js';

const at = Date.UTC(2026, 0, 1);
const file = (name: string, more = {}) => ({ name, mode: 0o600, uid: 1000, modifiedAt: at, ...more });
const healthy: FolderFacts = {
  folder: file('/data', { mode: 0o700 }),
  isFolder: true,
  above: '/data',
  mayMake: true,
  files: [file('head.json'), file('log', { mode: 0o700 })],
  uid: 1000,
  freeBytes: 1e9,
  freeFiles: 1e6,
  fileSystem: 0xef53,
  storeBytes: 1e6,
};
const running: StatusValue = {
  version: runtime.version,
  group_id: 'local',
  identity_mode: 'privacy-first',
  environment: 'dev',
  ready: true,
  writable: true,
  reason: null,
  alerts: [],
  last_seq: 10,
  weights: { based_on_seq: 10, computed_at: '2026-01-01T00:00:00.000Z' },
  counts: { peers: 1, players: 1, events: 1 },
  new_peers: { registered: 0, reporting: 0 },
  half_life_days: 30,
  ban_half_life_days: 180,
  sends_reports_only: false,
  pre_trusted: [],
  witness_groups: { groups: 0, peers: 0 },
  mailbox: { events: 0, bytes: 0 },
  snapshots: [],
  pending_erasures: 0,
  open_disputes: 0,
  owner_epoch: 1,
  disk: null,
  check: { running: false, checked_seq: 0, ended_at: null, faults: [] },
};

/** Result and text of each finding. */
const textsOf = (findings: readonly Finding[]): string[] => findings.map(({ result, text }) => `${result}: ${text}`);

function one(findings: readonly Finding[], result: Finding['result'], text: RegExp): void {
  assert.is(findings.length, 1, textsOf(findings).join('; '));
  assert.match(textsOf(findings)[0]!, text);
  assert.is(findings[0]!.result, result, textsOf(findings)[0]);
  assert.is(findings[0]!.advice === undefined, result === 'ok', 'advice comes with what is not well');
}

test('faults of the configuration forbid a start, and are a warning where a node runs with another one', () => {
  const faults = [{ variable: 'GROUP_SALT', text: 'is required in production' }];
  one(judgeConfiguration(configuration, null), 'ok', /group local, dev/);
  one(judgeConfiguration({ ...configuration, faults }, null), 'fail', /GROUP_SALT: is required/);
  one(judgeConfiguration({ ...configuration, faults }, running), 'warn', /the node runs with another/);
  one(judgeConfiguration({ ...configuration, warnings: faults }, null), 'warn', /GROUP_SALT/);
  one(judgeConfiguration(configuration, { ...running, group_id: 'other' }), 'warn', /GROUP_ID is local here.*other/);
});

test('Node must be new enough, and the node that runs should be of this release', () => {
  one(judgeVersions(runtime, running), 'ok', /9\.8\.7 on Node v24/);
  one(judgeVersions({ ...runtime, node: 'v20.19.0' }, null), 'warn', /no longer receives security fixes/);
  one(judgeVersions({ ...runtime, node: 'v20.18.9' }, null), 'fail', /too old/);
  one(judgeVersions({ ...runtime, node: 'v18.20.0' }, null), 'fail', /too old/);
  one(judgeVersions({ ...runtime, platform: 'darwin' }, null), 'warn', /darwin/);
  one(judgeVersions(runtime, { ...running, version: '9.8.6' }), 'warn', /runs 9\.8\.6/);
});

test('a clock behind the newest record is an error, and one without a time service is a remark', () => {
  one(judgeClock(at, healthy, true), 'ok', /synchronised by/);
  one(judgeClock(at - 5_000, healthy, null), 'ok', /keeps the clock correct is unknown/);
  one(judgeClock(at - 60_000, healthy, true), 'fail', /head\.json was written 60 s later/);
  one(judgeClock(at, healthy, false), 'warn', /no service keeps the clock correct/);
});

test('the data folder belongs only to the user of the node', () => {
  one(judgePermissions(healthy), 'ok', /only this user/);
  one(judgePermissions({ ...healthy, folder: null, files: [] }), 'ok', /no data folder yet/);
  one(judgePermissions({ ...healthy, uid: 0 }), 'fail', /belongs to user 1000/);
  one(judgePermissions({ ...healthy, folder: file('/data', { mode: 0o750 }) }), 'warn', /open to other users/);
  one(judgePermissions({ ...healthy, files: [file('log/lock.mdb', { uid: 0 })] }), 'fail', /log\/lock\.mdb/);
  for (const secret of ['group-salt', 'dashboard-password']) {
    const found = judgePermissions({ ...healthy, files: [file(secret, { mode: 0o640 })] });
    one(found, 'warn', new RegExp(`${secret}: open to other users`));
  }
});

test('the disk is local, and has room for writes and for another snapshot', () => {
  one(judgeDisk(healthy, 1e6), 'ok', /1000\.0 MB free, the store takes 1\.0 MB/);
  one(judgeDisk({ ...healthy, freeBytes: 9e5 }, 1e6), 'fail', /writes are refused/);
  one(judgeDisk({ ...healthy, freeBytes: 1.5e6 }, 1e6), 'warn', /1\.5 MB free/);
  one(judgeDisk({ ...healthy, freeBytes: 4e6, storeBytes: 5e6 }, 1e6), 'warn', /4\.0 MB free/);
  one(judgeDisk({ ...healthy, fileSystem: 0x6969 }, 1e6), 'fail', /NFS/);
  one(judgeDisk({ ...healthy, fileSystem: 0x01021994 }, 1e6), 'warn', /in memory/);
  one(judgeDisk({ ...healthy, freeFiles: 3 }, 1e6), 'fail', /3 files/);
  one(judgeDisk({ ...healthy, freeFiles: null }, 1e6), 'ok', /free/);
});

test('memory is compared with the figures of Sizing for players and event ids', () => {
  const big = { ...running, counts: { peers: 1, players: 10_000_000, events: 100_000_000 } };
  // 150 MB + 3.5 x (10M x 127 + 100M x 23) bytes = 12.645 GB.
  one(judgeMemory(12e9, big), 'warn', /may need 12645\.0 MB/);
  one(judgeMemory(16e9, big), 'ok', /may need 12645\.0 MB/);
  one(judgeMemory(8e9, null), 'ok', /8000\.0 MB/);
});

test('a running node is asked for its state', () => {
  one(judgeRunning(running), 'ok', /accepts commands/);
  one(judgeRunning({ ...running, ready: false, reason: 'recovering' }), 'fail', /recovering/);
  one(judgeRunning({ ...running, writable: false, reason: 'disk_low' }), 'fail', /no writes: disk_low/);
  const full = judgeRunning({ ...running, writable: false, reason: 'log_full' });
  assert.match(JSON.stringify(full), 'Alert PtfClusterDatabaseLarge');
  one(judgeRunning({ ...running, weights: { based_on_seq: 0, computed_at: null } }), 'warn', /never computed/);
  one(judgeRunning({ ...running, pending_erasures: 1 }), 'warn', /1 player is waiting for its erasure/);
  one(judgeRunning({ ...running, pending_erasures: 3 }), 'warn', /3 players are waiting for their erasure/);
  const check = { running: false, checked_seq: 9, ended_at: '2026-01-01T00:00:00.000Z', faults: ['log: torn'] };
  one(judgeRunning({ ...running, check }), 'fail', /log: torn/);
});

test('an alarm of etcd is named once, with the remedy', () => {
  const member = {
    endpoint: 'http://m',
    healthy: true,
    leads: true,
    version: '3.4.0',
    db_bytes: 1,
    db_bytes_in_use: 1,
  };
  const members = [member, member].map((one) => ({ ...one, alarms: ['NOSPACE'] }));
  one(judgeEtcd({ members }), 'fail', /alarm NOSPACE: etcd refuses every write/);
  assert.equal(judgeEtcd({ members: [{ ...member, alarms: [] }] }), []);
  assert.equal(judgeEtcd(null), []);
});

test('a node that does not answer is one finding among others', async () => {
  one([judgeSilence('the node did not answer')], 'fail', /did not answer/);
  const dir = mkdtempSync(join(tmpdir(), 'ptf-doctor-'));
  const mute = createServer((socket) => socket.on('error', () => undefined).once('data', () => socket.destroy()));
  mute.listen(join(dir, 'operator.sock'));
  await once(mute, 'listening');
  const { code, out } = await runHere(['doctor'], dir);
  mute.close();
  rmSync(dir, { recursive: true });
  assert.is(code, 1);
  assert.match(out, /^fail {2}node {2,}the node did not answer/m);
  assert.match(out, /^\w+ +disk/m);
});

test('a setting that a start would refuse is an error, even if the store is intact', async () => {
  one(judgeConfiguration(configuration, null, ['GROUP_ID is another']), 'fail', /GROUP_ID is another/);
  const dir = mkdtempSync(join(tmpdir(), 'ptf-doctor-'));
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
  try {
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
  } finally {
    rmSync(dir, { recursive: true });
  }
});

test('the folder of a node of a cluster is an error for a node that serves its group alone', async () => {
  const dir = mkdtempSync(join(tmpdir(), 'ptf-doctor-'));
  try {
    const node = await startTestNode({ DATA_DIR: dir });
    await node.close();
    const mark = join(dir, 'cluster.json');
    for (const [text, expected] of [
      [
        JSON.stringify({ cluster_id: 'c1', node_id: 'n1' }),
        /belongs to node n1 of the cluster c1, and CLUSTER is none/,
      ],
      ['{"cluster_id', /cluster\.json is no JSON document/],
    ] as const) {
      writeFileSync(mark, text);
      const { code, out } = await runPtf(['doctor', '--json'], dir);
      const { checks } = JSON.parse(out) as { checks: Finding[] };
      one(
        checks.filter(({ check, result }) => check === 'configuration' && result === 'fail'),
        'fail',
        expected,
      );
      assert.is(code, 1);
    }
  } finally {
    rmSync(dir, { recursive: true });
  }
});

test('a file in place of the folder, or one that prevents its creation, is found', async () => {
  one(judgePermissions({ ...healthy, isFolder: false }), 'fail', /\/data is not a folder/);
  one(judgePermissions({ ...healthy, folder: null }), 'ok', /the first start creates it/);
  one(judgePermissions({ ...healthy, folder: null, mayMake: false }), 'fail', /may not create one in \/data/);
  const dir = mkdtempSync(join(tmpdir(), 'ptf-doctor-'));
  symlinkSync('nowhere', join(dir, 'dangling'));
  writeFileSync(join(dir, 'file'), '');
  for (const name of ['dangling', 'file']) {
    const { code, out } = await runHere(['doctor'], join(dir, name));
    assert.is(code, 1, out);
    assert.match(out, /^fail {2}permissions .* is not a folder/m, name);
    assert.match(out, /^\w+ +disk/m, name);
  }
  rmSync(dir, { recursive: true });
});

test('a damaged log forbids a start, a damaged snapshot does not', () => {
  const report = { ok: true, last_seq: 9, batches: 1, records: 9, audit_entries: 1, snapshots: [], faults: [] };
  one(judgeStore(report), 'ok', /up to record 9/);
  one(judgeStore({ ...report, last_seq: 0 }), 'ok', /empty/);
  one(judgeStore({ ...report, ok: false, faults: ['the log is cut'] }), 'fail', /cut/);
  one(
    judgeStore({ ...report, snapshots: [{ seq: 3, ok: false, fault: 'torn' }] }),
    'warn',
    /snapshot 3 cannot be used: torn/,
  );
});

test('a healthy folder is found so with its node and without, and damage makes the exit code 1', async () => {
  const dir = mkdtempSync(join(tmpdir(), 'ptf-doctor-'));
  const doctor = async (code: number) => {
    const ran = await runHere(['doctor', '--json'], dir, {
      verifyFolder: (folder, mode) => verifyInChild(folder, mode),
    });
    assert.is(ran.code, code, ran.out);
    const { checks } = JSON.parse(ran.out) as { checks: Finding[] };
    return new Map(checks.map((finding) => [finding.check, finding]));
  };
  try {
    const node = await startTestNode({ DATA_DIR: dir });
    const live = await doctor(0);
    assert.match(live.get('node')!.text, /runs and accepts commands/);
    assert.is(live.get('permissions')!.result, 'ok');
    assert.is(live.get('versions')!.result, 'warn', 'the node is of another release than 9.8.7');
    await node.close();

    const stopped = await doctor(1);
    assert.match(stopped.get('store')!.text, /up to record 1/);
    assert.equal([stopped.get('folder')!.text, stopped.get('node')!.text], [dir, `no node runs on ${dir}`]);
    chmodSync(dir, 0o755);
    assert.is((await doctor(1)).get('permissions')!.result, 'warn');
    chmodSync(dir, 0o700);
    const tomorrow = Date.now() / 1000 + 86_400;
    writeFileSync(join(dir, 'heartbeat'), '');
    utimesSync(join(dir, 'heartbeat'), tomorrow, tomorrow);
    assert.is((await doctor(1)).get('clock')!.result, 'fail');
    rmSync(join(dir, 'heartbeat'));
    truncateSync(dataFileOf(logFolderOf(dir)), 0);
    assert.is((await doctor(1)).get('store')!.result, 'fail');
    const printed = await runHere(['doctor'], dir, { verifyFolder: (folder, mode) => verifyInChild(folder, mode) });
    assert.match(printed.out, /^fail {2}store {2,}\S/m);
    assert.match(printed.out, /^ +-> do not change the folder/m);
    assert.match(printed.err, /^ptf: 2 of \d+ findings must be fixed \(unhealthy\)$/m);
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
});

test('if there is no folder yet, the nearest one above it is examined', async () => {
  const dir = join(mkdtempSync(join(tmpdir(), 'ptf-doctor-')), 'not', 'yet');
  const { code, out } = await runHere(['doctor'], dir);
  assert.is(code, 1, out);
  assert.match(out, `no node runs on ${dir}`);
  assert.match(out, /no data folder yet/);
  assert.match(out, /^ok {4}disk {2,}\d/m);
});

test('a folder that no node made is an error, and nothing is advised that would change it', async () => {
  const dir = mkdtempSync(join(tmpdir(), 'ptf-doctor-'));
  chmodSync(dir, 0o755);
  writeFileSync(join(dir, 'notes.txt'), '');
  const { code, out } = await runPtf(['doctor'], dir);
  assert.is(code, 1, out);
  assert.match(out, new RegExp(`^fail {2}folder {2,}${dir} has the entry notes.txt, which no node made`, 'm'));
  assert.not.match(out, /chmod|chown|the first start/);
  rmSync(dir, { recursive: true });
});

test('a dead node is an error, with the absolute folder and the last line that it logged', async () => {
  const dir = mkdtempSync(join(tmpdir(), 'ptf-doctor-'));
  const nodeLine = async () => {
    const { code, out } = await runPtf(['doctor', '--json'], dir);
    assert.is(code, 1, out);
    return (JSON.parse(out) as { checks: Finding[] }).checks.find(({ check }) => check === 'node');
  };
  try {
    const killed = await startProcess({ DATA_DIR: dir });
    await until(() => existsSync(join(dir, 'last-line')));
    await killed.kill('SIGKILL');
    const { result, text } = (await nodeLine())!;
    assert.is(result, 'fail');
    assert.match(text, new RegExp(`^no node runs on ${dir}; its last line, of \\d{4}-\\S+: listening$`));
    const stopped = await startProcess({ DATA_DIR: dir });
    await stopped.kill('SIGTERM');
    assert.match((await nodeLine())!.text, /: stopped$/);
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
});

test('beside a folder without a node, a busy port, other nodes and signs of them are named', async () => {
  const [dir, other] = [mkdtempSync(join(tmpdir(), 'ptf-doctor-')), mkdtempSync(join(tmpdir(), 'ptf-doctor-'))];
  const busy = createServer().listen(0, '127.0.0.1');
  await once(busy, 'listening');
  const { port } = busy.address() as AddressInfo;
  const node = await startTestNode({ DATA_DIR: other });
  try {
    const { code, out } = await runHere(['doctor'], dir, {
      verifyFolder: (folder, mode) => verifyInChild(folder, mode),
      configuration: () => ({
        ...configuration,
        address: { host: '127.0.0.1', port },
        folders: [dir, other, join(dir, 'none')],
        signs: [['the unit is installed', 'ask systemctl']],
      }),
    });
    assert.is(code, 1);
    assert.match(out, new RegExp(`^fail  port +another process listens on 127.0.0.1:${port}$`, 'm'));
    assert.match(out, new RegExp(`^warn  elsewhere +a node runs on ${other}$`, 'm'));
    assert.match(out, /^warn {2}elsewhere +the unit is installed$/m);
    assert.is(out.match(/elsewhere/g)?.length, 2);
  } finally {
    busy.close();
    await node.close();
    for (const folder of [dir, other]) rmSync(folder, { recursive: true, force: true });
  }
});

test.run();

/** `ptf doctor`: the result of each check, from facts alone. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { StatusValue } from '../../../src/operations/status-operation.js';
import {
  type Finding,
  type FolderFacts,
  judgeAbsence,
  judgeClock,
  judgeConfiguration,
  judgeDisk,
  judgeEtcd,
  judgeEvidence,
  judgeFolder,
  judgeMemory,
  judgePermissions,
  judgeRunning,
  judgeSilence,
  judgeStore,
  judgeUnread,
  judgeVersions,
} from '../../../src/operator/cli/findings.js';
import { configuration, runtime } from '../run-here.js';

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
  one(judgeConfiguration({ ...configuration, production: true }, null), 'ok', /the rules of production are met/);
  one(judgeConfiguration(configuration, null, ['GROUP_ID is another']), 'fail', /GROUP_ID is another/);
  const both = judgeConfiguration({ ...configuration, faults, warnings: faults }, null, ['GROUP_ID is another']);
  assert.equal(textsOf(both), [
    'fail: GROUP_SALT: is required in production',
    'warn: GROUP_SALT is required in production',
  ]);
});

test('a running node is compared with the group that this environment names', () => {
  one(judgeConfiguration(configuration, running), 'ok', /group local, dev, not in production/);
  for (const [over, text] of [
    [{ group_id: 'other' }, /^warn: GROUP_ID is local here, but the node runs as other$/],
    [{ identity_mode: 'high-security' }, /^warn: IDENTITY_MODE is privacy-first here, .* as high-security$/],
    [{ environment: 'prod' }, /^warn: ENVIRONMENT is dev here, .* as prod$/],
  ] as const) {
    one(judgeConfiguration(configuration, { ...running, ...over }), 'warn', text);
  }
});

test('Node must be new enough, and the node that runs should be of this release', () => {
  one(judgeVersions(runtime, running), 'ok', /9\.8\.7 on Node v24/);
  one(judgeVersions({ ...runtime, node: 'v20.19.0' }, null), 'warn', /no longer receives security fixes/);
  one(judgeVersions({ ...runtime, node: 'v20.18.9' }, null), 'fail', /too old/);
  one(judgeVersions({ ...runtime, node: 'v18.20.0' }, null), 'fail', /too old/);
  one(judgeVersions({ ...runtime, node: 'v21.7.3' }, null), 'warn', /no longer receives security fixes/);
  one(judgeVersions({ ...runtime, node: 'v22.0.0' }, null), 'ok', /Node v22/);
  one(judgeVersions({ ...runtime, platform: 'darwin' }, null), 'warn', /darwin/);
  one(judgeVersions(runtime, { ...running, version: '9.8.6' }), 'warn', /runs 9\.8\.6/);
});

test('a clock behind the newest record is an error, and one without a time service is a remark', () => {
  one(judgeClock(at, healthy, true), 'ok', /synchronised by/);
  one(judgeClock(at - 5_000, healthy, null), 'ok', /keeps the clock correct is unknown/);
  one(judgeClock(at - 60_000, healthy, true), 'fail', /head\.json was written 60 s later/);
  one(judgeClock(at - 5_001, healthy, true), 'fail', /was written 5 s later/);
  const files = [file('older', { modifiedAt: at }), file('newest', { modifiedAt: at + 3_600_000 }), file('old')];
  one(judgeClock(at, { ...healthy, files }, true), 'fail', /newest was written 3600 s later/);
  one(judgeClock(-60_000, { ...healthy, files: [] }, true), 'ok', /synchronised by/);
  one(judgeClock(at, healthy, false), 'warn', /no service keeps the clock correct/);
});

test('the data folder belongs only to the user of the node', () => {
  one(judgePermissions(healthy), 'ok', /only this user/);
  one(judgePermissions({ ...healthy, folder: null, files: [] }), 'ok', /the first start creates it/);
  one(judgePermissions({ ...healthy, folder: null, mayMake: false }), 'fail', /may not create one in \/data/);
  one(judgePermissions({ ...healthy, isFolder: false }), 'fail', /\/data is not a folder/);
  one(judgePermissions({ ...healthy, uid: 0 }), 'fail', /belongs to user 1000/);
  one(judgePermissions({ ...healthy, folder: file('/data', { mode: 0o750 }) }), 'warn', /open to other users/);
  one(judgePermissions({ ...healthy, files: [file('log/lock.mdb', { uid: 0 })] }), 'fail', /log\/lock\.mdb/);
  for (const secret of ['group-salt', 'dashboard-password']) {
    const found = judgePermissions({ ...healthy, files: [file(secret, { mode: 0o640 })] });
    one(found, 'warn', new RegExp(`${secret}: open to other users`));
    one(judgePermissions({ ...healthy, files: [file(secret)] }), 'ok', /only this user/);
  }
  one(judgePermissions({ ...healthy, files: [file('log', { mode: 0o755 })] }), 'ok', /only this user/);
  const foreign = ['a', 'b', 'c', 'd', 'e'].map((name) => file(name, { uid: 0 }));
  one(judgePermissions({ ...healthy, files: foreign.slice(0, 3) }), 'fail', /^fail: a, b, c: owned/);
  one(judgePermissions({ ...healthy, files: foreign }), 'fail', /^fail: a, b, c and 2 more: owned/);
});

test('the disk is local, and has room for writes and for another snapshot', () => {
  const disk = (facts: Partial<FolderFacts>) => judgeDisk({ ...healthy, ...facts }, 1e6);
  one(disk({}), 'ok', /1000\.0 MB free, the store takes 1\.0 MB/);
  one(disk({ freeBytes: 1e6 - 1 }), 'fail', /writes are refused/);
  one(disk({ freeBytes: 1e6 }), 'warn', /1\.0 MB free/);
  one(disk({ freeBytes: 2e6 - 1, storeBytes: 0 }), 'warn', /free/);
  one(disk({ freeBytes: 2e6, storeBytes: 0 }), 'ok', /free/);
  one(disk({ freeBytes: 5e6 - 1, storeBytes: 5e6 }), 'warn', /free/);
  one(disk({ freeBytes: 5e6, storeBytes: 5e6 }), 'ok', /free/);
  const adviceAt = (storeBytes: number) => disk({ freeBytes: 1.5e6, storeBytes })[0]?.advice ?? '';
  assert.match(adviceAt(1e6), 'up to 2.0 MB');
  assert.match(adviceAt(5e6), 'up to 5.0 MB');
  one(disk({ fileSystem: 0x6969 }), 'fail', /^fail: the data folder lies on NFS$/);
  one(disk({ fileSystem: 0x01021994 }), 'warn', /in memory/);
  one(disk({ freeFiles: 99 }), 'fail', /99 files/);
  one(disk({ freeFiles: 100 }), 'ok', /free/);
  one(disk({ freeFiles: null }), 'ok', /free/);
});

test('memory is compared with the figures of Sizing for players and event ids', () => {
  const big = { ...running, counts: { peers: 1, players: 10_000_000, events: 100_000_000 } };
  // 150 MB + 3.5 x (10M x 127 + 100M x 23) bytes = 12.645 GB.
  one(judgeMemory(12e9, big), 'warn', /may need 12645\.0 MB/);
  one(judgeMemory(12.645e9, big), 'warn', /may need 12645\.0 MB/);
  one(judgeMemory(16e9, big), 'ok', /may need 12645\.0 MB/);
  one(judgeMemory(8e9, null), 'ok', /8000\.0 MB/);
});

test('a running node is asked for its state', () => {
  one(judgeRunning(running), 'ok', /accepts commands/);
  one(judgeRunning({ ...running, ready: false, reason: 'recovering' }), 'fail', /recovering/);
  one(judgeRunning({ ...running, writable: false, reason: 'disk_low' }), 'fail', /no writes: disk_low/);
  const full = judgeRunning({ ...running, writable: false, reason: 'log_full' });
  assert.match(JSON.stringify(full), 'Alert PtfClusterDatabaseLarge');
  one(judgeRunning({ ...running, ready: false, writable: false, reason: 'recovering' }), 'fail', /accepts no requests/);
  const sections = (['clock_ahead', 'log_full', 'log_unreachable', 'disk_low', null] as const).map(
    (reason) => judgeRunning({ ...running, writable: false, reason })[0]?.advice,
  );
  assert.equal(sections, [
    'see "When the clock is wrong"',
    'see "Alert PtfClusterDatabaseLarge"',
    'see "Loss of two machines"',
    'see "When the disk fills up"',
    'see "When the disk fills up"',
  ]);
  const alerts = [{ alert: 'PtfNotReady', text: 'refuses writes' }];
  one(judgeRunning({ ...running, alerts }), 'warn', /PtfNotReady: refuses writes/);
  one(judgeRunning({ ...running, mailbox: { events: 7, bytes: 1 } }), 'ok', /record 10, 0 snapshots, 7 events waiting/);
  const weights = { based_on_seq: 0, computed_at: null };
  one(judgeRunning({ ...running, weights }), 'warn', /never computed/);
  one(judgeRunning({ ...running, weights, counts: { peers: 1, players: 0, events: 0 } }), 'ok', /accepts commands/);
  one(judgeRunning({ ...running, pending_erasures: 1 }), 'warn', /1 player is waiting for its erasure/);
  one(judgeRunning({ ...running, pending_erasures: 3 }), 'warn', /3 players are waiting for their erasure/);
  const check = { running: false, checked_seq: 9, ended_at: '2026-01-01T00:00:00.000Z', faults: ['log: torn'] };
  one(judgeRunning({ ...running, check }), 'fail', /log: torn/);
});

test('an alarm of etcd is named once, with the remedy', () => {
  const sizes = { db_bytes: 1, db_bytes_in_use: 1 };
  const member = { endpoint: 'http://m', healthy: true, leads: true, version: '3.4.0', ...sizes };
  const members = [member, member].map((one) => ({ ...one, alarms: ['NOSPACE'] }));
  one(judgeEtcd({ members }), 'fail', /alarm NOSPACE: etcd refuses every write/);
  one(judgeEtcd({ members: [{ ...member, alarms: ['CORRUPT'] }] }), 'fail', /^fail: alarm CORRUPT$/);
  assert.equal(judgeEtcd({ members: [{ ...member, alarms: [] }] }), []);
  assert.equal(judgeEtcd(null), []);
});

test('a group in which nothing but reports is sent is warned of', () => {
  assert.equal(judgeEvidence(running), []);
  one(judgeEvidence({ ...running, sends_reports_only: true }), 'warn', /reports alone condemn nobody/);
});

test('a folder that no node made, a silent node, and a store that cannot be read are errors', () => {
  one([judgeFolder('/data', undefined)], 'ok', /^ok: \/data$/);
  one([judgeFolder('/data', 'notes.txt')], 'fail', /\/data has the entry notes\.txt/);
  one([judgeSilence('the node did not answer')], 'fail', /did not answer/);
  one([judgeUnread('no space left')], 'fail', /no space left/);
});

test('without a node its last line, a busy port, other nodes and signs of nodes are named', () => {
  const alone = { busyAddress: null, starting: null, nodes: [] };
  one(judgeAbsence('/data', undefined, alone, []), 'fail', /^fail: no node runs on \/data$/);
  const busy = { busyAddress: '[::]:80', starting: null, nodes: ['/b'] };
  const found = judgeAbsence('/data', 'noon: stopped', busy, [['a unit', 'look']]);
  assert.equal(textsOf(found), [
    'fail: no node runs on /data; its last line, of noon: stopped',
    'fail: another process listens on [::]:80',
    'warn: a node runs on /b',
    'warn: a unit',
  ]);
  const starting = judgeAbsence('/data', 'noon: stopped', { ...busy, starting: 'recovering', nodes: [] }, []);
  one(starting, 'fail', /^fail: the node on \[::\]:80 does not serve: recovering$/);
});

test('a damaged log forbids a start, a damaged snapshot does not', () => {
  const report = { ok: true, last_seq: 9, batches: 1, records: 9, audit_entries: 1, snapshots: [], faults: [] };
  one(judgeStore(report), 'ok', /up to record 9/);
  one(judgeStore({ ...report, last_seq: 0 }), 'ok', /empty/);
  one(judgeStore({ ...report, ok: false, faults: ['the log is cut'] }), 'fail', /cut/);
  const snapshots = [{ seq: 3, ok: false, fault: 'torn' }];
  one(judgeStore({ ...report, snapshots }), 'warn', /snapshot 3 cannot be used: torn/);
});

test.run();

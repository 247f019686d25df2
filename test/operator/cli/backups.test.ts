/** `ptf backup` and `ptf restore`: what they ask for, and the lines that they print. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { BackupManifest, RestoreReport, RestoreTask } from '../../../src/group/backup/backup-tasks.js';
import { limits } from '../../../src/limits.js';
import { temporaryFolder } from '../../support/process.js';
import { recordedGroup } from '../recorded-group.js';
import { linesOf, runHere, serveOperator } from '../run-here.js';

const nowhere = '/nowhere';
const notAskedFor = () => Promise.reject(new Error('not asked for'));

const manifest: BackupManifest = {
  format: 1,
  made_at: '2026-01-01T00:00:00.000Z',
  version: '9.8.7',
  group_id: 'local',
  environment: 'dev',
  last_seq: 9,
  chain: 'c',
  digest: 'd',
  batches: 2,
  records: 9,
  snapshots: [3, 6],
  files: { 'group-salt': 'h' },
};

test('a backup is printed with its contents, after the progress of each phase on a line of its own', async () => {
  const steps: string[] = [];
  const progress = (what: string) => {
    steps.push(what);
    return {
      to: (done: number, total: number) => void steps.push(`${done}/${total}`),
      end: () => void steps.push('end'),
    };
  };
  const tasks: unknown[] = [];
  const backedUp = (over: Partial<typeof manifest>) =>
    runHere(['backup', '/backup'], nowhere, {
      terminal: { progress },
      backups: {
        backUp: async (task, onStatus) => {
          tasks.push(task);
          onStatus({ phase: 'copying', done: 1, total: 2 });
          onStatus({ phase: 'copying', done: 2, total: 2 });
          onStatus({ phase: 'verifying', done: 1, total: 1 });
          return { ok: true, value: { ...manifest, ...over } };
        },
        restore: notAskedFor,
      },
    });
  const ran = await backedUp({});
  assert.is(ran.code, 0);
  assert.equal(linesOf(ran), [
    'backup | /backup',
    'group | local (dev)',
    'last seq | 9',
    'batches | 2',
    'snapshots | 3, 6',
    'files | group-salt',
    'digest | d',
    'The backup was read again and is intact.',
  ]);
  assert.equal(tasks, [{ dataDir: nowhere, dir: '/backup', version: '9.8.7' }]);
  assert.equal(steps, ['copying', '1/2', '2/2', 'end', 'verifying', '1/1', 'end']);
  assert.match((await backedUp({ snapshots: [], files: {} })).out, /snapshots +none\nfiles +none/);
});

test('a restore names what was undone, and at most a page of acts', async () => {
  const act = { at: '2026-01-01T00:00:00.000Z', action: 'peer_status', actor: 'operator', target: 'peer-0' };
  const found: RestoreReport = {
    data_dir: nowhere,
    backup_seq: 9,
    last_seq: 12,
    erasures_from: '/old',
    erasures: 1,
    requests: 2,
    withdrawals: 3,
    events_lost: 4,
    acts_lost: [act],
    replaced: '/nowhere/replaced',
    resumed: false,
  };
  const tasks: unknown[] = [];
  const restored = async (over: Partial<RestoreReport>, ...args: string[]) => {
    const backups = {
      backUp: notAskedFor,
      restore: async (task: RestoreTask) => {
        tasks.push(task);
        return { ok: true as const, value: { ...found, ...over } };
      },
    };
    const lines = linesOf(await runHere(['restore', '/backup', ...args], nowhere, { backups }));
    return lines.filter((line) => !/^(?:data folder|backup|last seq|erased|requested|withdrawn)/.test(line));
  };
  assert.equal(await restored({}, '--replace', '--erasures-from', '/old'), [
    'erasures from | /old',
    'events lost | 4',
    'replaced | /nowhere/replaced',
    '',
    'Newer than the backup, and undone by the restore:',
    'at | action | actor | target',
    `${act.at} | peer_status | operator | peer-0`,
    'The restored store was read again and is intact.',
  ]);
  const acts_lost = Array.from({ length: limits.pageMax + 2 }, () => act);
  assert.is((await restored({ acts_lost }, '--without-erasures')).at(-2), 'and 2 more: see --json');
  const bare = await restored({ acts_lost: [], erasures_from: null, replaced: null, resumed: true });
  assert.equal(bare, [
    'erasures from | none: peers must erase again',
    'events lost | unknown',
    'replaced | nothing',
    'The interrupted restore is now complete.',
  ]);
  const task = { dir: '/backup', dataDir: nowhere, replace: false, erasuresFrom: null, withoutErasures: false };
  assert.equal(tasks, [{ ...task, replace: true, erasuresFrom: '/old' }, { ...task, withoutErasures: true }, task]);
});

test('a copy that is refused ends with its code, and a restore over a running node is not begun', async () => {
  const refusal = (code: 'access_denied' | 'no_store') => async () => ({ ok: false as const, code, error: 'refused' });
  const backups = { backUp: refusal('access_denied'), restore: refusal('no_store') };
  const backup = await runHere(['backup', '/backup'], nowhere, { backups });
  assert.equal([backup.code, backup.err], [1, 'ptf: refused; run as the user of the node (access_denied)\n']);
  assert.is((await runHere(['restore', '/backup'], nowhere, { backups })).err, 'ptf: refused (no_store)\n');
  const both = await runHere(['restore', '/backup', '--erasures-from', '/a', '--without-erasures'], nowhere);
  assert.is(both.err, 'ptf: give --erasures-from or --without-erasures, not both (wrong_usage)\n');
  const dir = temporaryFolder();
  const socket = await serveOperator(dir, recordedGroup(1).group);
  const beside = await runHere(['restore', '/backup'], dir);
  assert.is(beside.err, `ptf: a node runs on ${dir}; stop it first (folder_in_use)\n`);
  await socket.close();
});

test.run();

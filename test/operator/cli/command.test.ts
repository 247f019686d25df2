/** The operator command without a node: help, wrong usage, failures, and the commands that work on folders. */
import { join } from 'node:path';
import type { Command } from 'commander';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { VerifyReport } from '../../../src/group/api.js';
import { DiskFullError, UnreadError } from '../../../src/group/ports/storage.js';
import { programOf } from '../../../src/operator/cli/command.js';
import type { CommandDeps } from '../../../src/operator/cli/command-context.js';
import { OperatorError } from '../../../src/operator/cli/node-client.js';
import { temporaryFolder } from '../../support/process.js';
import { intactReport, linesOf, runHere, runtime } from '../run-here.js';

const nowhere = '/nowhere';

/** The path of a command and of each one below it: '', 'peers', 'peers list'. */
function pathsOf(command: Command, path = ''): string[] {
  return [path, ...command.commands.flatMap((one) => pathsOf(one, `${path} ${one.name()}`.trimStart()))];
}

test('every command has a help with examples, and printing it exits with 0', async () => {
  const deps = { runtime, terminal: {} } as unknown as CommandDeps;
  const commands = pathsOf(programOf(deps, false, () => undefined));
  for (const one of ['', 'status', 'peers list', 'completion']) assert.ok(commands.includes(one), one);
  for (const command of commands) {
    const run = await runHere([...command.split(' ').filter(Boolean), '--help'], nowhere);
    assert.is(run.code, 0, command);
    assert.match(run.out, `Usage: ptf ${command}`.trimEnd(), command);
    assert.match(run.out, 'Examples:\n  $ ptf ', command);
    assert.match(run.out, '--json', command);
  }
});

test('wrong usage ends with 2 and asks for no node', async () => {
  const id = 'some-peer';
  const wrong = [
    [],
    ['reboot'],
    ['pretrust'],
    ['peers', 'remove', id],
    ['peers', 'suspend'],
    ['peers', 'suspend', id, 'another'],
    ['peers', 'suspend', 'x'.repeat(201)],
    ['peers', 'add', '--name', 'n'],
    ['peers', 'add', '--games', 'chess'],
    ['peers', 'add', '--name', ' ', '--games', 'chess'],
    ['peers', 'add', '--name', 'n', '--games', ','],
    ['peers', 'add', '--name', 'n', '--games', 'a,a'],
    ['peers', 'add', '--name', 'n'.repeat(201), '--games', 'a'],
    ['peers', 'add', '--name', 'n', '--games', 'a', '--email', 'nobody'],
    ['peers', 'same', id],
    ['peers', 'purge'],
    ['peers', 'purge', '--idle', '1w'],
    ['peers', 'purge', '--idle', '3651d'],
    ['peers', 'rotate-key', id, '--overlap', '25h'],
    ['peers', 'rotate-key', id, '--overlap', '60'],
    ['pretrust', 'add'],
    ['pretrust', 'add', id, '--by', 'a\nb'],
    ['pretrust', 'add', id, '--by', 'alice\u202e'],
    ['erase'],
    ['erase', 'not-a-hash'],
    ['audit', 'tail', '--count', '0'],
    ['audit', 'tail', '--count', '201'],
    ['status', '--loud'],
    ['simulate'],
  ];
  for (const args of wrong) {
    const run = await runHere(args, nowhere);
    assert.is(run.code, 2, args.join(' '));
    assert.is(run.out, '', args.join(' '));
    assert.match(run.err, '(wrong_usage)', args.join(' '));
  }
});

test('an error is reported in one plain line', async () => {
  const said: Readonly<Record<string, readonly string[]>> = {
    "unknown command 'statsu' (Did you mean status?); see --help": ['statsu'],
    "unknown command 'nosuch'; see --help": ['help', 'nosuch'],
    'by must not contain a control character; found U+000A': ['pretrust', 'add', 'id', '--by', 'a\nb'],
    'contact_email must be an e-mail address, e.g. ops@example.com; got a string': [
      ...['peers', 'add', '--name', 'n', '--games', 'a', '--email', 'nobody'],
    ],
    'peer_name must not begin or end with a blank': ['peers', 'add', '--name', ' n', '--games', 'arena, chess'],
    'peer_name must not contain a control character; found U+0009; game_ids[0] must have at most 64 characters; got 65':
      [...['peers', 'add', '--name', 'a\tb', '--games', 'g'.repeat(65)]],
    'give at least one of --without, --pre-trusted, --half-life, --ban-half-life': ['simulate', '--rows', '5'],
    '/nowhere/inner lies within the data folder; a backup belongs outside it': ['backup', '/nowhere/inner'],
    '/nowhere lies within the data folder; a backup belongs outside it': ['restore', nowhere],
  };
  for (const [text, args] of Object.entries(said)) {
    const { code, err } = await runHere(args, nowhere);
    assert.is(code, 2, err);
    assert.ok(err.endsWith(`ptf: ${text} (wrong_usage)\n`), err);
  }
});

test('without a node every command that needs one ends with 3', async () => {
  const id = 'some-peer';
  const needy = [
    ['status'],
    ['peers', 'list'],
    ['peers', 'add', '--name', 'n', '--games', 'a'],
    ['peers', 'suspend', id],
    ['peers', 'reinstate', id],
    ['peers', 'revoke', id],
    ['peers', 'same', id, 'another'],
    ['peers', 'rotate-key', id],
    ['pretrust', 'list'],
    ['pretrust', 'add', id],
    ['pretrust', 'remove', id],
    ['erase', 'ab'.repeat(32)],
    ['audit', 'tail'],
    ['audit', 'verify'],
    ['export', 'audit'],
    ['verify'],
    ['simulate', '--half-life', '0'],
  ];
  for (const args of needy) {
    const run = await runHere(args, nowhere);
    assert.is(run.code, 3, args.join(' '));
    assert.match(run.err, /^ptf: no node runs on .*\(no_node\)$/m);
  }
});

test('a failure is printed with its code, and with what to do where the user can do something', async () => {
  const refused = Object.assign(new Error('EACCES: open'), { code: 'EACCES' });
  for (const [error, text] of [
    [new DiskFullError('the disk is full'), 'the disk is full (disk_full)'],
    [new UnreadError('not read'), 'not read (store_unread)'],
    [refused, 'EACCES: open; run as the user of the node (access_denied)'],
    [new OperatorError('folder_in_use', 'a\u001bb'), 'a<1b>b (folder_in_use)'],
    [new TypeError('no function'), 'no function (internal_error)'],
  ] as const) {
    const ran = await runHere(['adopt'], nowhere, { adoptFolder: () => Promise.reject(error) });
    assert.equal(ran, { code: 1, out: '', err: `ptf: ${text}\n` });
  }
});

test('with --json one document has the value, the failure and its details', async () => {
  const failing = (details?: object) => () => Promise.reject(new OperatorError('a_code', 'a text', 1, details));
  const of = async (adoptFolder: () => Promise<'free'>) => {
    const { code, out, err } = await runHere(['adopt', '--json'], nowhere, { adoptFolder });
    assert.equal([err, out.endsWith('\n')], ['', true]);
    return [code, JSON.parse(out)];
  };
  assert.equal(await of(async () => 'free'), [0, { outcome: 'free' }]);
  assert.equal(await of(failing()), [1, { error: 'a text', code: 'a_code' }]);
  assert.equal(await of(failing({ files: [] })), [1, { error: 'a text', code: 'a_code', details: { files: [] } }]);
  assert.equal(await runHere(['--json'], nowhere), {
    code: 2,
    out: '{"error":"a command is missing; see --help","code":"wrong_usage"}\n',
    err: '',
  });
  assert.is((await runHere(['--version'], nowhere)).out, '9.8.7\n');
  const { code, out } = await runHere(['adopt', '--', '--json'], nowhere);
  assert.equal([code, out], [2, ''], 'it is no option behind --');
});

test('without a node the folder itself is verified, and damage is a fault', async () => {
  const dir = temporaryFolder();
  const verified = async (over: Partial<VerifyReport>, ...args: readonly string[]) => {
    const asked: unknown[] = [];
    const verifyFolder = async (of: string, mode: string) => {
      asked.push(of, mode);
      return { ...intactReport, ...over };
    };
    const ran = await runHere(['verify', ...args], dir, { verifyFolder });
    assert.equal(asked, [dir, 'full']);
    return { ...ran, lines: linesOf(ran) };
  };
  const snapshots = [
    { seq: 3, ok: true },
    { seq: 6, ok: false, fault: 'torn' },
  ];
  const { code, err, lines } = await verified({ snapshots });
  assert.equal([code, err], [0, '']);
  assert.equal(lines, [
    'checked by | this command; no node runs',
    'last seq | 9',
    'batches | 2',
    'records | 9',
    'audit entries | 1',
    'snapshots | 3, 6 (damaged)',
    'The store is intact.',
  ]);
  const damaged = await verified({ ok: false, lastSeq: 0, faults: ['a is cut', 'b is torn'] });
  assert.equal([damaged.code, damaged.err], [1, 'ptf: a is cut; b is torn (store_damaged)\n']);
  assert.is(damaged.lines.at(-1), 'snapshots | none');
  assert.is((await verified({ lastSeq: 0 })).err, `ptf: ${dir} holds no store (no_store)\n`);
  assert.is(JSON.parse((await verified({}, '--json')).out).checked, 'folder');
  // Nothing is verified where there is no folder.
  assert.is((await runHere(['verify'], join(dir, 'missing'))).code, 3);
});

test('adopt says whether the folder had an owner', async () => {
  const adopted = async (outcome: 'adopted' | 'free') =>
    (await runHere(['adopt'], nowhere, { adoptFolder: async () => outcome })).out;
  assert.match(await adopted('adopted'), /^\/nowhere is now a folder of its own;/);
  assert.match(await adopted('free'), /^\/nowhere has no running owner; nothing was changed/);
});

test('the data of a node is moved into a cluster and out of it', async () => {
  const moved: unknown[] = [];
  const moveData = async (direction: 'import' | 'export', dir: string) => {
    moved.push(direction, dir);
    return { cluster_id: 'c1', last_seq: 9 };
  };
  const imported = await runHere(['import-data'], nowhere, { moveData });
  const exported = await runHere(['export-data'], nowhere, { moveData });
  assert.match(imported.out, /^the cluster c1 begins after record 9;/);
  assert.match(exported.out, /^the folder ends with record 9 and belongs to no cluster;/);
  assert.equal(moved, ['import', nowhere, 'export', nowhere]);
});

test.run();

/** The operator command as an operator runs it: a process of its own, against a real node found by its data folder. */
import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { dataFileOf } from '../../../src/store/files/lmdb-file.js';
import { logFolderOf } from '../../../src/store/log/lmdb-log.js';
import { ask } from '../../http/exchange.js';
import { registerPeer } from '../../http/peer-client.js';
import { eventBody } from '../../http/samples.js';
import { type Ran, watched } from '../../support/child-process.js';
import { startTestNode, type TestNode } from '../../support/node.js';
import { temporaryFolder } from '../../support/process.js';
import { ptfEntry } from '../../support/ptf.js';

let node: TestNode;
let folder = '';
test.before(async () => {
  node = await startTestNode();
  folder = temporaryFolder();
});
test.after(() => node.close());

/** Runs the command in an empty folder, with `DATA_DIR` alone in its environment. */
async function ptf(args: readonly string[], dir: string | null = node.dir, cwd = folder): Promise<Ran> {
  const env = { PATH: process.env.PATH, ...(dir === null ? {} : { DATA_DIR: dir }) };
  return watched(spawn(process.execPath, [ptfEntry, ...args], { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] })).ended;
}

/** The one document that `--json` prints, from a run that ends with `code`. */
async function json(args: readonly string[], code = 0, dir = node.dir): Promise<Record<string, unknown>> {
  const run = await ptf([...args, '--json'], dir);
  assert.equal([run.code, run.err], [code, ''], run.out);
  return JSON.parse(run.out);
}

/** Submits an event; the answer's status tells what the key is worth: 201, 401 or 403. */
async function statusOf(peer_id: string, key: string): Promise<number> {
  return (await ask(node.url, '/api/v1/events', { key, json: eventBody({ peer_id }) })).status;
}

test('wrong usage ends the process with 2, and a command without its node with 3', async () => {
  const nowhere = join(folder, 'nowhere');
  const document = await json(['erase', 'not-a-hash'], 2, nowhere);
  assert.is(document.code, 'wrong_usage');
  assert.match(String(document.error), '64 hexadecimal');
  assert.is((await json(['status'], 3, nowhere)).code, 'no_node');
  assert.match((await ptf(['status'], nowhere)).err, /^ptf: no node runs on .*\(no_node\)$/m);
});

test('the node is found by --data-dir, then DATA_DIR, then .env, then ./snapshots', async () => {
  const away = mkdtempSync(join(folder, 'away-'));
  assert.is((await ptf(['status', '--data-dir', node.dir], join(folder, 'nowhere'), away)).code, 0);
  assert.is((await ptf(['--data-dir', node.dir, 'status'], null, away)).code, 0);
  assert.is((await ptf(['status'], node.dir, away)).code, 0);
  assert.match((await ptf(['status'], null, away)).err, `no node runs on ${join(away, 'snapshots')}`);
  writeFileSync(join(away, '.env'), `DATA_DIR=${node.dir}\n`);
  assert.is((await ptf(['status'], null, away)).code, 0);
  assert.is((await ptf(['status'], '', away)).code, 0);
  assert.is((await ptf(['status'], join(folder, 'nowhere'), away)).code, 3);
  rmSync(join(away, '.env'));
  mkdirSync(join(away, '.env'));
  const unreadable = await ptf(['status'], node.dir, away);
  assert.is(unreadable.code, 2);
  assert.match(unreadable.err, '.env');
});

test('the key of an added peer is printed once and works, and no list holds it', async () => {
  const run = await ptf(['peers', 'add', '--name', 'Arena EU', '--games', 'arena, go', '--email', 'ops@example.com']);
  assert.is(run.code, 0, run.err);
  const keys = run.out.match(/^ptf_dev_[\w-]{43}$/gm) ?? [];
  assert.is(keys.length, 1);
  const [peer] = (await json(['peers', 'list'])).data as Record<string, unknown>[];
  assert.equal([peer?.peer_name, peer?.game_ids, peer?.status], ['Arena EU', ['arena', 'go'], 'active']);
  assert.is(await statusOf(String(peer?.peer_id), keys[0]!), 201);
  assert.not.match((await ptf(['peers', 'list', '--wide'])).out + JSON.stringify(peer), keys[0]!);
});

test('a suspension, a rotation, with an overlap or without, and a revocation affect the key at once', async () => {
  const { peerId, key } = await registerPeer(node.url);
  const change = (...args: readonly string[]) => json(['peers', args[0]!, peerId, ...args.slice(1)]);
  assert.is((await change('suspend', '--by', 'alice')).status, 'suspended');
  assert.is(await statusOf(peerId, key), 403);
  assert.is((await change('reinstate')).status, 'active');
  assert.is(await statusOf(peerId, key), 201);
  const second = String((await change('rotate-key')).api_key);
  assert.equal([await statusOf(peerId, key), await statusOf(peerId, second)], [401, 201]);
  const third = String((await change('rotate-key', '--overlap', '1h')).api_key);
  assert.equal([await statusOf(peerId, second), await statusOf(peerId, third)], [201, 201]);
  // There is no user to ask here: the input is no terminal.
  assert.is((await change('revoke')).status, 'revoked');
  assert.is(await statusOf(peerId, third), 403);
  const final = await ptf(['peers', 'reinstate', peerId]);
  assert.equal([final.code, final.out], [1, '']);
  assert.match(final.err, /final \(peer_not_active\)$/m);
  const { data } = (await json(['audit', 'tail', '--actor', 'alice'])) as { data: { action: string; actor: string }[] };
  assert.equal(
    data.map(({ action, actor }) => [action, actor]),
    [['peer_suspended', 'operator:alice']],
  );
});

test('without a node the folder itself is verified, damage is named, and nothing is written', async () => {
  const dir = join(folder, 'data');
  const stopped = await startTestNode({ DATA_DIR: dir });
  await (await registerPeer(stopped.url)).submit({ event_id: 'the-damaged-event' });
  await stopped.close();
  const whole = await json(['verify'], 0, dir);
  assert.equal([whole.ok, whole.checked], [true, 'folder']);
  assert.ok(Number(whole.last_seq) >= 3);

  const file = dataFileOf(logFolderOf(dir));
  const bytes = readFileSync(file);
  let at = bytes.indexOf('the-damaged-event');
  assert.ok(at > 0);
  for (; at > 0; at = bytes.indexOf('the-damaged-event', at + 1)) bytes[at]! ^= 1;
  writeFileSync(file, bytes);
  const before = statSync(file).mtimeMs;
  const damaged = await json(['verify'], 1, dir);
  assert.equal([damaged.ok, damaged.code], [false, 'store_damaged']);
  assert.match(String(damaged.faults), /log batch at record \d+/);
  assert.is(statSync(file).mtimeMs, before);

  const empty = mkdtempSync(join(folder, 'empty-'));
  assert.is((await json(['verify'], 1, empty)).code, 'no_store');
  assert.equal(readdirSync(empty), []);
});

test.run();

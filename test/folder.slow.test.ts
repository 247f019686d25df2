/** The data folder from outside: one owner, a lock that no dead node holds, and damage that is named and left alone. */
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import {
  closeSync,
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { logFolderOf } from '../src/store/log/lmdb-log.js';
import { openLogEnvironment } from '../src/store/log/log-environment.js';
import { LmdbSnapshotStore } from '../src/store/snapshots/lmdb-snapshots.js';
import { blocksIn } from './support/blocks-in.js';
import { endAll, mainEntry, NotStarted, replicaLoaded, startProcess, temporaryFolder } from './support/process.js';
import { runPtf } from './support/ptf.js';
import { until } from './support/until.js';

async function refusal(env: Record<string, string>): Promise<NotStarted> {
  try {
    const node = await startProcess(env);
    await node.kill('SIGKILL');
  } catch (error) {
    if (error instanceof NotStarted) return error;
    throw error;
  }
  return assert.unreachable('the node started') as never;
}

/** A folder that holds some events; `snapshot`: stopped in good order, so that a snapshot is there. */
async function filled(snapshot: boolean): Promise<string> {
  const dir = temporaryFolder();
  const node = await startProcess({ DATA_DIR: dir });
  const json = { 'content-type': 'application/json' };
  const body = JSON.stringify({ peer_name: 'p', game_ids: ['g'] });
  const registered = await fetch(`${node.url}/api/v1/peers/register`, { method: 'POST', headers: json, body });
  const { peer_id, api_key } = (await registered.json()) as { peer_id: string; api_key: string };
  const events = Array.from({ length: 400 }, (_, i) => ({
    schema_version: '1.0.0',
    event_id: `e${i}`,
    event_type: 'ban_applied',
    peer_id,
    player_id: `player ${i}`,
    game_id: 'g',
    severity: 1,
    timestamp: '2026-01-01T00:00:00Z',
  }));
  const headers = { ...json, 'x-peer-api-key': api_key };
  const sent = await fetch(`${node.url}/api/v1/events/batch`, {
    method: 'POST',
    headers,
    body: JSON.stringify({ events }),
  });
  assert.is(((await sent.json()) as { accepted: number }).accepted, 400);
  // The newest batch is looked at more closely than the others, and those are what the damage is about.
  const last = JSON.stringify({ ...events[0], event_id: 'the-last' });
  const added = await fetch(`${node.url}/api/v1/events`, { method: 'POST', headers, body: last });
  assert.is(added.status, 201);
  if (snapshot) await replicaLoaded(node);
  await node.kill(snapshot ? 'SIGTERM' : 'SIGKILL');
  return dir;
}

/** Digest of every file that holds data; locks, heartbeat, owner record and last line hold none. */
function contentOf(dir: string): string {
  const digest = createHash('sha256');
  for (const name of readdirSync(dir, { recursive: true, encoding: 'utf8' }).sort()) {
    const file = join(dir, name);
    if (statSync(file).isFile() && !/(?:lock\.mdb|heartbeat|last-line|owner-\d+\.json)$/.test(name))
      digest.update(name).update(readFileSync(file));
  }
  return digest.digest('hex');
}

/** Writes bytes over a file's own. */
function patch(file: string, at: number, bytes: Uint8Array): void {
  const fd = openSync(file, 'r+');
  writeSync(fd, bytes, 0, bytes.length, at);
  closeSync(fd);
}

function everyIndexOf(content: Buffer, wanted: Buffer): number[] {
  const found: number[] = [];
  for (let at = content.indexOf(wanted); at >= 0; at = content.indexOf(wanted, at + 1)) found.push(at);
  return found;
}

const logFile = (dir: string) => join(dir, 'log', 'data.mdb');

test('a second node on a folder is refused by name and harms nothing', async () => {
  const dir = temporaryFolder();
  const first = await startProcess({ DATA_DIR: dir });
  const line = () => readFileSync(join(dir, 'last-line'), 'utf8');
  await until(() => existsSync(join(dir, 'last-line')));
  const before = line();
  const { exit, output } = await refusal({ DATA_DIR: dir });
  assert.is(exit, 1);
  assert.match(output, /in use by process \d+/);
  assert.is(line(), before, "ptf doctor quotes the owner's line");
  assert.is((await fetch(`${first.url}/api/v1/health`)).status, 200);
  assert.is(await first.kill('SIGTERM'), 0);
});

test('a node on a copied folder reports the copy, and ptf adopt makes the folder independent', async () => {
  const dir = temporaryFolder();
  const [home, copy] = [join(dir, 'original'), join(dir, 'copy')];
  mkdirSync(home);
  const first = await startProcess({ DATA_DIR: home });
  cpSync(home, copy, { recursive: true, filter: (path) => !path.endsWith('.tmp') && !lstatSync(path).isSocket() });
  const { exit, output } = await refusal({ DATA_DIR: copy });
  assert.is(exit, 1);
  assert.match(output, /is a copy of the folder of a running node, process \d+/);
  assert.ok(output.includes(`run: ptf adopt --data-dir ${copy}`));
  const original = await runPtf(['adopt'], home);
  assert.equal([original.code, /folder_in_use/.test(original.err)], [1, true]);
  const wrong = await runPtf(['adopt'], dir);
  assert.equal([wrong.code, wrong.err], [1, `ptf: ${dir} holds no store (no_store)\n`]);
  assert.is((await runPtf(['adopt'], copy)).code, 0);
  const second = await startProcess({ DATA_DIR: copy });
  for (const { url } of [first, second]) assert.is((await fetch(`${url}/api/v1/health`)).status, 200);
  for (const node of [first, second]) assert.is(await node.kill('SIGTERM'), 0);
});

test('the lock of a killed node does not block the next', async () => {
  const dir = await filled(false);
  const next = await startProcess({ DATA_DIR: dir });
  const score = await fetch(`${next.url}/api/v1/players/player%207/trust-score`);
  assert.is(score.status, 200);
  assert.is(await next.kill('SIGTERM'), 0);
});

test('another group, salt, mode or environment than that of the folder is refused and named', async () => {
  const dir = await filled(true);
  const { output } = await refusal({
    DATA_DIR: dir,
    GROUP_ID: 'other',
    GROUP_SALT: 'another salt of 32 bytes, it says',
    IDENTITY_MODE: 'high-security',
    ENVIRONMENT: 'staging',
  });
  for (const variable of ['GROUP_ID', 'GROUP_SALT', 'IDENTITY_MODE', 'ENVIRONMENT']) assert.match(output, variable);
  assert.not.match(output, 'another salt');
});

test('other kinds of player ids than the folder was formed with are refused, and an older folder opens', async () => {
  const old = await filled(true);
  assert.match(
    (await refusal({ DATA_DIR: old, PLAYER_ID_KINDS: 'steam' })).output,
    /PLAYER_ID_KINDS is steam, .* unset/,
  );
  rmSync(old, { recursive: true });
  const dir = temporaryFolder();
  const first = await startProcess({ DATA_DIR: dir, PLAYER_ID_KINDS: 'steam,minecraft' });
  const { group } = (await (await fetch(`${first.url}/api/v1/peers`)).json()) as {
    group: { player_id_kinds: unknown };
  };
  assert.equal(group.player_id_kinds, ['steam', 'minecraft']);
  assert.is(await first.kill('SIGTERM'), 0);
  for (const kinds of ['', 'steam', 'minecraft,steam']) {
    const { output } = await refusal({ DATA_DIR: dir, PLAYER_ID_KINDS: kinds });
    assert.match(output, /PLAYER_ID_KINDS is .*, but steam,minecraft in the group/);
  }
  const again = await startProcess({ DATA_DIR: dir, PLAYER_ID_KINDS: 'steam,minecraft' });
  assert.is(await again.kill('SIGTERM'), 0);
});

test('a start that is refused for an unknown peer has not changed the half-life either', async () => {
  const dir = await filled(true);
  const refused = await refusal({ DATA_DIR: dir, HALF_LIFE_DAYS: '7', PRE_TRUSTED_PEERS: 'nobody' });
  assert.match(refused.output, /PRE_TRUSTED_PEERS/);
  assert.not(readFileSync(logFile(dir)).includes('half_life_changed'));
  const changed = await startProcess({ DATA_DIR: dir, HALF_LIFE_DAYS: '7' });
  await changed.kill('SIGTERM');
  assert.ok(readFileSync(logFile(dir)).includes('half_life_changed'), 'a start that is not refused writes it');
});

test('a truncated generated salt is replaced before a group is formed, and refused afterwards', async () => {
  const dir = temporaryFolder();
  const file = join(dir, 'group-salt');
  writeFileSync(file, '');
  const node = await startProcess({ DATA_DIR: dir });
  assert.is(await node.kill('SIGTERM'), 0);
  // 32 random bytes in base64url.
  assert.match(readFileSync(file, 'utf8'), /^[\w-]{43}\n$/);
  writeFileSync(file, '');
  const { exit, output } = await refusal({ DATA_DIR: dir });
  assert.is(exit, 1);
  assert.match(output, /group-salt.* is truncated/);
});

test('a truncated log stops the start, is named, and is left unchanged', async () => {
  const dir = await filled(false);
  truncateSync(logFile(dir), statSync(logFile(dir)).size / 2);
  const before = contentOf(dir);
  const { exit, output } = await refusal({ DATA_DIR: dir });
  assert.is(exit, 1);
  assert.match(output, /damaged; nothing was changed/);
  assert.match(output, 'data.mdb');
  assert.is(contentOf(dir), before);
});

test('Ctrl-C while the log is verified is an end, and no damage', async () => {
  const dir = await filled(false);
  for (const waitMs of [0, 20, 40, 60, 80]) {
    const node = spawn(process.execPath, [mainEntry], {
      cwd: dir,
      env: { PATH: process.env.PATH, DATA_DIR: dir, PORT: '0' },
      stdio: ['ignore', 'pipe', 'inherit'],
      // A group of its own, as a shell makes for what it runs.
      detached: true,
    });
    let output = '';
    node.stdout.on('data', (chunk) => {
      output += chunk;
    });
    const closed = once(node, 'close');
    // The verifying process is its first child, where the system tells; elsewhere a start has it by then.
    if (process.platform === 'linux') {
      await until(() => readFileSync(`/proc/${node.pid}/task/${node.pid}/children`, 'utf8') !== '');
    } else await delay(150);
    await delay(waitMs);
    process.kill(-node.pid!, 'SIGINT');
    await closed;
    assert.not.match(output, 'damaged', `${waitMs} ms`);
  }
});

test('an emptied log is damage, not a new store', async () => {
  const dir = await filled(true);
  truncateSync(logFile(dir), 0);
  const { output } = await refusal({ DATA_DIR: dir });
  assert.match(output, 'damaged');
});

test('a flipped bit in a batch stops the start and names the record', async () => {
  const dir = await filled(false);
  const content = readFileSync(logFile(dir));
  const at = content.lastIndexOf('e399');
  patch(logFile(dir), at, Buffer.from([content[at]! ^ 1]));
  const before = contentOf(dir);
  const { output } = await refusal({ DATA_DIR: dir });
  assert.match(output, /log batch at record 3: checksum differs/);
  assert.is(contentOf(dir), before);
});

test('a store that kills its reader by a signal stops the start, and the node reports it', async () => {
  const dir = await filled(false);
  const content = readFileSync(logFile(dir));
  // A node of an LMDB leaf is: data size in two 16-bit halves, flags, key size 8, key. A value is its length, then the
  // batch. Both sizes now reach far beyond the file, so that whoever copies the value touches memory that is not there.
  for (const at of everyIndexOf(content, Buffer.from([8, 0, 0, 0, 0, 0, 0, 0, 0, 3]))) {
    patch(logFile(dir), at - 4, Buffer.from([0xff, 0x0f]));
  }
  for (const at of everyIndexOf(content, Buffer.from([0x50, 0x42, 1, 0]))) {
    if (content.readDoubleLE(at + 8) === 3) patch(logFile(dir), at - 4, Buffer.from([0x0f, 0xf0, 0, 0]));
  }
  const { exit, output } = await refusal({ DATA_DIR: dir });
  assert.is(exit, 1);
  assert.match(output, /its reader died \(SIG(BUS|SEGV)\)/);
});

test('a damaged snapshot is passed over: the log leads to the same scores', async () => {
  const dir = await filled(true);
  const snapshot = readdirSync(dir).find((name) => name.startsWith('snapshot-'))!;
  const file = join(dir, snapshot, 'data.mdb');
  const content = readFileSync(file);
  for (const at of everyIndexOf(content, Buffer.from('"lastSeq"'))) patch(file, at, Buffer.from([content[at]! ^ 4]));
  const node = await startProcess({ DATA_DIR: dir });
  assert.match(node.output(), 'a snapshot cannot be used');
  assert.is((await fetch(`${node.url}/api/v1/players/player%20399/trust-score`)).status, 200);
  assert.is(await node.kill('SIGTERM'), 0);
});

test('a snapshot of a newer format is skipped and reported, and the log leads to the same scores', async () => {
  const dir = await filled(true);
  const snapshots = new LmdbSnapshotStore(dir);
  const [seq] = snapshots.list() as [number];
  const header = snapshots.readHeader(seq);
  const version = header.version + 1;
  await snapshots.write({ ...header, version }, blocksIn(snapshots, seq));
  const node = await startProcess({ DATA_DIR: dir });
  assert.match(node.output(), `snapshot ${seq}: has format ${version}`);
  assert.is((await fetch(`${node.url}/api/v1/players/player%20399/trust-score`)).status, 200);
  assert.is(await node.kill('SIGTERM'), 0);
});

test('a log with a gap stops the start, which names the record; before a snapshot `ptf verify` does', async () => {
  for (const snapshot of [false, true]) {
    const dir = await filled(snapshot);
    const { root, log } = openLogEnvironment(logFolderOf(dir));
    const key = Buffer.alloc(8);
    key.writeBigUInt64BE(3n);
    assert.ok(log.removeSync(key));
    await root.close();
    const verified = await runPtf(['verify'], dir);
    assert.is(verified.code, 1);
    assert.match(verified.err, /record 3: does not follow the batch before it/);
    if (!snapshot)
      assert.match((await refusal({ DATA_DIR: dir })).output, /record 3: does not follow the batch before it/);
  }
});

test('a stopped node leaves a snapshot, and the next start uses it', async () => {
  const dir = await filled(true);
  const copy = temporaryFolder();
  cpSync(dir, copy, { recursive: true });
  const node = await startProcess({ DATA_DIR: copy });
  // The whole log is in the snapshot, weights that were published before the stop included.
  assert.match(node.output(), /"last_seq":(40[2-9]),"snapshot_seq":\1,/);
  await node.kill('SIGTERM');
  for (const folder of [dir, copy]) rmSync(folder, { recursive: true });
});

test('the folder is for its owner only, and so is a salt made in development', async () => {
  const dir = await filled(true);
  assert.is(statSync(dir).mode & 0o777, 0o700);
  assert.is(statSync(join(dir, 'group-salt')).mode & 0o777, 0o600);
});

test.after(endAll);
test.run();

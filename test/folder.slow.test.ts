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
import { GameServer } from './support/game-server.js';
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

/** Makes a folder that holds some events, whose node ended by the signal. */
async function filled(signal: 'SIGKILL' | 'SIGTERM'): Promise<string> {
  const dir = temporaryFolder();
  const node = await startProcess({ DATA_DIR: dir });
  const peer = await GameServer.register(node.url, 'p');
  const events = Array.from({ length: 400 }, (_, i) => ({ id: `e${i}`, player: `player ${i}` }));
  assert.equal(new Set(await peer.send(events)), new Set([201]));
  // The newest batch is looked at more closely than the others, and those are what the damage is about.
  assert.equal(await peer.send([{ id: 'the-last', player: 'player 0' }]), [201]);
  if (signal === 'SIGTERM') await replicaLoaded(node);
  await node.kill(signal);
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

/** A folder whose node was killed, and one whose node stopped in good order and so left a snapshot. */
let killed = '';
let stopped = '';
test.before(async () => {
  [killed, stopped] = [await filled('SIGKILL'), await filled('SIGTERM')];
});

function copyOf(dir: string): string {
  const copy = temporaryFolder();
  cpSync(dir, copy, { recursive: true, filter: (path) => !lstatSync(path).isSocket() });
  return copy;
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
  const dir = join(temporaryFolder(), 'data');
  mkdirSync(dir);
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
  const [home, copy] = [temporaryFolder(), join(temporaryFolder(), 'copy')];
  const first = await startProcess({ DATA_DIR: home });
  cpSync(home, copy, { recursive: true, filter: (path) => !path.endsWith('.tmp') && !lstatSync(path).isSocket() });
  const { exit, output } = await refusal({ DATA_DIR: copy });
  assert.is(exit, 1);
  assert.match(output, /is a copy of the folder of a running node, process \d+/);
  assert.ok(output.includes(`run: ptf adopt --data-dir ${copy}`));
  assert.is((await runPtf(['adopt'], copy)).code, 0);
  const second = await startProcess({ DATA_DIR: copy });
  for (const { url } of [first, second]) assert.is((await fetch(`${url}/api/v1/health`)).status, 200);
  for (const node of [first, second]) assert.is(await node.kill('SIGTERM'), 0);
});

test('another group, salt, mode or environment than that of the folder is refused and named', async () => {
  const { output } = await refusal({
    DATA_DIR: copyOf(stopped),
    GROUP_ID: 'other',
    GROUP_SALT: 'another salt of 32 bytes, it says',
    IDENTITY_MODE: 'high-security',
    ENVIRONMENT: 'staging',
  });
  for (const variable of ['GROUP_ID', 'GROUP_SALT', 'IDENTITY_MODE', 'ENVIRONMENT']) assert.match(output, variable);
  assert.not.match(output, 'another salt');
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

test('Ctrl-C while the log is verified is an end, and no damage', async () => {
  const dir = copyOf(killed);
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

/** Removes a record between two others. */
async function removeRecord(dir: string): Promise<void> {
  const { root, log } = openLogEnvironment(logFolderOf(dir));
  const key = Buffer.alloc(8);
  key.writeBigUInt64BE(3n);
  assert.ok(log.removeSync(key));
  await root.close();
}

/**
 * Makes the values of a record end far beyond the file, so that a copy of them touches memory that is not there. A node
 * of an LMDB leaf is: data size in two 16-bit halves, flags, key size 8, key. A value is its length, then the batch.
 */
function overstate(dir: string): void {
  const content = readFileSync(logFile(dir));
  for (const at of everyIndexOf(content, Buffer.from([8, 0, 0, 0, 0, 0, 0, 0, 0, 3]))) {
    patch(logFile(dir), at - 4, Buffer.from([0xff, 0x0f]));
  }
  for (const at of everyIndexOf(content, Buffer.from([0x50, 0x42, 1, 0]))) {
    if (content.readDoubleLE(at + 8) === 3) patch(logFile(dir), at - 4, Buffer.from([0x0f, 0xf0, 0, 0]));
  }
}

function flipBit(file: string, text: string): void {
  const content = readFileSync(file);
  for (const at of everyIndexOf(content, Buffer.from(text))) patch(file, at, Buffer.from([content[at]! ^ 4]));
}

const damages: Readonly<Record<string, readonly [damage: (dir: string) => unknown, said: RegExp]>> = {
  'a truncated log': [(dir) => truncateSync(logFile(dir), statSync(logFile(dir)).size / 2), /data\.mdb/],
  'an emptied log': [(dir) => truncateSync(logFile(dir), 0), /data\.mdb/],
  'a flipped bit in a batch': [(dir) => flipBit(logFile(dir), 'e399'), /log batch at record 3: checksum differs/],
  'a log with a gap': [removeRecord, /record 3: does not follow the batch before it/],
  'a log that kills its reader by a signal': [overstate, /its reader died \(SIG(BUS|SEGV)\)/],
};

for (const [what, [damage, said]] of Object.entries(damages)) {
  test(`${what} stops the start, is named, and is left unchanged`, async () => {
    const dir = copyOf(killed);
    await damage(dir);
    const before = contentOf(dir);
    const { exit, output } = await refusal({ DATA_DIR: dir });
    assert.is(exit, 1);
    assert.match(output, /damaged; nothing was changed/);
    assert.match(output, said);
    assert.is(contentOf(dir), before);
  });
}

test('a gap in the log before a snapshot is found by `ptf verify`', async () => {
  const dir = copyOf(stopped);
  await removeRecord(dir);
  const { code, err } = await runPtf(['verify'], dir);
  assert.is(code, 1);
  assert.match(err, /record 3: does not follow the batch before it/);
});

async function makeNewer(dir: string): Promise<void> {
  const snapshots = new LmdbSnapshotStore(dir);
  const [seq] = snapshots.list() as [number];
  const header = snapshots.readHeader(seq);
  await snapshots.write({ ...header, version: header.version + 1 }, blocksIn(snapshots, seq));
}

const spoilt: Readonly<Record<string, readonly [spoil: (dir: string) => unknown, said: RegExp]>> = {
  'a damaged snapshot': [
    (dir) => {
      const snapshot = readdirSync(dir).find((name) => name.startsWith('snapshot-'))!;
      flipBit(join(dir, snapshot, 'data.mdb'), '"lastSeq"');
    },
    /a snapshot cannot be used/,
  ],
  'a snapshot of a newer format': [makeNewer, /snapshot \d+: has format \d+/],
};

for (const [what, [spoil, said]] of Object.entries(spoilt)) {
  test(`${what} is passed over and reported: the log leads to the same scores`, async () => {
    const dir = copyOf(stopped);
    await spoil(dir);
    const node = await startProcess({ DATA_DIR: dir });
    assert.match(node.output(), said);
    assert.is((await fetch(`${node.url}/api/v1/players/player%20399/trust-score`)).status, 200);
    assert.is(await node.kill('SIGTERM'), 0);
  });
}

test.after(endAll);
test.run();

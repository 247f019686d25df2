/** Lists from where they live besides a plain file: an address, the output of a command, a table of SQLite. */
import { execFileSync, spawn } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, rmSync, truncateSync, utimesSync, writeFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import sqlite from 'node-sqlite3-wasm';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { bounds } from '../../src/client/bounds.js';
import { sourceOf } from '../../src/peer/sources/source.js';
import { PolledList } from '../../src/peer/watch/polled-list.js';
import { watched } from '../support/child-process.js';
import { temporaryFolder } from '../support/process.js';
import { until } from '../support/until.js';
import { brief } from './import/plans.js';
import { PeerWorld } from './peer-world.js';

const [A, B] = ['76561202255225729', '76561202255225730'] as const;
const never = new AbortController().signal;
let folder = '';
let server: Server;
let answer: {
  status: number;
  body: string;
  headers?: Record<string, string>;
  isCut?: boolean;
  isHeld?: boolean;
  isOpen?: boolean;
};
const asked: IncomingHttpHeaders[] = [];
const address = (path = '/bans.csv') => `http://127.0.0.1:${(server.address() as AddressInfo).port}${path}`;

test.before(async () => {
  folder = temporaryFolder();
  server = createServer((request, response) => {
    asked.push(request.headers);
    const { status, body, headers = {}, isCut = false } = answer;
    if (headers.etag !== undefined && request.headers['if-none-match'] === headers.etag) {
      response.writeHead(304).end();
      return;
    }
    if (answer.isHeld === true) return;
    response.writeHead(status, isCut ? { 'content-length': '1000' } : headers);
    if (answer.isOpen === true) response.write(body);
    else response.write(body, () => (isCut ? response.destroy() : response.end()));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
});
test.after(() => {
  server.closeAllConnections();
  server.close();
});

async function failure(work: Promise<unknown>): Promise<string> {
  const error = await work.then(
    () => undefined,
    (reason: unknown) => reason as { code: string; message: string },
  );
  return `${error?.code} ${error?.message}`;
}

test('an answer that is no list is not read to its end', async () => {
  server.closeIdleConnections();
  answer = { status: 500, body: 'x', isOpen: true };
  const source = await sourceOf([address()], false, {});
  const begun = performance.now();
  assert.match(await failure(source.read(never)), /answers with status 500$/);
  await until(() => new Promise<boolean>((resolve) => server.getConnections((_, count) => resolve(count === 0))));
  assert.ok(performance.now() - begun < 10_000, 'else the collector ends it, or the time of a read');
});

test('a list that cannot be read is no failed disk', async () => {
  const read = sourceOf([folder], false, {}).then((source) => source.read(never));
  assert.is(await failure(read), `wrong_usage ${folder} cannot be read: EISDIR`);
});

test('an address is asked with the headers of a file, and again only under a condition', async () => {
  const headerFile = join(folder, 'headers');
  writeFileSync(headerFile, 'Authorization: Bearer secret-token\nX-List: one\n');
  answer = { status: 200, body: `steam_id\n${A}\n`, headers: { etag: '"v1"' } };
  const source = await sourceOf([address()], false, { headerFile });
  assert.is(source.name, 'bans');
  const first = await source.read(never);
  assert.equal([asked.at(-1)!.authorization, asked.at(-1)!['x-list']], ['Bearer secret-token', 'one']);
  assert.is(await source.read(never), first, 'a 304 is the list of before');
  assert.is(asked.at(-1)!['if-none-match'], '"v1"');
});

test('a header file that is missing, or has a line that is no header, is refused without the line', async () => {
  const headerFile = join(folder, 'no-headers');
  assert.is(await failure(sourceOf([address()], false, { headerFile })), `wrong_usage there is no ${headerFile}`);
  for (const line of ['secret-token', 'X-Key: secret\x01token', 'X-Key: secret-\u2026']) {
    writeFileSync(headerFile, `X-List: one\n\n${line}\n`);
    const refusal = await failure(sourceOf([address()], false, { headerFile }));
    assert.is(refusal, `wrong_usage each line of ${headerFile} must be "Name: value", in letters of Latin-1`, line);
  }
});

/** Reads standard input as the command does in a process of its own; the list is written once the read has begun. */
async function readInput(list: string | null): Promise<string> {
  const module = new URL('../../src/peer/sources/source.js', import.meta.url).href;
  const script = `import { terminalOf } from '${new URL('../../src/terminal.js', import.meta.url).href}';
    import { sourceOf } from '${module}';
    terminalOf(process);
    const ending = new AbortController();
    const { label, read } = await sourceOf(['-'], false, { input: process.stdin });
    const found = read(ending.signal).catch(({ code, message }) => code + ' ' + message);
    ${list === null ? 'ending.abort()' : "process.stdout.write('reads ')"};
    process.stdout.write(label + ': ' + (await found));`;
  const child = spawn(process.execPath, ['--input-type=module', '--eval', script], { timeout: 20_000 });
  const { ended } = watched(child);
  if (list !== null) child.stdout.once('data', () => child.stdin.end(list));
  const { out } = await ended;
  child.stdin.destroy();
  return out;
}

test('the name - is standard input, which a slow program may write, and which an interrupt ends', async () => {
  assert.is(await readInput('banid 1\n'), 'reads standard input: banid 1\n');
  assert.is(await readInput(null), 'standard input: source_unreachable standard input was cut off');
});

test('a file larger than the bound is refused by its size, before it is read', async () => {
  const path = join(folder, 'large.csv');
  writeFileSync(path, '');
  truncateSync(path, bounds.importFileBytes + 1);
  const reading = (await sourceOf([path], false, {})).read(never);
  assert.is(await failure(reading), `wrong_usage ${path} is larger than ${bounds.importFileBytes} bytes; split it`);
  rmSync(path);
});

test('a pipe that has a path is read once and as text', async () => {
  const path = join(folder, 'pipe');
  execFileSync('mkfifo', [path]);
  const read = async (bytes: string) => {
    const source = await sourceOf([path], false, {});
    const [found] = await Promise.all([source.read(never), writeFile(path, bytes)]);
    return String(found);
  };
  for (const text of ['steam_id\n', 'SQLite format 3\0']) assert.is(await read(text), text);
});

test('an address that is none, or holds a user or a password, is refused without its text', async () => {
  const form = 'wrong_usage the address of a list must be https://HOST/PATH; user and password go into a --header-file';
  for (const text of [
    'https://',
    'http://',
    'https://a b/',
    'https://u:secret@example.net/l.csv',
    'http://u@localhost/',
  ]) {
    assert.is(await failure(sourceOf([text], false, {})), form, text);
  }
});

test('an answer that is none of the list, or is cut off, and a foreign address without TLS are refused', async () => {
  const source = await sourceOf([address()], false, {});
  for (const status of [302, 401, 404, 500, 204]) {
    answer = { status, body: '' };
    assert.match(await failure(source.read(never)), `source_unreachable`);
  }
  answer = { status: 200, body: 'steam_id\n', isCut: true };
  assert.match(await failure(source.read(never)), 'cut off');
  assert.match(await failure(sourceOf(['http://lists.example.net/a.csv'], false, {})), 'must begin with https');
});

test('the output of a command is the list if the command succeeds', async () => {
  const run = (code: string) => sourceOf([process.execPath, '-e', code], true, {});
  assert.is(String(await (await run(`console.log('steam_id')`)).read(never)), 'steam_id\n');
  assert.match(await failure((await run(`console.log('steam_id'); process.exit(3)`)).read(never)), 'ended with 3');
  assert.match(await failure((await sourceOf(['no-such-command-here'], true, {})).read(never)), 'ENOENT');
});

test('a command ends with its signal although a process of its own still holds the output', async () => {
  const ending = new AbortController();
  const begun = join(folder, 'begun');
  // The other process lives on when the shell is ended.
  const source = await sourceOf(['sh', '-c', `sleep 600 & echo $! > '${begun}'; wait`], true, {});
  const reading = failure(source.read(ending.signal));
  const pid = () => Number(existsSync(begun) && readFileSync(begun, 'utf8'));
  await until(() => pid() > 0);
  ending.abort();
  assert.is(await reading, 'source_unreachable sh failed: ABORT_ERR');
  assert.ok(process.kill(pid()), 'the other process had ended');
});

test('a table of a SQLite file is read as any table of its tool, and the file stays as it is', async () => {
  const path = join(folder, 'litebans.sqlite');
  const database = new sqlite.Database(path);
  for (const table of ['litebans_bans', 'litebans_mutes']) {
    database.exec(
      `CREATE TABLE ${table} (id INTEGER, uuid TEXT, reason TEXT, banned_by_name TEXT, removed_by_name TEXT, time INTEGER, until INTEGER, active INTEGER)`,
    );
    database.run(`INSERT INTO ${table} VALUES (1, ?, ?, 'C', NULL, 1795176000000, -1, 1)`, [
      '0a0b0c0d-1111-4222-8333-444455556601',
      'a "quoted" reason, \n in lines',
    ]);
  }
  database.close();
  const world = new PeerWorld();
  const before = readdirSync(folder);
  const read = async (table: string) => world.run(['import', path, '--table', table, '--dry-run', '--json']);
  const bans = JSON.parse((await read('litebans_bans')).out);
  assert.equal(brief(bans), ['2 0a0b0c0d-1111-4222-8333-444455556601 send']);
  const mutes = JSON.parse((await read('litebans_mutes')).out);
  assert.equal([mutes.events, mutes.left_out], [[], { mute: 1 }]);
  const none = await world.run(['import', path, '--dry-run']);
  assert.equal(
    [none.code, /--table must be one of .*litebans_bans, litebans_mutes/.test(none.err)],
    [2, true],
    none.err,
  );
  assert.equal(readdirSync(folder), before);
  writeFileSync(`${path}-wal`, 'x');
  const { code, out, err } = await read('litebans_bans');
  assert.equal([code, (out + err).includes('sqlite3 -csv')], [3, true], out + err);
});

test('a SQLite file is read although its tool left an empty journal beside it', async () => {
  const path = join(folder, 'with-journal.sqlite');
  const database = new sqlite.Database(path);
  database.exec('CREATE TABLE bans (steam_id TEXT)');
  database.run('INSERT INTO bans VALUES (?)', [A]);
  database.close();
  for (const part of ['-wal', '-journal']) writeFileSync(path + part, '');
  assert.match(String(await (await sourceOf([path], false, { table: 'bans' })).read(never)), A);
});

test('rows and cells that a SQLite file computes instead of storing them are not read', async () => {
  const path = join(folder, 'computed.sqlite');
  const database = new sqlite.Database(path);
  const endless = 'WITH RECURSIVE n(id) AS (SELECT 1 UNION ALL SELECT id + 1 FROM n) SELECT id FROM n WHERE id < 0';
  database.exec(`CREATE VIEW endless AS ${endless}`);
  database.exec(`CREATE VIRTUAL TABLE indexed USING fts5(id, content='endless')`);
  database.exec(`CREATE TABLE bans (steam_id TEXT, large TEXT GENERATED ALWAYS AS (hex(zeroblob(4))))`);
  database.exec(`INSERT INTO bans VALUES ('${A}')`);
  database.close();
  const read = async (table: string) => (await sourceOf([path], false, { table })).read(never);
  for (const table of ['endless', 'indexed']) {
    assert.match(await failure(read(table)), /wrong_usage --table must be one of .*bans/);
  }
  assert.is(String(await read('bans')), `"steam_id"\n"${A}"\n`);
});

test('a list cannot control the terminal that shows its words', async () => {
  const path = join(folder, 'escapes.csv');
  writeFileSync(path, `steam_id,\x1b]52;c;eA==\x07expires,\x9b31m\u202eend\n${A},never,never\n`);
  const world = new PeerWorld();
  const { code, out, err } = await world.run(['import', path, '--dry-run']);
  assert.is(code, 4, out);
  assert.match(err, '\\u001b]52;c;');
  assert.not.match(out + err, /(?!\n)[\p{Cc}\p{Bidi_Control}]/u);
});

test('sources that differ in an argument, a query or a table have different keys, and a key shows nothing', async () => {
  const sources = await Promise.all([
    sourceOf(['mysql', '-e', 'one', '-psecret'], true, {}),
    sourceOf(['mysql', '-e', 'two', '-psecret'], true, {}),
    sourceOf([address('/bans.csv?server=1')], false, {}),
    sourceOf([address('/bans.csv?server=2')], false, {}),
    sourceOf(['bans.db'], false, { table: 'one' }),
    sourceOf(['bans.db'], false, { table: 'two' }),
  ]);
  assert.is(new Set(sources.map(({ key }) => key)).size, sources.length);
  for (const { key, label } of sources) {
    assert.match(key, /^[0-9a-f]{64}$/);
    assert.not.match(label, /secret|server=/);
  }
  assert.is((await sourceOf(['bans.db'], false, { table: 'one' })).key, sources[4]!.key);
});

test('a database that is missing, damaged or written meanwhile is unreachable, and ends no watch', async () => {
  const path = join(folder, 'damaged.sqlite');
  const read = async () => failure((await sourceOf([path], false, { table: 'bans' })).read(never));
  assert.match(await read(), /source_unreachable .*ENOENT/);
  writeFileSync(path, `SQLite format 3\0${'x'.repeat(5_000)}`);
  assert.match(await read(), 'source_unreachable');
  writeFileSync(path, 'steam_id\n');
  assert.is(await read(), `wrong_usage ${path} is not a SQLite file`);
  const large = join(folder, 'written.sqlite');
  writeFileSync(large, Buffer.concat([Buffer.from('SQLite format 3\0'), Buffer.alloc(30_000_000)]));
  let isRead = false;
  const reading = failure((await sourceOf([large], false, { table: 'bans' })).read(never)).finally(() => {
    isRead = true;
  });
  for (let n = 0; !isRead; n++) {
    await new Promise((resolve) => setImmediate(resolve));
    if (!isRead) utimesSync(large, n, n);
  }
  assert.match(await reading, 'source_unreachable');
});

test('a source that cannot be read fails until its next time, and an equal list is the same', async () => {
  let at = 0;
  answer = { status: 200, body: `steam_id\n${A}\n${B}\n` };
  const source = await sourceOf([address()], false, {});
  const list = new PolledList({ source, every: 1_000, elapsedMs: () => at, signal: never });
  const first = (await list.look()).bytes;
  assert.match(String(first), B);
  at += 1_000;
  assert.is((await list.look()).bytes, first);
  answer = { status: 503, body: '' };
  at += 1_000;
  const before = asked.length;
  for (let n = 0; n < 2; n++) assert.match(await failure(list.look()), /^source_unreachable .* status 503$/);
  at += 999;
  assert.match(await failure(list.look()), 'source_unreachable');
  assert.is(asked.length, before + 1, 'not asked before its time');
  answer = { status: 200, body: `steam_id\n${A}\n` };
  at += 1;
  assert.is(String((await list.look()).bytes), `steam_id\n${A}\n`);
});

test.run();

/** `ptf-peer import` beside a node whose answers the test gives: what it prints, and its exit codes. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { type FakeAnswer, type FakeNode, fakeNode, groupAnswer } from '../fake-node.js';
import { PeerWorld } from '../peer-world.js';

const ids = Array.from({ length: 3 }, (_, i) => `${76561202255225729n + BigInt(i)}`);
const undated = `steam_id\n${ids.join('\n')}\n`;
const accepted = { status: 201 };
const known = { status: 409, code: 'duplicate_event', error: 'known', details: {} };
const refused = { status: 422, code: 'timestamp_in_future', error: 'too late' };

let world: PeerWorld;
let node: FakeNode;
/** The node's answer to a batch. */
let answer: (events: readonly { event_id: string; severity: number }[]) => FakeAnswer;
/** The severities of the last batch. */
let severities: readonly number[] = [];

test.before(async () => {
  node = await fakeNode(({ path, text }) => {
    return path.startsWith('/api/v1/peers') ? groupAnswer() : answer(JSON.parse(text).events);
  });
});
test.after(() => node.close());
test.before.each(() => {
  world = new PeerWorld();
  world.writeConfig({ url: node.url, peerId: 'p', apiKey: 'k', groupSalt: 'a salt of sixteen bytes' });
});

const spool = (name: string) => join(world.stateDir, 'imports', 'spool', name);

/** Imports a list whose events have these results, in turn. */
async function imported(text: string, results: readonly object[], ...more: readonly string[]) {
  const path = join(world.folder, 'bans.csv');
  writeFileSync(path, text);
  answer = (events) => {
    severities = events.map(({ severity }) => severity);
    return { body: { results: events.map(({ event_id }, i) => ({ event_id, ...results[i] })) } };
  };
  const ran = await world.run(['import', path, ...more]);
  return { ...ran, err: ran.err.replaceAll(path, 'bans.csv') };
}

test('an import says how many bans were sent and known, and names each line that it or the node refuses', async () => {
  const { code, out, err } = await imported(`${undated}nobody\n`, [accepted, refused, known]);
  const again =
    'up to 1 bans without a date were known: one that was lifted in between stays lifted and does not count';
  assert.match(out, `2 sent, of which the node knew 1; 0 expired, 0 lifted, 0 faded, 2 lines refused\n${again}`);
  assert.match(err, /^bans\.csv:5: refused: \w+/m);
  assert.match(err, /^bans\.csv:3: refused: timestamp_in_future: too late$/m);
  assert.is(code, 1);
});

test('only bans without a date that the node knew may have been lifted in between', async () => {
  const first = await imported(undated, [accepted, accepted, accepted]);
  assert.equal([first.code, first.out.split('\n').length], [0, 2], first.out);
  const one = await imported(`steam_id\n${ids[0]}\n`, [known]);
  assert.match(one.out, '\nup to 1 bans without a date were known');
  const dated = `steam_id,banned_at\n${ids.map((id) => `${id},2026-01-01\n`).join('')}`;
  const second = await imported(dated, [known, known, known], '--send-faded');
  assert.match(second.out, '3 sent, of which the node knew 3; ');
  assert.equal([second.code, second.out.split('\n').length], [0, 2], second.out);
});

test('an import says once how many of its events are no evidence, and nothing if all count', async () => {
  const uncounted = ids.map(() => ({ ...accepted, counts: false }));
  const { code, out } = await imported(undated, uncounted, '--severity', '0');
  assert.equal(
    [code, out.match(/^3 events are older than 20 half-lives or of severity 0: .*$/gm)?.length],
    [0, 1],
    out,
  );
  assert.equal(severities, [0, 0, 0]);
  assert.is(JSON.parse((await imported(undated, uncounted, '--severity', '0', '--json')).out).uncounted, 3);
  const all = await imported(undated, [accepted, accepted, accepted]);
  assert.not.match(all.out + all.err, 'no evidence');
  assert.equal(severities, [1, 1, 1]);
});

test('an import that the node refuses ends with exit code 3, and says what waits for the next one', async () => {
  const path = join(world.folder, 'bans.csv');
  writeFileSync(path, undated);
  answer = () => ({ status: 401, body: { code: 'invalid_api_key', error: 'no key' } });
  const { code, err } = await world.run(['import', path]);
  assert.is(code, 3, err);
  assert.match(
    err,
    /; 3 events are waiting on disk, and the rest in the list; run the same command .* \(invalid_api_key\)/,
  );
  const asked = await world.run(['import', path, '--json']);
  const { waiting, code: cause, error } = JSON.parse(asked.out);
  assert.equal([asked.code, asked.err, waiting, cause], [3, '', 3, 'invalid_api_key']);
  assert.match(error, '; 3 events are waiting on disk');
});

test('an import names the events of an interrupted one that the node then refuses, and ends with 1', async () => {
  const path = join(world.folder, 'bans.csv');
  for (const more of [[], ['--json']]) {
    writeFileSync(path, undated);
    answer = () => ({ status: 401, body: { code: 'invalid_api_key', error: 'no key' } });
    await world.run(['import', path]);
    const other = `steam_id\n${76561202255225729n + 7n}\n`;
    const { code, out, err } = await imported(other, [accepted, refused, refused, accepted], ...more);
    assert.is(code, 1, out);
    if (more.length > 0) assert.equal([JSON.parse(out).refused, JSON.parse(out).refused_before], [[], 2]);
    else assert.match(err, `\n2 events of an earlier import are refused: see ${spool('set-aside.ndjson')}\n`);
  }
});

test('a dry run prints each ban and what would be sent, however long the list is', async () => {
  const { code, out } = await imported(`${undated}nobody\n`, [], '--dry-run');
  for (const id of ids) assert.match(out, id);
  assert.match(out, /\n3 to send, 0 expired, 0 lifted, 0 faded, 1 lines refused\nNothing was sent\.\n$/);
  assert.is(code, 1);
  const many = Array.from({ length: 1_000 }, (_, i) => `${76561202255225729n + BigInt(i)}\n`).join('');
  const long = await imported(`steam_id\n${many}`, [], '--dry-run', '--json');
  const document = JSON.parse(long.out);
  assert.equal([long.code, Object.keys(document), document.events.length], [0, ['format', 'events', 'refused'], 1_000]);
  const fields = ['player_id', 'kind', 'line', 'banned_at', 'expires_at', 'state', 'severity', 'note'];
  assert.equal(Object.keys(document.events[0]), fields);
});

test('an option names the server of offline accounts, and another one re-states bans as of today', async () => {
  const uuid = '6fd4503c-40a5-3580-8bff-1eb3bc47f86d';
  const offline = JSON.stringify([{ uuid, created: '2026-11-20 12:00:00 +0000' }]);
  const dryRun = async (text: string, ...options: readonly string[]) => {
    const { code, out } = await imported(text, [], '--dry-run', '--json', '--send-faded', ...options);
    return { code, events: JSON.parse(out).events };
  };
  assert.equal(await dryRun(offline, '--format', 'minecraft'), { code: 1, events: [] });
  const named = await dryRun(offline, '--format', 'minecraft', '--offline-server', 'survival');
  assert.equal([named.code, named.events[0].player_id], [0, `minecraft-offline:survival:${uuid}`]);
  assert.not.match((await dryRun(undated)).events[0].note, 're-stated');
  assert.match((await dryRun(undated, '--restate')).events[0].note, 're-stated as of today');
});

test('a watch of a peer with several games needs the game of its list', async () => {
  const config = { url: node.url, peerId: 'p', apiKey: 'k', groupSalt: 'a salt of sixteen bytes' };
  world.writeConfig({ ...config, gameIds: ['arena', 'chess'] });
  for (const game of [[], ['--game', 'arens']]) {
    const { code, err } = await world.run(['watch', join(world.folder, 'bans.csv'), ...game]);
    assert.equal([code, err], [2, 'ptf-peer: --game must be one of arena, chess (wrong_usage)\n']);
  }
});

test.run();

/** The doctor against a node whose answers the test gives. */
import { chmodSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { saltCheckOf } from '../../../src/client/ids/salt-check.js';
import { encodeRecord, fileNameOf } from '../../../src/client/write/spool/spool-record.js';
import { examine } from '../../../src/peer/doctor/examination.js';
import { onFailingDisk } from '../../support/failing-disk.js';
import { temporaryFolder } from '../../support/process.js';
import { fakeNode, groupAnswer, noRetry } from '../fake-node.js';

const groupSalt = 'a salt of the group, 16 bytes';
const peerId = '3c1e4d0e-7f0b-4c55-9f5e-0d6a1d1f5a10';
const invalidKey = { status: 401, code: 'invalid_api_key' };

interface Answers {
  readonly salt_check?: string | null;
  readonly player_id_kinds?: readonly string[];
  readonly identity_mode?: string;
  /** How far the node's clock is ahead of this machine's; null if it sends no time. */
  readonly aheadMs?: number | null;
  /** The codes by which the node refuses the events of each game; absent if it refuses them all by `refusal`. */
  readonly codes?: readonly string[];
  readonly refusal?: { readonly status: number; readonly code: string };
  /** The peer's status in the list of peers; absent if it is not listed. */
  readonly status?: string;
}

/** Returns `check result` of each finding, the same of some checks alone, and the texts of all. */
async function found(
  { aheadMs = 0, codes, refusal = invalidKey, status, ...group }: Answers,
  folder = join(tmpdir(), 'ptf-doctor-without-files'),
) {
  const data = status === undefined ? [] : [{ peer_id: peerId, status }];
  const results = codes?.map((code) => ({ status: 400, code, error: 'refused' }));
  await using node = await fakeNode(({ method }) => {
    const date = new Date(Date.now() + (aheadMs ?? 0)).toUTCString();
    const at = { sendsDate: false, headers: { ...noRetry, ...(aheadMs === null ? {} : { date }) } };
    if (method === 'GET') return { ...groupAnswer({ group_id: 'g', ...group }, data), ...at };
    if (results !== undefined) return { body: { results }, ...at };
    return { status: refusal.status, body: { code: refusal.code, error: 'refused' }, ...at };
  });
  const { findings } = await examine({
    url: node.url,
    peerId,
    apiKey: 'key',
    groupSalt,
    signingKey: undefined,
    gameIds: codes?.map((_, i) => `game-${i}`) ?? ['arena'],
    stateDir: folder,
    path: join(folder, 'config.json'),
  });
  const all = findings.map(({ check, result }) => `${check} ${result}`);
  return {
    results: all,
    of: (...checks: readonly string[]) => all.filter((one) => checks.includes(one.split(' ')[0]!)),
    texts: findings.map(({ text }) => text).join('\n'),
  };
}

test('a salt that is not that of the group fails, and its key is not tried', async () => {
  const wrong = await found({ salt_check: saltCheckOf('another salt of 16 bytes') });
  assert.equal(wrong.of('salt', 'peer'), ['salt fail']);
  const right = await found({ salt_check: saltCheckOf(groupSalt) });
  assert.equal(right.of('salt', 'peer'), ['salt ok', 'peer fail']);
  const none = await found({});
  assert.equal(none.of('salt', 'peer'), ['salt warn', 'peer fail']);
  assert.not.match(wrong.texts + right.texts + none.texts, groupSalt);
});

test('a node that answers is found by the doctor, with its address and group', async () => {
  const { of, texts } = await found({});
  assert.equal(of('node'), ['node ok']);
  assert.match(texts, /^http:\/\/127\.0\.0\.1:\d+ answers for the group "g"$/m);
});

test('a damaged spool fails, as does one with a refused report, and one in which nothing waits is well', async () => {
  const dir = temporaryFolder();
  const spool = join(dir, 'spool', 'arena');
  mkdirSync(spool, { recursive: true });
  const judged = async () => (await found({}, dir)).of('spool');
  assert.equal(await judged(), ['spool ok']);
  writeFileSync(join(spool, '0000000000000001.damaged'), '');
  assert.equal(await judged(), ['spool fail', 'spool ok']);
  writeFileSync(join(spool, 'set-aside.ndjson'), '{"code":"invalid_schema"}\n');
  assert.equal(await judged(), ['spool fail', 'spool fail', 'spool ok'], 'one report that the node refused');
});

test('a clock that differs from that of the node by over a minute fails, with its direction', async () => {
  const salt_check = saltCheckOf('another salt of 16 bytes');
  assert.equal((await found({ salt_check })).of('clock'), ['clock ok']);
  const behind = await found({ salt_check, aheadMs: 600_000 });
  assert.equal(behind.of('clock'), ['clock fail']);
  assert.match(behind.texts, /clock is (?:599|600|601) s behind the node's/);
  assert.match((await found({ salt_check, aheadMs: -600_000 })).texts, "s ahead of the node's");
  assert.equal((await found({ salt_check, aheadMs: null })).of('clock'), ['clock warn']);
});

test('the kinds of ids that are converted are named', async () => {
  const salt_check = saltCheckOf('another salt of 16 bytes');
  assert.match((await found({ salt_check, player_id_kinds: ['steam', 'xuid'] })).texts, 'form: steam, xuid');
  assert.match((await found({ salt_check })).texts, 'the group defines no kinds');
  assert.match((await found({ salt_check, identity_mode: 'high-security' })).texts, 'verified identity tokens');
});

test('a game whose events are refused for more than their time fails, with its name and code', async () => {
  const { of, texts } = await found({ codes: ['timestamp_in_future', 'game_not_registered'] });
  assert.equal(of('peer', 'games'), ['peer ok', 'games ok', 'games fail']);
  assert.match(texts, 'reports for "game-0" are accepted');
  assert.match(texts, /reports for "game-1" are refused: .*\(game_not_registered\)/);
});

test('a key of another peer fails without a word about games, since each of them would be refused', async () => {
  for (const code of ['peer_id_mismatch', 'unknown_peer']) {
    const { of, texts } = await found({ codes: [code, 'timestamp_in_future'] });
    assert.equal(of('peer', 'games'), ['peer fail'], code);
    assert.match(texts, /^(?:the key belongs to another peer|the group has no peer with this peer_id): /m);
  }
});

test('a peer that is not active fails with its status, however the node refuses its events', async () => {
  const text = async (more: Answers) => {
    const { of, texts } = await found(more);
    assert.equal(of('peer', 'games'), ['peer fail']);
    return /^the peer \S+ is (.*): ask the operator of the group \(peer_not_active\)$/m.exec(texts)?.[1];
  };
  const whole = { refusal: { status: 403, code: 'peer_not_active' } };
  const each = { codes: ['timestamp_in_future', 'peer_not_active'] };
  for (const refused of [whole, each]) {
    assert.is(await text({ ...refused, status: 'suspended' }), 'suspended');
    assert.is(await text({ ...refused, status: 'revoked' }), 'revoked');
    assert.is(await text({ ...refused, status: 'active' }), 'suspended or revoked', 'activated meanwhile');
    assert.is(await text(refused), 'suspended or revoked');
  }
});

test('a node that takes no events for now is at fault, not the peer', async () => {
  const { of, texts } = await found({ refusal: { status: 503, code: 'overloaded' } });
  assert.equal(of('node', 'peer'), ['node ok', 'node fail']);
  assert.match(texts, /^refused$/m);
});

test('a configuration that other users can read fails, with the command that closes it', async () => {
  const folder = temporaryFolder();
  const path = join(folder, 'config.json');
  writeFileSync(path, '{}');
  chmodSync(path, 0o640);
  const open = await found({}, folder);
  assert.is(open.results[0], 'configuration fail');
  assert.match(open.texts, `${path} holds a key and is open to other users: chmod 600 ${path}\n`);
  chmodSync(path, 0o600);
  const closed = await found({}, folder);
  assert.is(closed.results[0], 'configuration ok');
  assert.match(closed.texts, `peer ${peerId}, games arena, from ${path}\n`);
});

test('reports that wait in a spool are a warning with their number', async () => {
  const folder = temporaryFolder();
  const spool = join(folder, 'imports', 'spool');
  mkdirSync(spool, { recursive: true });
  writeFileSync(join(spool, fileNameOf(1)), Buffer.concat([1, 2].map((seq) => encodeRecord(seq, Buffer.from('{}')))));
  const { of, texts } = await found({}, folder);
  assert.equal(of('spool'), ['spool warn']);
  assert.match(texts, /^2 reports are waiting in the spool imports; they are sent while the program .* runs$/m);
});

test('a state folder in which no file can be written fails with the cause, and is neither made nor changed', async () => {
  const folder = temporaryFolder();
  const state = join(folder, 'absent', 'state');
  const stateOf = async (dir: string) => {
    const { results, texts } = await found({}, dir);
    return [results[1], texts.split('\n')[1]];
  };
  assert.equal(await stateOf(state), ['state ok', `files can be written in ${folder}`]);
  assert.equal(readdirSync(folder), []);
  writeFileSync(join(folder, 'absent'), '');
  const none = `no file can be written in ${join(folder, 'absent')}: `;
  assert.equal(await stateOf(state), ['state fail', `${none}EEXIST`]);
  const spool = join(folder, 'spool', 'sidecar');
  mkdirSync(spool, { recursive: true });
  const { results, texts } = await onFailingDisk('EACCES', () => found({}, folder));
  assert.equal([results[1], results.at(-1)], ['state fail', 'spool fail']);
  const why = 'this user has no permission (EACCES): make this user the owner of the file and its folder';
  assert.match(texts, `no file can be written in ${folder}: ${folder}/doctor.ptf-probe: ${why}`);
  assert.match(texts, `the spool sidecar cannot be used: ${spool}/doctor.ptf-probe: ${why}`);
});

test('a spool that cannot be used fails, with the reason', async () => {
  const folder = temporaryFolder();
  const spools = join(folder, 'spool');
  mkdirSync(join(spools, 'earlier'), { recursive: true });
  writeFileSync(join(spools, 'earlier', fileNameOf(1)), 'PTFSPOOL of an earlier version');
  writeFileSync(join(spools, 'file'), '');
  const { of, texts } = await found({}, folder);
  assert.equal(of('spool'), ['spool fail', 'spool fail']);
  assert.match(texts, /^the spool earlier cannot be used: .* was written by an earlier version: deliver its events/m);
  assert.match(texts, /^the spool file cannot be used: ENOTDIR$/m);
});

test.run();

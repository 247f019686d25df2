/** The sidecar as a process beside a real node: what it answers, what it keeps, and what never leaves the machine. */
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { startTestNode, type TestNode, type TestPeer } from '../../src/testing/test-node.js';
import { runPtf } from '../support/ptf.js';
import { until } from '../support/until.js';
import { endChildren, PeerWorld, RecordingProxy, SidecarProcess } from './peer-world.js';

let node: TestNode;
let proxy: RecordingProxy;
let peer: TestPeer;

test.before(async () => {
  node = await startTestNode();
  proxy = await RecordingProxy.start(() => node.url);
  peer = (await node.seed({ bad: ['76561197960419731'], good: ['angel-77002'] }))[0]!;
});
test.after(async () => {
  endChildren();
  await proxy.close();
  await node.close();
});

function newWorld(more: Partial<Parameters<PeerWorld['writeConfig']>[0]> = {}): PeerWorld {
  const world = new PeerWorld();
  world.writeConfig({ url: proxy.url, ...peer, groupSalt: node.groupSalt, ...more });
  return world;
}

async function started(world: PeerWorld, ...args: string[]): Promise<SidecarProcess> {
  return new SidecarProcess(world, args).listening();
}

async function live(world: PeerWorld, ...args: string[]): Promise<SidecarProcess> {
  const sidecar = await started(world, ...args);
  await until(async () => (await sidecar.call('/v1/status')).body.stream.phase === 'live');
  return sidecar;
}

test('a read on a live cache has verdict, score, confidence, source and time, without a call', async () => {
  const sidecar = await live(newWorld());
  const before = proxy.count('/api/v1/trust-scores');
  const bad = await sidecar.call(`/v1/players/${encodeURIComponent('STEAM_0:1:77001')}`);
  assert.is(bad.status, 200);
  const { score, confidence, as_of: asOf, ...rest } = bad.body;
  assert.equal(rest, {
    player_id: 'STEAM_0:1:77001',
    verdict: 'untrusted',
    known: true,
    source: 'cache',
    cause: null,
    allowed: false,
    action: 'pass',
    would: 'restrict',
  });
  assert.ok(score < 20 && confidence > 0.4);
  assert.ok(Math.abs(Date.parse(asOf) - Date.now()) < 60_000);
  const match = await sidecar.call('/v1/players?ids=STEAM_0:1:77001,angel-77002,nobody,%20,angel-77002');
  assert.equal(
    match.body.data.map((one: Record<string, string>) => [one.player_id, one.verdict ?? one.code]),
    [
      ['STEAM_0:1:77001', 'untrusted'],
      ['angel-77002', 'trusted'],
      ['nobody', 'neutral'],
      [' ', 'invalid_parameter'],
      ['angel-77002', 'trusted'],
    ],
  );
  assert.is(proxy.count('/api/v1/trust-scores'), before);
  const escaped = await sidecar.call('/v1/players?ids=STEAM_0:1:77001%2Cangel-77002&id=a%2Cb');
  assert.equal(
    escaped.body.data.map((one: Record<string, string>) => [one.player_id, one.verdict]),
    [
      ['STEAM_0:1:77001', 'untrusted'],
      ['angel-77002', 'trusted'],
      ['a,b', 'neutral'],
    ],
  );
  await sidecar.kill('SIGTERM');
});

test('of one person with several accounts the worst decides, and a report is one event per kind of the group', async () => {
  const sidecar = await live(newWorld());
  const { body } = await sidecar.call('/v1/persons?ids=angel-77002,BOT,STEAM_0:1:77001');
  assert.equal([body.player_id, body.verdict, body.refused.length], ['STEAM_0:1:77001', 'untrusted', 1]);
  assert.is((await sidecar.call('/v1/persons?ids=BOT')).status, 400);
  const until = new Date(Date.now() + 60_000).toISOString();
  await sidecar.call('/v1/allow', 'POST', { player_id: 'friend-77009', until });
  const allowed = await sidecar.call('/v1/persons?ids=friend-77009,STEAM_0:1:77001');
  assert.equal([allowed.body.player_id, allowed.body.allowed, allowed.body.would], ['friend-77009', true, 'pass']);
  const report = { event_type: 'report_spam', severity: 0.5 };
  const ids = ['ip:203.0.113.4', 'license:0123456789abcdef0123456789abcdef01234567', 'steam:1100001ffffe381'];
  const one = await sidecar.call('/v1/reports', 'POST', { ...report, player_ids: ids });
  assert.equal([one.status, one.body.event_ids], [202, undefined], 'opaque ids: one event');
  const none = await sidecar.call('/v1/reports', 'POST', { ...report, player_ids: ['ip:203.0.113.4', 'BOT'] });
  assert.is(none.status, 400);
  const both = await sidecar.call('/v1/reports', 'POST', { ...report, player_id: 'p', player_ids: ids });
  assert.is(both.status, 400);
  await sidecar.kill('SIGTERM');
});

test('Rust and Squad servers get answers they understand, only if asked for, and never about an allowed player', async () => {
  const [bad, good] = ['76561197960419731', '76561202255225799'];
  const quiet = await live(newWorld());
  assert.is((await fetch(`${quiet.url}/answers/anything/rust/${bad}`)).status, 401);
  await quiet.kill('SIGTERM');
  const world = newWorld();
  const sidecar = await live(world, '--act-on', 'untrusted', '--min-confidence', '0.3');
  const secret = readFileSync(join(world.stateDir, 'sidecar', 'answers-secret'), 'utf8').trim();
  const ask = async (path: string) => fetch(`${sidecar.url}/answers/${path}`);
  assert.is((await ask(`wrong-secret-wrong-secret/rust/${bad}`)).status, 401);
  const rust = await ask(`${secret}/rust/${bad}`);
  const ban = (await rust.json()) as { steamId: string; reason: string; expiryDate: number };
  assert.equal([rust.status, ban.steamId], [200, bad]);
  assert.ok(ban.expiryDate > Date.now() / 1_000 && ban.reason.length > 5);
  assert.is((await ask(`${secret}/rust/${good}`)).status, 404);
  const squad = await ask(`${secret}/squad`);
  assert.match(squad.headers.get('content-type') ?? '', 'text/plain');
  assert.match(await squad.text(), new RegExp(`^${bad}:\\d{10} //.*\\n$`));
  const until = new Date(Date.now() + 60_000).toISOString();
  await sidecar.call('/v1/allow', 'POST', { player_id: bad, until });
  assert.equal([(await ask(`${secret}/rust/${bad}`)).status, await (await ask(`${secret}/squad`)).text()], [404, '']);
  assert.not.match(world.stateText() + (await sidecar.kill('SIGTERM')).err, bad);
});

test('with opaque ids an account of a list matches in any spelling, and other ids stay unchanged', async () => {
  const world = newWorld();
  const file = join(world.folder, 'banned_user.cfg');
  writeFileSync(file, 'banid 0 STEAM_0:0:88001\n');
  assert.is((await world.run(['import', file])).code, 0);
  const sidecar = await live(world);
  const known = async (id: string) => (await sidecar.call(`/v1/players/${encodeURIComponent(id)}`)).body;
  for (const id of ['STEAM_1:0:88001', '[U:1:176002]', '76561197960441730', 'steam:11000010002af82']) {
    await until(async () => (await known(id)).known);
  }
  assert.equal(
    [(await known('angel-77002')).known, (await known('ANGEL-77002')).known, (await known('BOT')).code],
    [true, false, 'invalid_parameter'],
  );
  await sidecar.kill('SIGTERM');
});

test('in enforce mode the action is that of the policy', async () => {
  const sidecar = await live(newWorld(), '--mode', 'enforce', '--restrict', 'suspicious');
  const { body } = await sidecar.call('/v1/players/STEAM_0:1:77001');
  assert.is(body.action, 'restrict');
  assert.is((await sidecar.call('/v1/players/angel-77002')).body.action, 'pass');
  await sidecar.kill('SIGTERM');
});

test('an allowed player is neutral and passes, also after a restart, until taken off the list', async () => {
  const world = newWorld();
  const first = await live(world, '--mode', 'enforce');
  const until2099 = '2099-01-01T00:00:00.000Z';
  const entry = { player_id: 'STEAM_0:1:77001', until: until2099, note: 'cleared by the league' };
  assert.equal(await first.call('/v1/allow', 'POST', entry), { status: 201, body: entry });
  await first.kill('SIGKILL');
  const second = await live(world, '--mode', 'enforce');
  const { body } = await second.call('/v1/players/STEAM_0:1:77001');
  assert.equal([body.verdict, body.allowed, body.action, body.would], ['neutral', true, 'pass', 'restrict']);
  const off = '/v1/allow/STEAM_0:1:77001';
  assert.equal((await second.call(off, 'DELETE')).body, { player_id: 'STEAM_0:1:77001', removed: true });
  assert.equal((await second.call(off, 'DELETE')).body.removed, false);
  assert.is((await second.call('/v1/players/STEAM_0:1:77001')).body.verdict, 'untrusted');
  await second.kill('SIGTERM');
});

test('a report is 202 while the node is away, survives a kill, and arrives once', async () => {
  const world = newWorld();
  const first = await live(world);
  await node.stop();
  const report = {
    player_id: 'reported-1',
    event_type: 'report_cheating',
    severity: 0.7,
    event_id: 'match 1: reported-1',
  };
  const taken = await first.call('/v1/reports', 'POST', report);
  assert.is(taken.status, 202);
  assert.is(taken.body.status, 'spooled');
  assert.equal((await first.call('/v1/reports', 'POST', report)).body, taken.body);
  await first.kill('SIGKILL');
  await node.start();
  const second = await live(world);
  await until(async () => (await second.call('/v1/status')).body.spool.pending === 0);
  assert.is((await node.client(peer).explain('reported-1'))?.event_count, 1);
  await second.kill('SIGTERM');
});

test('no raw id, note or name of a report reaches the wire, the disk or the log', async () => {
  const world = newWorld();
  const sidecar = await live(world);
  proxy.sent.length = 0;
  const secret = 'STEAM_0:1:99887766';
  await sidecar.call(`/v1/players/${secret}`);
  await sidecar.call('/v1/reports', 'POST', {
    player_id: secret,
    event_type: 'report_spam',
    severity: 0.1,
    event_id: `ban-${secret}`,
  });
  await sidecar.call('/v1/allow', 'POST', { player_id: secret, until: '2099-01-01T00:00:00Z' });
  await sidecar.call(`/v1/${secret}`);
  await until(() => proxy.count('/api/v1/events/batch') > 0);
  const { err, out } = await sidecar.kill('SIGTERM');
  for (const [where, text] of Object.entries({ wire: proxy.sent.join('\n'), disk: world.stateText(), err, out })) {
    assert.not.match(text, /99887766/, where);
  }
});

test('a read after the stream is lost is marked as the last known value, with its age', async () => {
  const sidecar = await live(newWorld());
  await sidecar.call('/v1/players/angel-77002');
  await node.stop();
  await until(async () => (await sidecar.call('/v1/status')).body.stream.phase === 'connecting');
  const { body } = await sidecar.call('/v1/players/angel-77002');
  assert.equal([body.verdict, body.source], ['trusted', 'last-known']);
  assert.ok(body.cause !== null && body.as_of !== null);
  await node.start();
  await sidecar.kill('SIGTERM');
});

test('a Unix socket answers, too, is closed to other users, and one left by a kill is taken over', async () => {
  const world = newWorld();
  const path = join(world.folder, 'sidecar.sock');
  await (await started(world, '--socket', path)).kill('SIGKILL');
  assert.ok(existsSync(path));
  const sidecar = await started(world, '--socket', path);
  assert.is(statSync(path).mode & 0o777, 0o600);
  const token = readFileSync(join(world.stateDir, 'sidecar', 'token'), 'utf8').trim();
  const status = await new Promise<number>((resolve, reject) => {
    const headers = { authorization: `Bearer ${token}` };
    request({ socketPath: path, path: '/v1/status', headers }, ({ statusCode }) => resolve(statusCode!))
      .on('error', reject)
      .end();
  });
  assert.is(status, 200);
  await sidecar.kill('SIGTERM');
});

test('a wrong key is one log line, a problem in the status, and exit code 1 of the doctor', async () => {
  const world = newWorld({ apiKey: 'ptf_dev_wrong' });
  const sidecar = await started(world);
  await sidecar.call('/v1/reports', 'POST', { player_id: 'p', event_type: 'report_spam', severity: 0.5 });
  await until(async () => (await sidecar.call('/v1/status')).body.problems.length === 2);
  const { body } = await sidecar.call('/v1/status');
  assert.is(body.ok, false);
  assert.equal(
    body.problems.map((one: Record<string, string>) => [one.part, one.code]),
    [
      ['stream', 'invalid_api_key'],
      ['spool', 'invalid_api_key'],
    ],
  );
  assert.match(body.last_error.text, 'the node does not know this key');
  assert.is(body.spool.pending, 1);
  assert.is(body.node.reachable, true);
  const doctor = await world.run(['doctor']);
  assert.is(doctor.code, 1);
  assert.match(doctor.out, /^fail +peer: the node does not know this key.*\(invalid_api_key\)$/m);
  assert.match(doctor.out, /1 reports are waiting in the spool sidecar/);
  const { err } = await sidecar.kill('SIGTERM');
  assert.is(err.match(/stream: the node does not know this key/g)?.length, 1, err);
  assert.not.match(err + doctor.out, 'ptf_dev_wrong');
});

test('a wrong salt is one log line, a problem in the status, and exit code 1 of the doctor', async () => {
  const world = newWorld({ groupSalt: 'another salt of 16 bytes' });
  const sidecar = await started(world);
  await until(async () => (await sidecar.call('/v1/status')).body.problems.length > 0);
  const { body } = await sidecar.call('/v1/status');
  assert.equal([body.ok, body.salt.matches, body.last_error.code], [false, false, 'salt_mismatch']);
  const read = await sidecar.call('/v1/players/STEAM_0:1:77001');
  assert.equal([read.body.verdict, read.body.source, read.body.cause], ['neutral', 'assumed', 'salt_mismatch']);
  const doctor = await world.run(['doctor']);
  assert.is(doctor.code, 1);
  assert.match(doctor.out, /^fail .*salt: the salt is not that of the group/m);
  const { err } = await sidecar.kill('SIGTERM');
  assert.is(err.match(/salt_mismatch/g)?.length, 1, err);
  assert.not.match(err + doctor.out, 'another salt');
});

test('a node that does not answer is one log line, a problem in the status, and exit code 3 of the doctor', async () => {
  const world = newWorld({ url: 'http://127.0.0.1:9' });
  const sidecar = await started(world);
  await until(async () => (await sidecar.call('/v1/status')).body.problems.length > 0);
  const { body } = await sidecar.call('/v1/status');
  assert.equal([body.ok, body.node.reachable, body.last_error.code], [false, false, 'unreachable']);
  assert.match(body.last_error.text, 'the node at http://127.0.0.1:9 does not answer');
  const doctor = await world.run(['doctor']);
  assert.is(doctor.code, 3);
  const { err } = await sidecar.kill('SIGTERM');
  assert.is(err.match(/does not answer/g)?.length, 1, err);
});

test('a report that the node will never accept is a problem in the status, and exit code 1 of the doctor', async () => {
  const world = newWorld({ gameIds: ['chess'] });
  const sidecar = await started(world);
  await sidecar.call('/v1/reports', 'POST', { player_id: 'p', event_type: 'report_spam', severity: 0.5 });
  await until(async () => (await sidecar.call('/v1/status')).body.spool.set_aside === 1);
  const { body } = await sidecar.call('/v1/status');
  assert.is(body.spool.last_set_aside.code, 'game_id_not_registered');
  assert.is(body.problems[0].part, 'reports');
  const doctor = await world.run(['doctor']);
  assert.is(doctor.code, 1);
  assert.match(doctor.out, /refused 1 reports of the spool sidecar for good, the last for game_id_not_registered/);
  await sidecar.kill('SIGTERM');
});

test('a problem that is over is no longer in the status, and a byte order mark before a body is none', async () => {
  const world = newWorld({ gameIds: ['chess', 'arena'] });
  const sidecar = await started(world);
  const report = (game: string) =>
    `\ufeff{"player_id":"p","event_type":"report_spam","severity":0.5,"game_id":"${game}"}`;
  assert.is((await sidecar.call('/v1/reports', 'POST', report('chess'))).status, 202);
  await until(async () => (await sidecar.call('/v1/status')).body.problems[0]?.part === 'reports');
  assert.is((await sidecar.call('/v1/reports', 'POST', report('arena'))).status, 202);
  await until(async () => (await sidecar.call('/v1/status')).body.spool.delivered === 1);
  const { body } = await sidecar.call('/v1/status');
  assert.equal([body.problems, body.last_error], [[], null]);
  await sidecar.kill('SIGTERM');
});

test('a suspended peer is named as such by the status and the doctor', async () => {
  const suspended = await node.register('suspended');
  assert.is((await runPtf(['peers', 'suspend', suspended.peerId], join(node.folder, 'data'))).code, 0);
  const world = newWorld({ ...suspended });
  const sidecar = await started(world);
  await until(async () => (await sidecar.call('/v1/status')).body.peer.status === 'suspended');
  const doctor = await world.run(['doctor']);
  assert.is(doctor.code, 1);
  assert.match(doctor.out, `the peer ${suspended.peerId} is suspended`);
  await sidecar.kill('SIGTERM');
});

test('a second sidecar on the same folder refuses to start, and the first works on', async () => {
  const world = newWorld();
  const first = await started(world);
  const { code, err } = await world.run(['sidecar', '--port', '0']);
  assert.is(code, 3);
  assert.match(err, 'spool_in_use');
  assert.is((await first.call('/v1/status')).status, 200);
  await first.kill('SIGTERM');
});

test.run();

/** The sidecar as a process beside a real node: what it answers, what it keeps, and what never leaves the machine. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { startTestNode, type TestNode, type TestPeer } from '../../src/testing/test-node.js';
import { until } from '../support/until.js';
import { endChildren, PeerWorld, RecordingProxy, SidecarProcess } from './peer-world.js';

const bad = 'STEAM_0:1:77001';

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

async function live(world: PeerWorld, ...args: string[]): Promise<SidecarProcess> {
  const sidecar = await new SidecarProcess(world, args).listening();
  await until(async () => (await sidecar.call('/v1/status')).body.stream.phase === 'live');
  return sidecar;
}

test('a read on a live cache has verdict, score, confidence, source and time, without a call', async () => {
  const world = newWorld();
  const sidecar = await live(world);
  const before = proxy.count('/api/v1/trust-scores');
  const { status, body } = await sidecar.call(`/v1/players/${encodeURIComponent(bad)}`);
  const { score, confidence, as_of: asOf, ...rest } = body;
  const judged = { verdict: 'untrusted', known: true, allowed: false, action: 'pass', would: 'restrict' };
  assert.equal([status, rest], [200, { player_id: bad, ...judged, source: 'cache', cause: null }]);
  assert.ok(score < 20 && confidence > 0.4);
  assert.ok(Math.abs(Date.parse(asOf) - Date.now()) < 60_000);
  const match = await sidecar.call(`/v1/players?ids=${bad},angel-77002,nobody,%20,angel-77002`);
  assert.equal(
    match.body.data.map((one: Record<string, string>) => [one.player_id, one.verdict ?? one.code]),
    [
      [bad, 'untrusted'],
      ['angel-77002', 'trusted'],
      ['nobody', 'neutral'],
      [' ', 'invalid_parameter'],
      ['angel-77002', 'trusted'],
    ],
  );
  assert.is(proxy.count('/api/v1/trust-scores'), before);
  const { ok, problems, last_error } = (await sidecar.call('/v1/status')).body;
  assert.equal([ok, problems, last_error], [true, [], null]);
  const second = await world.run(['sidecar', '--port', '0']);
  assert.equal([second.code, second.err.includes('spool_in_use')], [3, true], 'the first one owns the folder');
  await sidecar.kill('SIGTERM');
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

test('an allowed player is neutral and passes, also after a restart, until taken off the list', async () => {
  const world = newWorld();
  const first = await live(world, '--mode', 'enforce', '--restrict', 'suspicious');
  assert.is((await first.call(`/v1/players/${bad}`)).body.action, 'restrict');
  const entry = { player_id: bad, until: '2099-01-01T00:00:00.000Z', note: 'cleared by the league' };
  assert.equal(await first.call('/v1/allow', 'POST', entry), { status: 201, body: entry });
  await first.kill('SIGKILL');
  const second = await live(world, '--mode', 'enforce');
  const { body } = await second.call(`/v1/players/${bad}`);
  assert.equal([body.verdict, body.allowed, body.action, body.would], ['neutral', true, 'pass', 'restrict']);
  assert.equal((await second.call(`/v1/allow/${bad}`, 'DELETE')).body, { player_id: bad, removed: true });
  assert.is((await second.call(`/v1/players/${bad}`)).body.verdict, 'untrusted');
  await second.kill('SIGTERM');
});

test('a report is 202 while the node is away, survives a kill, and arrives once', async () => {
  const world = newWorld();
  const first = await live(world);
  await node.stop();
  const report = { player_id: 'reported-1', event_type: 'report_cheating', severity: 0.7, event_id: 'match 1: one' };
  const { status, body } = await first.call('/v1/reports', 'POST', report);
  assert.equal([status, body.status], [202, 'spooled']);
  assert.equal((await first.call('/v1/reports', 'POST', report)).body, body);
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
  const player_id = 'STEAM_0:1:99887766';
  const report = { player_id, event_type: 'report_spam', severity: 0.1, event_id: `ban-${player_id}` };
  await sidecar.call(`/v1/players/${player_id}`);
  await sidecar.call('/v1/reports', 'POST', report);
  await sidecar.call('/v1/allow', 'POST', { player_id, until: '2099-01-01T00:00:00Z' });
  await sidecar.call(`/v1/${player_id}`);
  await until(() => proxy.count('/api/v1/events/batch') > 0);
  const { err, out } = await sidecar.kill('SIGTERM');
  for (const [where, text] of Object.entries({ wire: proxy.sent.join('\n'), disk: world.stateText(), err, out })) {
    assert.not.match(text, /99887766/, where);
  }
});

test('a wrong key is one log line, a problem of each part in the status, and exit code 1 of the doctor', async () => {
  const world = newWorld({ apiKey: 'ptf_dev_wrong' });
  const sidecar = await new SidecarProcess(world).listening();
  await sidecar.call('/v1/reports', 'POST', { player_id: 'p', event_type: 'report_spam', severity: 0.5 });
  await until(async () => (await sidecar.call('/v1/status')).body.problems.length === 2);
  const { body } = await sidecar.call('/v1/status');
  const problems = body.problems.map(({ part, code }: Record<string, string>) => `${part} ${code}`);
  assert.equal(problems, ['stream invalid_api_key', 'spool invalid_api_key']);
  assert.equal([body.ok, body.node.reachable, body.spool.pending], [false, true, 1]);
  assert.match(body.last_error.text, 'the node does not know this key');
  const doctor = await world.run(['doctor']);
  assert.is(doctor.code, 1);
  assert.match(doctor.out, /^fail +peer: the node does not know this key.*\(invalid_api_key\)$/m);
  assert.match(doctor.out, /1 reports are waiting in the spool sidecar/);
  const { err } = await sidecar.kill('SIGTERM');
  assert.is(err.match(/stream: the node does not know this key/g)?.length, 1, err);
  assert.not.match(err + doctor.out, 'ptf_dev_wrong');
});

test.run();

/** The drill: load, backup, destroy, restore. With real nodes and the real command. */
import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { digestAt, done, events, filesUnder, holds, lived, newPlace, refused, subjectOf } from './support/drill.js';
import { GameServer } from './support/game-server.js';
import { endAll, mainEntry, startProcess, temporaryFolder } from './support/process.js';
import { ptfEntry, runPtf } from './support/ptf.js';

test.after(endAll);

/** Makes the folder of a stopped node with `count` events, and a backup of it. */
async function backedUp(count: number) {
  const { dir, peer } = await lived(count);
  const place = newPlace();
  const { out } = await done(['backup', place, '--json'], dir);
  return { dir, peer, place, report: JSON.parse(out) };
}

test('a backup made under load restores the state of its record after the folder is destroyed', async () => {
  const dir = temporaryFolder();
  const node = await startProcess({ DATA_DIR: dir, SNAPSHOT_EVERY: '2000' });
  const peer = await GameServer.register(node.url, 'p');
  for (let i = 0; i < 20; i++) await peer.send(events('before', i * 500, (i + 1) * 500));
  let isOver = false;
  const load = (async () => {
    for (let i = 0; !isOver; i++) await peer.send(events('during', i * 100, (i + 1) * 100));
  })();
  const place = newPlace();
  const { out } = await done(['backup', place, '--json'], dir);
  isOver = true;
  await load;
  const { last_seq: seq, digest } = JSON.parse(out) as { last_seq: number; digest: string };
  assert.is(await node.kill('SIGKILL'), 'SIGKILL');

  for (const path of [place, ...filesUnder(place)]) assert.is(statSync(path).mode & 0o077, 0, path);
  const verified = JSON.parse((await done(['verify', '--json'], place)).out) as { last_seq: number };
  assert.is(verified.last_seq, seq);
  assert.is(digest.length, 64);
  const atBackup = await digestAt(dir, seq);
  rmSync(dir, { recursive: true });
  await done(['restore', place], dir);
  assert.is(await digestAt(dir), atBackup);
  assert.is(await digestAt(dir, seq, true), atBackup);

  const next = await startProcess({ DATA_DIR: dir });
  const again = peer.at(next.url);
  const statuses = await again.send(events('before', 9_500, 10_000));
  assert.equal(new Set(statuses), new Set([409]));
  assert.equal(await again.send(events('after', 0, 3)), [201, 201, 201]);
  assert.is(await next.kill('SIGTERM'), 0);
});

test('a backup of a stopped node has its snapshot, and the same state as the folder', async () => {
  const { dir, place, report } = await backedUp(1_000);
  assert.is(report.snapshots.length, 1);
  const target = temporaryFolder();
  await done(['restore', place], target);
  assert.is(await digestAt(target, undefined, true), await digestAt(dir));
  const next = await startProcess({ DATA_DIR: target });
  assert.match(next.output(), /"snapshot_seq":100[2-9],/);
  assert.is(await next.kill('SIGTERM'), 0);
});

test('data erased or withdrawn after a backup is absent after a restore, including its bytes', async () => {
  const { dir, peer, place } = await backedUp(600);
  const node = await startProcess({ DATA_DIR: dir });
  const now = peer.at(node.url);
  const erased = subjectOf('player 7', dir);
  assert.is(await now.erase(erased.toString('hex')), 200);
  assert.is(await now.withdraw('e-8'), 200);
  assert.equal(await now.send([{ id: 'lost', player: 'player 9' }]), [201]);
  await node.kill('SIGKILL');
  assert.ok(holds(place, erased) && holds(place, 'e-8') && holds(place, 'e-557'));

  const { out } = await done(['restore', place, '--replace', '--json'], dir);
  const report = JSON.parse(out) as Record<string, unknown>;
  assert.equal([report.erasures, report.withdrawals, report.events_lost], [1, 1, 1]);
  // Before any node has run on it; the old folder lies within and has neither.
  for (const gone of [erased, erased.toString('hex'), 'e-557']) assert.not.ok(holds(dir, gone));
  assert.is((await runPtf(['verify'], dir)).code, 0);

  const next = await startProcess({ DATA_DIR: dir });
  const again = peer.at(next.url);
  assert.equal(await again.score('player 7'), [404, undefined]);
  assert.equal(await again.score('player 8'), [200, 11]);
  assert.equal(await again.score('player 9'), [200, 12]);
  assert.equal(
    await again.send([
      { id: 'e-557', player: 'x' },
      { id: 'e-8', player: 'x' },
    ]),
    [409, 409],
  );
  assert.equal(await again.send([{ id: 'lost', player: 'player 9' }]), [201]);
  assert.is(await next.kill('SIGTERM'), 0);
  assert.not.ok(holds(dir, erased));
  assert.is((await runPtf(['verify'], dir)).code, 0);
});

test('a report of the acts that a restore undid is in the folder, and a second restore preserves it', async () => {
  const { dir, peer, place } = await backedUp(10);
  const node = await startProcess({ DATA_DIR: dir });
  await done(['peers', 'suspend', peer.peerId], dir);
  assert.is(await node.kill('SIGTERM'), 0);

  const first = JSON.parse((await done(['restore', place, '--replace', '--json'], dir)).out);
  assert.equal(
    first.acts_lost.map(({ action, target }: { action: string; target: string }) => [action, target]),
    [['peer_suspended', peer.peerId]],
  );
  assert.equal(JSON.parse(readFileSync(join(dir, 'restored.json'), 'utf8')), first);
  const second = JSON.parse((await done(['restore', place, '--replace', '--json'], dir)).out);
  assert.equal(second.acts_lost, []);
  assert.equal(JSON.parse(readFileSync(join(dir, second.replaced, 'restored.json'), 'utf8')), first);
});

test('no node starts on a backup, which stays whole', async () => {
  const { place } = await backedUp(10);
  const refusal = await startProcess({ DATA_DIR: place }).catch(String);
  assert.match(String(refusal), 'is a backup, not a data folder; restore it with ptf restore');
  assert.is((await runPtf(['verify'], place)).code, 0);
});

const nobody = { uid: 65_534, gid: 65_534, cwd: '/', encoding: 'utf8' } as const;
// Another user can be tried by root alone, and where that one may read what is run.
const canBeNobody =
  process.getuid?.() === 0 &&
  [ptfEntry, mainEntry].every((path) => spawnSync('test', ['-r', path], nobody).status === 0);

test('a folder that the user may not access is not reported as empty', async () => {
  if (!canBeNobody) return;
  const { dir, place } = await backedUp(10);
  for (const args of [
    ['--data-dir', dir, 'backup', '/tmp/never-made'],
    ['--data-dir', '/tmp/never-made', 'restore', place],
  ]) {
    const { status, stderr } = spawnSync(process.execPath, [ptfEntry, ...args], nobody);
    assert.is(status, 1);
    assert.match(stderr, 'run as the user of the node (access_denied)');
  }
});

test('root leaves no files in the folder of another user, and a start names such files instead of damage', async () => {
  if (process.getuid?.() !== 0) return;
  const { dir, place } = await backedUp(10);
  rmSync(join(dir, 'log', 'lock.mdb'), { force: true });
  spawnSync('chown', ['-R', '65534:65534', dir]);
  for (const args of [['verify'], ['backup', newPlace()], ['restore', place, '--replace']]) {
    assert.match(await refused(args, dir, 'access_denied'), /another user's; run as the user of the node/);
  }
  assert.not(existsSync(join(dir, 'log', 'lock.mdb')));
  if (!canBeNobody) return;
  chmodSync(dirname(dir), 0o711);
  writeFileSync(join(dir, 'log', 'lock.mdb'), '', { mode: 0o600 });
  const { status, stdout } = spawnSync(process.execPath, [mainEntry], { ...nobody, env: { DATA_DIR: dir, PORT: '0' } });
  assert.is(status, 1);
  assert.match(stdout, /DATA_DIR: \S+ cannot be used: this user has no access to \S+lock\.mdb;/);
});

test.run();

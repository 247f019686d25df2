/**
 * Backups and restores amid erasures, and killed at random moments: `KILL_SEED` and `BACKUP_KILLS` say which and how
 * many.
 */
import { cpSync, existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { appears, digestAt, done, events, killAll, lived, newPlace, refused, subjectOf } from './support/drill.js';
import { GameServer } from './support/game-server.js';
import { endAll, NotStarted, startProcess, temporaryFolder } from './support/process.js';
import { beginPtf, runPtf } from './support/ptf.js';
import { Random } from './support/random.js';

const ROUNDS = Number(process.env.BACKUP_KILLS ?? 4);

test.after(endAll);

test('a backup made during erasures and withdrawals is intact and can be restored', async () => {
  const dir = temporaryFolder();
  // As many erasures as the backup leaves time for.
  const env = { DATA_DIR: dir, SNAPSHOT_EVERY: '2000', ERASURE_QUOTA_PER_DAY: '1000000' };
  const node = await startProcess(env);
  const peer = await GameServer.register(node.url, 'p');
  for (let i = 0; i < 20; i++) await peer.send(events('before', i * 500, (i + 1) * 500));
  let isOver = false;
  const load = (async () => {
    for (let i = 0; !isOver; i++) {
      await peer.send(events('during', i * 100, (i + 1) * 100));
      if (i % 5 === 4) assert.is(await peer.withdraw(`during-${i * 100}`), 200);
      // One of the 50 players that come again with every batch, however long the backup takes.
      const player = `player ${(i / 10) % 50}`;
      if (i % 20 === 10) assert.is(await peer.erase(subjectOf(player, dir).toString('hex')), 200);
    }
  })();
  // Awaited below; until then nobody else must take its failure for an end of the process, which would leave the node
  // running.
  load.catch(() => undefined);
  const place = newPlace();
  const { out } = await done(['backup', place, '--json'], dir);
  isOver = true;
  await load;
  const { last_seq: seq } = JSON.parse(out) as { last_seq: number };
  assert.is(await node.kill('SIGKILL'), 'SIGKILL');

  assert.is((await done(['verify'], place)).code, 0);
  // The log that went on does not tell any more what the state at the backup was; the backup itself does.
  const atBackup = await digestAt(join(place, 'store'));
  rmSync(dir, { recursive: true });
  await done(['restore', place], dir);
  assert.is(await digestAt(dir), atBackup);
  assert.is(await digestAt(dir, seq, true), atBackup);
  const next = await startProcess({ DATA_DIR: dir });
  assert.equal(new Set(await peer.at(next.url).send(events('before', 9_500, 10_000))), new Set([409]));
  assert.is(await next.kill('SIGTERM'), 0);
});

test('an aborted backup leaves nothing, and a killed one leaves nothing that looks like a backup', async () => {
  const random = new Random(Number(process.env.KILL_SEED ?? 1));
  const { dir, peer } = await lived(5_000);
  const node = await startProcess({ DATA_DIR: dir });
  const ends = { whole: 0, cut: 0 };
  for (let round = 0; round < ROUNDS; round++) {
    const place = newPlace();
    const backup = beginPtf(['backup', place], dir);
    const isKilled = round % 2 === 0;
    await appears(place, backup);
    await delay(random.below(round * 60));
    if (isKilled) killAll(backup);
    else backup.child.kill('SIGINT');
    const { code } = await backup.ended;
    const isWhole = existsSync(join(place, 'backup.json'));
    ends[isWhole ? 'whole' : 'cut']++;
    if (isWhole) assert.is((await runPtf(['verify'], place)).code, 0);
    else await refused(['restore', place], temporaryFolder(), 'no_backup');
    if (!isKilled && code !== 0 && code !== 'SIGINT') assert.not.ok(existsSync(place), `round ${round}, code ${code}`);
    assert.equal(await peer.at(node.url).send(events(`round-${round}`, 0, 2)), [201, 201]);
  }
  assert.ok(ends.cut > 0, JSON.stringify(ends));
  const last = newPlace();
  await done(['backup', last], dir);
  assert.is(await node.kill('SIGTERM'), 0);
});

test('a backup and a restore end with the terminal that they run in, as with Ctrl-C', async () => {
  const { dir } = await lived(5_000);
  const hungUp = async (args: readonly string[], target: string, sign: string) => {
    const command = beginPtf(args, target);
    await appears(sign, command);
    command.child.kill('SIGHUP');
    const { code, err } = await command.ended;
    assert.is(code, 1, err);
    assert.match(err, '(cancelled)');
    assert.not.ok(existsSync(sign), 'something was left');
  };
  const place = newPlace();
  await hungUp(['backup', place], dir, place);
  await done(['backup', place], dir);
  await hungUp(['restore', place, '--replace'], dir, join(dir, '.restoring'));
});

test('a restore that is killed anywhere is continued or restarted, and no node starts in between', async () => {
  const random = new Random(Number(process.env.KILL_SEED ?? 1));
  const { dir } = await lived(5_000);
  const place = newPlace();
  await done(['backup', place], dir);
  const wanted = await digestAt(dir);
  let cut = 0;
  for (let round = 0; round < ROUNDS; round++) {
    const target = temporaryFolder();
    cpSync(dir, target, { recursive: true });
    const restore = beginPtf(['restore', place, '--replace'], target);
    await appears(join(target, '.restoring'), restore);
    await delay(random.below(round * 60));
    killAll(restore);
    await restore.ended;
    if (existsSync(join(target, '.restoring'))) {
      cut++;
      const refusal = await startProcess({ DATA_DIR: target }).catch((error: unknown) => error);
      assert.instance(refusal, NotStarted);
      assert.match(String(refusal), 'was interrupted; run ptf restore again');
      assert.is((await runPtf(['verify'], target)).code, 1);
      await done(['restore', place, '--replace'], target);
    }
    assert.is(await digestAt(target), wanted, `round ${round}`);
    const next = await startProcess({ DATA_DIR: target });
    assert.is(await next.kill('SIGTERM'), 0);
    rmSync(target, { recursive: true });
  }
  assert.ok(cut > 0, 'no restore was cut short');
});

test.run();

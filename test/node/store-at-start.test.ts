/** The start of a node finds an interrupted restore, damage or another group in its data folder. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pino } from 'pino';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { sourceOf } from '../../src/group/backup/copy-store.js';
import type { Formation } from '../../src/group/recovery/formation.js';
import { Replica } from '../../src/group/replica/replica.js';
import { recoverOrForm, refuseUnfit, StartRefusedError, verifyFolder } from '../../src/node/startup.js';
import { writeMark } from '../../src/store/files/folder-files.js';
import { dataFileOf } from '../../src/store/files/lmdb-file.js';
import { logFolderOf, openLogReader } from '../../src/store/log/lmdb-log.js';
import { LmdbSnapshotStore, snapshotFileOf } from '../../src/store/snapshots/lmdb-snapshots.js';
import { copyIntoFolder } from '../../src/workers/backup/copy-folder.js';
import { Life } from '../group/life.js';
import { rejection } from '../store/log-contract.js';
import { salt, t0 } from '../support/given.js';
import { MemoryLog } from '../support/memory-log.js';
import { MemorySnapshotStore } from '../support/memory-snapshots.js';
import { temporaryFolder } from '../support/process.js';

/** A log of which the test reads the lines. */
function heard() {
  const lines: { readonly msg: string; readonly fault?: string; readonly seq?: number }[] = [];
  return { lines, log: pino({ level: 'info' }, { write: (line) => void lines.push(JSON.parse(line)) }) };
}

async function refusal(work: Promise<unknown>): Promise<string> {
  const error = await rejection(work);
  assert.instance(error, StartRefusedError);
  return (error as Error).message;
}

test('no node starts where a restore was interrupted, or alone on the folder of a cluster', async () => {
  const [half, marked] = [temporaryFolder(), temporaryFolder()];
  mkdirSync(join(half, '.restoring'));
  await writeMark(marked, { cluster_id: 'c', node_id: 'n1' });
  const started = async (dir: string, cluster: 'none' | 'etcd') => refuseUnfit(dir, { cluster });
  for (const cluster of ['none', 'etcd'] as const) {
    assert.match(await refusal(started(half, cluster)), 'was interrupted; run ptf restore again');
    await started(temporaryFolder(), cluster);
  }
  assert.match(await refusal(started(marked, 'none')), 'cluster');
  await started(marked, 'etcd');
});

test('a damaged snapshot is logged and skipped by a start; a damaged log is logged and refuses it', async () => {
  const dir = temporaryFolder();
  const { machine } = await Life.reporting(2);
  const { lastSeq } = await copyIntoFolder(dir, sourceOf(machine.log), { progress: () => undefined });
  const reader = openLogReader(dir);
  await new Replica(reader, new LmdbSnapshotStore(dir), salt).snapshot(lastSeq, 1);
  await reader.close();
  const spoil = (file: string) => writeFileSync(file, Buffer.alloc(readFileSync(file).length, 1));
  spoil(snapshotFileOf(dir, lastSeq));
  const { lines, log } = heard();
  assert.is(await verifyFolder(dir, log), lastSeq);
  assert.equal([lines.length, lines[0]?.msg, lines[0]?.seq], [1, 'a snapshot cannot be used', lastSeq]);
  assert.match(lines[0]?.fault ?? '', 'snapshot');

  spoil(dataFileOf(logFolderOf(dir)));
  const text = await refusal(verifyFolder(dir, log));
  const { msg, fault } = lines.at(-1)!;
  assert.equal([msg, text], ['the store is damaged', `the store in ${dir} is damaged; nothing was changed: ${fault}`]);
});

test('a start continues the log of its own group, and logs each snapshot that it could not use', async () => {
  const identity = { groupId: 'g', identityMode: 'privacy-first', environment: 'dev' } as const;
  const formation: Formation = { identity, halfLifeDays: 1, banHalfLifeDays: 6, salt };
  const [stored, snapshots] = [new MemoryLog(), new MemorySnapshotStore()];
  const { lines, log } = heard();
  const started = (of: Formation = formation) =>
    recoverOrForm({ formation: of, clock: { now: () => t0 } }, stored.acquire(), snapshots, log);
  const { follower, snapshotSeq } = await started();
  assert.equal([snapshotSeq, lines], [0, []]);
  const { lastSeq } = follower.state;
  await new Replica(stored, snapshots, salt).snapshot(lastSeq, 1);
  assert.is((await started()).snapshotSeq, lastSeq);
  assert.equal(
    lines.splice(0).map(({ msg }) => msg),
    ['recovered'],
  );
  snapshots.damage(lastSeq);
  assert.is((await started()).snapshotSeq, 0);
  assert.equal(
    lines.splice(0).map(({ msg }) => msg),
    ['a snapshot was not used', 'recovered'],
  );
  const other = await refusal(started({ ...formation, identity: { ...identity, groupId: 'h' } }));
  assert.match(other, 'GROUP_ID');
  assert.equal(lines, []);
});

test.run();

/** A data folder belongs to the group that was formed in it. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { stateDigest } from '../../../src/core/snapshot/state-digest.js';
import type { GroupIdentity } from '../../../src/group/api.js';
import { formationProblems, formGroup } from '../../../src/group/recovery/formation.js';
import { formationOf, lastSeqOf, mustReach, recover } from '../../../src/group/recovery/recovery.js';
import { salt, t0 } from '../../support/given.js';
import { MemoryLog } from '../../support/memory-log.js';
import { MemorySnapshotStore } from '../../support/memory-snapshots.js';

const identity: GroupIdentity = { groupId: 'g', identityMode: 'privacy-first', environment: 'dev' };

async function formed(playerIdKinds?: readonly string[]) {
  const log = new MemoryLog();
  const kinds = playerIdKinds === undefined ? {} : { playerIdKinds };
  const formation = { identity: { ...identity, ...kinds }, halfLifeDays: 30, banHalfLifeDays: 90, salt };
  const random = { bytes: (count: number) => Buffer.alloc(count, 3), uuid: () => '' };
  const follower = await formGroup(formation, log.acquire(), { now: () => t0 }, random);
  return { log, follower, record: formationOf(log) };
}

test('the first record of a group states its identity, and recovery leads to the state that formed it', async () => {
  const { log, follower, record } = await formed(['steam', 'xbox']);
  assert.equal([record.group_id, record.identity_mode, record.environment], ['g', 'privacy-first', 'dev']);
  assert.equal([record.half_life_days, record.ban_half_life_days, record.epoch], [30, 90, t0]);
  assert.equal([record.player_id_kinds, record.node_secret], [['steam', 'xbox'], '03'.repeat(32)]);
  assert.is('player_id_kinds' in (await formed()).record, false);
  const recovered = recover(log, new MemorySnapshotStore(), salt, lastSeqOf(log))!.follower;
  assert.is(stateDigest(recovered.state), stateDigest(follower.state));
  assert.equal([follower.state.lastSeq, follower.chain], [1, recovered.chain]);
});

test('a group is formed once its first record is stored', async () => {
  const writer = new MemoryLog().acquire();
  writer.stored = () => Promise.reject(new Error('no space left'));
  const random = { bytes: (count: number) => Buffer.alloc(count), uuid: () => '' };
  const formation = { identity, halfLifeDays: 30, banHalfLifeDays: 90, salt };
  const failure = await formGroup(formation, writer, { now: () => t0 }, random).catch((error: Error) => error.message);
  assert.is(failure, 'no space left');
});

test('a folder names each setting in which its group differs from the configured one', async () => {
  const { record } = await formed(['steam', 'xbox']);
  const own = { ...identity, playerIdKinds: ['steam', 'xbox'] };
  const problems = (changes: Partial<GroupIdentity>, key: Uint8Array = salt) =>
    formationProblems({ identity: { ...own, ...changes }, salt: key }, record);
  assert.equal(problems({}), []);
  assert.equal(problems({ groupId: 'h' }), [
    'GROUP_ID is h, but g in the group of this data folder: keep that, or change DATA_DIR',
  ]);
  assert.equal(problems({ playerIdKinds: ['xbox', 'steam'] }), [
    'PLAYER_ID_KINDS is xbox,steam, but steam,xbox in the group of this data folder: keep that, or change DATA_DIR',
  ]);
  const others = problems({ identityMode: 'high-security', environment: 'prod' }, Buffer.alloc(16));
  assert.equal(
    others.map((text) => text.split(' ')[0]),
    ['IDENTITY_MODE', 'ENVIRONMENT', 'GROUP_SALT'],
  );
  const { record: opaque } = await formed();
  assert.match(formationProblems({ identity: own, salt }, opaque)[0]!, 'but unset in the group');
});

test('an empty log leads to no state, and one that ends before a record that it held is damaged', async () => {
  const empty = new MemoryLog();
  assert.is(recover(empty, new MemorySnapshotStore(), salt, lastSeqOf(empty)), null);
  assert.throws(() => formationOf(empty), /does not start at record 1/);
  const { log } = await formed();
  for (const seq of [0, 1]) mustReach(log, seq);
  assert.throws(() => mustReach(log, 2), /ends at record 1 now .* held record 2 before/);
});

test.run();

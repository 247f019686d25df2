/** Files that earlier releases wrote keep their meaning, the same state bit for bit on every Node version. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { Batch, chainStart } from '../../src/core/records/batch.js';
import type { GroupFormed, RecordType } from '../../src/core/records/records.js';
import { loadSnapshot, type SnapshotBlock } from '../../src/core/snapshot/snapshot.js';
import { stateDigest } from '../../src/core/snapshot/state-digest.js';
import { GroupState } from '../../src/core/state.js';
import { limits } from '../../src/limits.js';
import { everyRecord } from '../support/every-record.js';
import { salt } from '../support/given.js';
import { type GoldenLog, type GoldenSnapshot, goldenFolder, goldenLife } from '../support/golden-life.js';

const read = <T>(name: string): T => JSON.parse(readFileSync(join(goldenFolder, name), 'utf8')) as T;

const names = readdirSync(goldenFolder).sort();
const logs = names.filter((name) => /^log-v\d+(?:-\w+)?\.json$/.test(name));
const snapshots = names.filter((name) => /^snapshot-v\d+(?:-\w+)?\.json$/.test(name));

test('there are golden files of every version that is read', () => {
  assert.equal(logs, ['log-v4-people.json', 'log-v4.json', 'log-v5.json', 'log-v6.json']);
  assert.equal(snapshots, [
    'snapshot-v1-disputes.json',
    'snapshot-v1-people.json',
    'snapshot-v1-witnesses.json',
    'snapshot-v3.json',
  ]);
});

/** Returns the blocks of a snapshot; those of version 1 have neither measures nor what later versions count. */
function blocksOf({ blocks }: GoldenSnapshot): SnapshotBlock[] {
  return blocks.map((block) => {
    const bytes = Buffer.from(block.bytes, 'base64');
    if (block.key !== 'meta') return { key: block.key, bytes };
    const meta = JSON.parse(bytes.toString());
    const measureScale = { epoch: meta.formed.epoch, halfLifeDays: limits.banHalfLifeDaysDefault, rescales: [] };
    const uncounted = { measured: 0, repeats: { count: 0, sum: 0 }, hourlyCounts: [], rejections: [] };
    return { key: block.key, bytes: Buffer.from(JSON.stringify({ measureScale, ...uncounted, ...meta })) };
  });
}

const bySameWriter = new Map(
  snapshots.map((name) => {
    const snapshot = read<GoldenSnapshot>(name);
    return [snapshot.digest, snapshot];
  }),
);

for (const name of logs) {
  test(`${name} replays to the state that its writer had`, () => {
    const { digest, batches } = read<GoldenLog>(name);
    const parsed = batches.map((bytes) => new Batch(Buffer.from(bytes, 'base64')));
    const state = new GroupState(parsed[0]!.record(1) as GroupFormed, salt);
    let chain: Uint8Array = chainStart;
    for (const batch of parsed) {
      assert.ok(batch.follows(chain, state.lastSeq));
      for (const record of batch) state.apply(record, batch.at);
      chain = batch.chain;
    }
    // The digest of earlier releases did not cover measures: their snapshots say what the state must be.
    assert.is(stateDigest(state), stateDigest(loadSnapshot(blocksOf(bySameWriter.get(digest)!), salt)));
    if (name === 'log-v6.json') assert.is(stateDigest(state), digest);
  });
}

test('the golden life writes every type of record but those of erasure requests, clusters and notes', async () => {
  const machine = await goldenLife();
  const written = new Set<RecordType>();
  for (const { bytes } of machine.log.from(0, Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY)) {
    for (const record of new Batch(bytes)) written.add(record.type);
  }
  const missing = everyRecord.map(({ type }) => type).filter((type) => !written.has(type));
  assert.equal(missing, ['erasure_requested', 'erasure_refused', 'group_setting_changed', 'peer_noted']);
});

test.run();

/** Files that earlier releases wrote keep loading, to the same state bit for bit on every Node version. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { Batch, chainStart } from '../../src/core/records/batch.js';
import type { GroupFormed, RecordType } from '../../src/core/records/records.js';
import { loadSnapshot } from '../../src/core/snapshot/snapshot.js';
import { stateDigest } from '../../src/core/snapshot/state-digest.js';
import { GroupState } from '../../src/core/state.js';
import { everyRecord } from '../support/every-record.js';
import { salt } from '../support/given.js';
import { type GoldenLog, type GoldenSnapshot, goldenFolder, goldenLife } from '../support/golden-life.js';

function read<T>(name: string): T {
  return JSON.parse(readFileSync(join(goldenFolder, name), 'utf8')) as T;
}

const names = readdirSync(goldenFolder).sort();
const logs = names.filter((name) => /^log-v\d+(?:-\w+)?\.json$/.test(name));
const snapshots = names.filter((name) => /^snapshot-v\d+(?:-\w+)?\.json$/.test(name));

test('there are golden files of every version', () => {
  assert.equal(logs, ['log-v1.json', 'log-v2.json', 'log-v3.json', 'log-v4-people.json', 'log-v4.json', 'log-v5.json']);
  assert.equal(snapshots, [
    'snapshot-v1-disputes.json',
    'snapshot-v1-people.json',
    'snapshot-v1-retired.json',
    'snapshot-v1-witnesses.json',
    'snapshot-v1.json',
  ]);
});

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
    assert.is(stateDigest(state), digest);
  });
}

for (const name of snapshots) {
  test(`${name} loads to the state that its writer had`, () => {
    const { digest, blocks } = read<GoldenSnapshot>(name);
    const state = loadSnapshot(
      blocks.map(({ key, bytes }) => ({ key, bytes: Buffer.from(bytes, 'base64') })),
      salt,
    );
    assert.is(stateDigest(state), digest);
  });
}

test('the golden life writes every type of record but those that an erasure blanks', async () => {
  const machine = await goldenLife();
  const written = new Set<RecordType>();
  for (const { bytes } of machine.log.from(0, Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY)) {
    for (const record of new Batch(bytes)) written.add(record.type);
  }
  const missing = everyRecord.map(({ type }) => type).filter((type) => !written.has(type));
  assert.equal(missing, ['erasure_requested']);
});

test.run();

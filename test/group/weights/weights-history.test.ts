import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { BatchWriter, chainStart } from '../../../src/core/records/batch.js';
import type { LogRecord } from '../../../src/core/records/records.js';
import { readWeights } from '../../../src/group/weights/weights-history.js';
import { limits } from '../../../src/limits.js';
import { formedRecord, t0 } from '../../support/given.js';
import { MemoryLog } from '../../support/memory-log.js';
import { weightsOf } from '../../support/weights.js';

function vector(computedAt: number, peers: number): LogRecord {
  return { type: 'weights_published', ...weightsOf(peers), computed_at: computedAt };
}

/** A log with one batch for each list of records. */
async function logOf(...batches: readonly (readonly LogRecord[])[]): Promise<MemoryLog> {
  const log = new MemoryLog();
  const writer = log.claim();
  let seq = 1;
  let chain: Uint8Array = chainStart;
  for (const records of batches) {
    const batch = new BatchWriter();
    for (const record of records) batch.add(record);
    const sealed = batch.seal(seq, t0 + seq, Buffer.alloc(16), chain);
    await writer.append({ firstSeq: seq, bytes: sealed.bytes }, []);
    seq += records.length;
    chain = sealed.chain;
  }
  return log;
}

const moved: LogRecord = { type: 'epoch_moved', epoch: t0, factor: 1 };

test('weights are found among other records with their time, up to the last durable record', async () => {
  const log = await logOf([formedRecord()], [moved, vector(5, 2), moved], [vector(6, 3)], [vector(7, 1)]);
  const piece = readWeights(log, 0, 5);
  assert.equal(
    piece.published.map(({ seq, at, record }) => [seq, at, record.computed_at, record.tau.length]),
    [
      [3, t0 + 2, 5, 2],
      [5, t0 + 5, 6, 3],
    ],
  );
  assert.is(piece.upTo, 5);
});

test('a piece ends when it has enough, even inside a batch, and the next one continues after it', async () => {
  const many = limits.weightsPagePeers + 1;
  const log = await logOf([formedRecord()], [vector(1, many), vector(2, many), moved]);
  const first = readWeights(log, 0, 4);
  assert.equal([first.published.map(({ seq }) => seq), first.upTo], [[2], 2]);
  const second = readWeights(log, first.upTo, 4);
  assert.equal([second.published.map(({ seq }) => seq), second.upTo], [[3], 3]);
  const third = readWeights(log, second.upTo, 4);
  assert.equal([third.published, third.upTo], [[], 4]);
});

test.run();

/** Pieces of a log: as many whole batches as fit, and a batch that does not fit alone. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { batchesIn, writePiece } from '../../../src/group/backup/copy-store.js';
import { DamagedError } from '../../../src/group/ports/storage.js';
import { logOf } from '../../support/log-of.js';

const batch = (firstSeq: number, length: number) => ({ firstSeq, bytes: new Uint8Array(length).fill(firstSeq) });
const log = logOf([batch(1, 10), batch(3, 20), batch(9, 300), batch(10, 5)]);

function pieceFrom(firstSeq: number, { limit = 9, bytes = 100 } = {}) {
  const memory = Buffer.alloc(bytes, 0xff);
  const written = writePiece(log, firstSeq, limit, memory);
  const piece = typeof written === 'number' ? memory.subarray(0, written) : written;
  const batches = batchesIn(piece).map(({ firstSeq: at, bytes: b }) => ({ firstSeq: at, bytes: new Uint8Array(b) }));
  return { batches, isInMemory: typeof written === 'number' };
}

test('a piece has the batches that fit into the memory, up to the limit', () => {
  assert.equal(pieceFrom(1), { batches: [batch(1, 10), batch(3, 20)], isInMemory: true });
  assert.equal(pieceFrom(1, { limit: 1 }), { batches: [batch(1, 10)], isInMemory: true });
  assert.equal(pieceFrom(2, { bytes: 1_000 }).batches.length, 3);
  assert.equal(pieceFrom(1, { bytes: 12 + 10 + 12 + 19 }).batches, [batch(1, 10)]);
  assert.equal(pieceFrom(4), { batches: [batch(9, 300)], isInMemory: false }, 'a larger one is a piece of its own');
  assert.equal(pieceFrom(11), { batches: [], isInMemory: true }, 'the log has ended');
});

test('a batch is its first number as a double, its length in 32 bits and its bytes, little-endian', () => {
  const memory = Buffer.alloc(100);
  const length = writePiece(logOf([batch(3, 2)]), 3, 1, memory) as number;
  assert.is(memory.toString('hex', 0, length), `${'0000000000000840'}${'02000000'}0303`);
});

test('an incomplete piece is refused', () => {
  const memory = Buffer.alloc(100);
  const length = writePiece(log, 1, 9, memory) as number;
  const isDamage = (error: Error) => error instanceof DamagedError && /incomplete/.test(error.message);
  for (const cut of [1, 11, length - 1]) assert.throws(() => batchesIn(memory.subarray(0, cut)), isDamage);
});

test.run();

/** A piece of a removal is bounded, and continues where the one before it ended. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { Batch } from '../../../src/core/records/batch.js';
import type { RemovalWork } from '../../../src/group/ports/pool.js';
import { DamagedError } from '../../../src/group/ports/storage.js';
import { redactPiece } from '../../../src/group/removal/redaction.js';
import { limits } from '../../../src/limits.js';
import { lived } from './lived.js';

type Bound = 'redactionPieceRecords' | 'redactionPieceBatches' | 'redactionPieceBytes';

/** Each batch of this log holds one record: events from record 5 on, of three players and two peers in turn. */
async function grown() {
  const { log, actor } = (await lived(9)).machine;
  const tagOf = (id: string) => actor.state.idTags.of(id);
  const pieceOf = (work: Partial<RemovalWork>, bound?: Bound, most = 1) => {
    const bounds = limits as { [K in Bound]: number };
    const before = { ...limits };
    if (bound !== undefined) bounds[bound] = most;
    try {
      const piece = redactPiece(log, { type: 'removal', events: [], chains: [], erasures: [], ...work }, tagOf);
      const types = piece.rewrites.map(
        ({ firstSeq, bytes }) => `${firstSeq} ${new Batch(bytes).record(firstSeq).type}`,
      );
      return { ...piece, types };
    } finally {
      Object.assign(limits, before);
    }
  };
  return { log, pieceOf };
}

test('a piece removes single events, then chains from their heads, and names the erased events by peer', async () => {
  const { pieceOf } = await grown();
  const first = pieceOf({ events: [6], chains: [10, 13] }, 'redactionPieceRecords', 3);
  assert.equal(first.types, ['6 event_gone', '13 event_gone', '7 event_gone']);
  assert.equal([...first.erased], [[0, [13, 7]]], 'a withdrawn event is not erased');
  assert.equal(first.remaining, { type: 'removal', events: [], chains: [10], erasures: [] });
  const last = pieceOf(first.remaining!);
  assert.equal([last.types, [...last.erased], last.remaining], [['10 event_gone'], [[1, [10]]], null]);
  assert.equal(
    last.digests,
    last.rewrites.map(({ firstSeq, bytes }) => [firstSeq, new Batch(bytes).digestNow()]),
  );
});

test('a piece ends with its records, its batches or its bytes, whichever bound it reaches first', async () => {
  const { log, pieceOf } = await grown();
  const events = [5, 6, 7];
  for (const bound of ['redactionPieceRecords', 'redactionPieceBatches'] as const) {
    assert.equal(pieceOf({ events }, bound, 2).remaining?.events, [5], bound);
    assert.is(pieceOf({ events }, bound, 3).remaining, null, bound);
  }
  const bytes = log.at(7)!.bytes.length + log.at(6)!.bytes.length;
  assert.equal(pieceOf({ events }, 'redactionPieceBytes', bytes).remaining?.events, [5]);
  assert.equal(pieceOf({ events }, 'redactionPieceBytes', bytes + 1).remaining, null);
});

test('records that name no player are passed over, and one that the log lacks is damage', async () => {
  const { pieceOf } = await grown();
  const { rewrites, remaining } = pieceOf({ events: [2], chains: [3] });
  assert.equal([rewrites, remaining], [[], null]);
  const error = (() => {
    try {
      return pieceOf({ events: [0] });
    } catch (thrown) {
      return thrown;
    }
  })();
  assert.instance(error, DamagedError);
  assert.match(String(error), 'the log has no record 0');
});

test.run();

/** A piece of a removal is bounded, and continues where the one before it ended. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { Batch } from '../../../src/core/records/batch.js';
import type { RemovalWork } from '../../../src/group/ports/pool.js';
import { DamagedError } from '../../../src/group/ports/storage.js';
import { redactPiece } from '../../../src/group/removal/redaction.js';
import { withBounds } from '../../sim/profile.js';
import { rejectionAs } from '../../store/log-contract.js';
import { lived } from './lived.js';

type Bounds = Parameters<typeof withBounds>[0];

/** Each batch of this log holds one record: events from record 5 on, of three players and two peers in turn. */
async function grown() {
  const { machine } = await lived(9);
  const { log, actor } = machine;
  const { key: tagKey } = actor.state.idTags;
  let walked = 0;
  const pieceOf = async (work: Partial<RemovalWork>, bounds: Bounds = {}) => {
    const removal = { type: 'removal', events: [], chains: [], erasures: [], tagKey, ...work } as const;
    const piece = await withBounds(bounds, async () => redactPiece(log, removal, () => walked++));
    const types = piece.rewrites.map(({ firstSeq, bytes }) => `${firstSeq} ${new Batch(bytes).record(firstSeq).type}`);
    return { ...piece, types };
  };
  return { log, pieceOf, tagKey, walked: () => walked };
}

test('a piece removes single events, then chains from their heads, and names the erased events by peer', async () => {
  const { pieceOf, tagKey, walked } = await grown();
  const first = await pieceOf({ events: [6], chains: [10, 13] }, { redactionPieceRecords: 3 });
  assert.equal(first.types, ['6 event_gone', '13 event_gone', '7 event_gone']);
  assert.equal([...first.erased], [[0, [13, 7]]], 'a withdrawn event is not erased');
  assert.equal(first.remaining, { type: 'removal', events: [], chains: [10], erasures: [], tagKey });
  assert.is(walked(), 3, 'the core is yielded before each record');
  const last = await pieceOf(first.remaining!);
  assert.equal([last.types, [...last.erased], last.remaining], [['10 event_gone'], [[1, [10]]], null]);
  assert.equal(
    last.digests,
    last.rewrites.map(({ firstSeq, bytes }) => [firstSeq, new Batch(bytes).digestNow()]),
  );
});

test('a piece ends with its records, its batches or its bytes, whichever bound it reaches first', async () => {
  const { log, pieceOf } = await grown();
  const [last, before] = [log.at(7)!.bytes.length, log.at(6)!.bytes.length];
  const left = async (bounds: Bounds) => (await pieceOf({ events: [5, 6, 7] }, bounds)).remaining?.events ?? [];
  assert.equal(await left({ redactionPieceRecords: 2 }), [5]);
  assert.equal(await left({ redactionPieceRecords: 3 }), []);
  assert.equal(await left({ redactionPieceBatches: 2 }), [5]);
  assert.equal(await left({ redactionPieceBatches: 3 }), []);
  assert.equal(await left({ redactionPieceBytes: last + before }), [5]);
  assert.equal(await left({ redactionPieceBytes: last + before + 1 }), []);
});

test('records that name no player are passed over, and one that the log lacks is damage', async () => {
  const { pieceOf } = await grown();
  const { rewrites, remaining } = await pieceOf({ events: [2], chains: [3] });
  assert.equal([rewrites, remaining], [[], null]);
  const error = await rejectionAs(DamagedError, pieceOf({ events: [0] }));
  assert.match(error.message, 'the log has no record 0');
});

test.run();

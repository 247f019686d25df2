import { hash } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { TAG_WORDS, writeTag } from '../../../src/core/columns/packed-keys.js';
import { eventTypeNames, eventTypes } from '../../../src/core/evidence/event-types.js';
import { Batch, BatchWriter, chainStart } from '../../../src/core/records/batch.js';
import { decodeRecord, encodeRecord, UnknownRecordError } from '../../../src/core/records/record-codec.js';
import type { RecordType } from '../../../src/core/records/records.js';
import { EventColumns, keyOf } from '../../../src/core/tables/event-columns.js';
import { blanked } from '../../../src/group/removal/redaction.js';
import { everyRecord } from '../../support/every-record.js';

const nonce = Buffer.alloc(16, 9);

function batchOf(firstSeq: number, chain: Uint8Array): Batch {
  const writer = new BatchWriter();
  for (const record of everyRecord) writer.add(record);
  return writer.seal(firstSeq, 1_750_000_000_000, nonce, chain);
}

test('every record comes back from a batch as it comes back alone', () => {
  const alone = everyRecord.map((record) => decodeRecord(Buffer.from(encodeRecord(record))));
  assert.equal([...new Batch(batchOf(1, chainStart).bytes)], alone);
});

// A new field or version adds a record to this list; the bytes of those before must not change.
test('every record has the bytes that logs of earlier builds hold', () => {
  const bytes = Buffer.concat(everyRecord.map((record) => encodeRecord(record)));
  assert.is(hash('sha256', bytes, 'hex'), '1f2e9bb9bd3f85288c288cec35313e9cbbd52564505affc7240c52f75d31af6f');
});

const versionsOf = (type: RecordType) =>
  everyRecord.filter((record) => record.type === type).map((record) => encodeRecord(record)[1]);

test('a record has the lowest version that holds all of its fields, and comes back with them', () => {
  // Two plain events, one with a reference, and two that follow others.
  assert.equal(versionsOf('event_accepted'), [2, 2, 4, 5, 5]);
  // Weights without and with those of measures; sums of a pair without and with a measure.
  assert.equal(versionsOf('weights_published'), [2, 3]);
  assert.equal(versionsOf('evidence_kept'), [1, 1, 2]);
  for (const record of everyRecord) assert.equal(decodeRecord(Buffer.from(encodeRecord(record))), record);
});

test('sums that only follow others have their bits in version 2, and those of an erased player nothing', () => {
  const sums = everyRecord.findLast((record) => record.type === 'evidence_kept')!;
  const { measure: _, ...follows } = sums;
  assert.equal(decodeRecord(Buffer.from(encodeRecord(follows))), follows);
  const gone = decodeRecord(Buffer.from(encodeRecord(blanked(sums, () => '')!)));
  assert.ok(gone.type === 'evidence_kept' && gone.subject === null);
  assert.equal([gone.measure, gone.follows, encodeRecord(gone)[1]], [undefined, undefined, 1]);
});

test('columns of events say which ones follow others', () => {
  const events = everyRecord.filter((record) => record.type === 'event_accepted');
  const writer = new BatchWriter();
  for (const event of events) writer.add(event);
  const columns = new EventColumns();
  writer.seal(1, 1_750_000_000_000, nonce, chainStart).events(1, columns);
  assert.equal([...columns.follows.subarray(0, columns.count)], [0, 0, 0, 1, 1]);
  assert.equal([...columns.masses.subarray(0, columns.count)], [-0.123456789, 0.987654321, 0, -0.75, 0]);
});

test('an event written from its look-up columns has the bytes of its record', () => {
  const columns = new EventColumns(3);
  for (const record of everyRecord) {
    if (record.type !== 'event_accepted') continue;
    const { subject, id_tag, ...event } = record;
    columns.count = 2;
    columns.addKey(keyOf(subject));
    writeTag(id_tag, columns.tags, 2 * TAG_WORDS);
    const writer = new BatchWriter();
    writer.addEvent(event, { columns, i: 2 });
    const batch = writer.seal(1, 1_750_000_000_000, nonce, chainStart);
    assert.equal(batch.bytes.subarray(-encodeRecord(record).length), Buffer.from(encodeRecord(record)));
    assert.equal([...batch], [record]);
  }
});

test('a record of a newer release is refused by name', () => {
  for (const record of everyRecord) {
    const newer = Buffer.from(encodeRecord(record));
    newer[1]! = 6;
    assert.throws(() => decodeRecord(newer), /newer release/);
  }
  const bytes = Buffer.from(encodeRecord(everyRecord[0]!));
  bytes[1] = 2;
  assert.throws(
    () => decodeRecord(bytes),
    (error: unknown) => error instanceof UnknownRecordError,
  );
  bytes[0] = 200;
  assert.throws(() => decodeRecord(bytes), /newer release/);
});

test('an event without a tag and weights without witness groups are refused by name', () => {
  for (const type of ['event_accepted', 'weights_published']) {
    const bytes = Buffer.from(encodeRecord(everyRecord.find((record) => record.type === type)!));
    bytes[1] = 1;
    assert.throws(() => decodeRecord(bytes), /version 1 is older than any that this release reads/);
  }
});

test('an event of a type that this release does not know is refused by name', () => {
  const known = eventTypeNames.map((name) => eventTypes[name].id).sort((a, b) => a - b);
  assert.equal(
    known,
    known.map((_, i) => i + 1),
  );
  for (const record of everyRecord.filter(({ type }) => type === 'event_accepted')) {
    for (const type of [0, eventTypeNames.length + 1, 255]) {
      const newer = Buffer.from(encodeRecord(record));
      newer[2] = type;
      assert.throws(
        () => decodeRecord(newer),
        (error: unknown) => error instanceof UnknownRecordError && error.message.includes(`type ${type}`),
      );
    }
  }
});

test('every flipped bit of a batch is found', () => {
  const { bytes } = batchOf(1, chainStart);
  for (let bit = 0; bit < bytes.length * 8; bit++) {
    const flipped = Buffer.from(bytes);
    flipped[bit >> 3]! ^= 1 << (bit & 7);
    assert.throws(() => new Batch(flipped));
  }
});

test('every cut of a batch is found, and a byte too many, even with its checksum', () => {
  const { bytes } = batchOf(1, chainStart);
  for (let length = 0; length < bytes.length; length++) assert.throws(() => new Batch(bytes.subarray(0, length)));
  const longer = Buffer.concat([bytes, Buffer.alloc(1)]);
  longer.writeUInt32LE(crc32(longer.subarray(8), crc32(longer.subarray(0, 4))), 4);
  assert.throws(() => new Batch(longer), /length differs/);
});

test('a batch follows one predecessor only', () => {
  const first = batchOf(1, chainStart);
  const second = batchOf(first.lastSeq + 1, first.chain);
  assert.ok(first.follows(chainStart, 0));
  assert.ok(second.follows(first.chain, first.lastSeq));
  assert.not.ok(second.follows(chainStart, first.lastSeq));
  assert.not.ok(second.follows(first.chain, first.lastSeq - 1));
  assert.not.ok(first.follows(second.chain, 0));
});

test('a rewritten batch keeps its place in the chain and forgets its nonce and content', () => {
  const first = batchOf(1, chainStart);
  const second = batchOf(first.lastSeq + 1, first.chain);
  const at = everyRecord.findIndex(({ type }) => type === 'event_accepted');
  const gone = { type: 'event_gone', peer: 1, id_tag: '0123456789', prev: 0 } as const;
  const rewritten = new Batch(first.rewrite(new Map([[1 + at, gone]])).bytes);
  assert.equal(rewritten.record(1 + at), gone);
  assert.ok(rewritten.rewritten);
  assert.ok(rewritten.follows(chainStart, 0));
  assert.ok(second.follows(rewritten.chain, rewritten.lastSeq));
  assert.ok(first.isContentOriginal());
  assert.not.ok(rewritten.isContentOriginal());
  assert.is(rewritten.bytes.indexOf(nonce), -1);
  assert.is(rewritten.bytes.indexOf('secret-event-id'), -1);
});

test.run();

/** The format of records: what raises it, and what nodes of two releases may write and read. */
import { readFileSync } from 'node:fs';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { type AnyPeerChange, peerChanges } from '../../src/core/peers/peer-changes.js';
import { decodeRecord, UnknownRecordError } from '../../src/core/records/record-codec.js';
import type { Command } from '../../src/group/actor-commands.js';
import { formatReadByAll, mayWrite, RECORD_FORMAT, refusalOfFormat } from '../../src/group/record-format.js';

/** The formats that logs have, with the highest number of a type of record in each. A release adds its own. */
const written = [
  { version: 'none', format: 2, typeMax: 35 },
  { version: '0.1.0', format: 3, typeMax: 38 },
];
/** Versions in these formats of the types that have not version 1 alone. */
const versions: Readonly<Record<number, readonly number[]>> = { 8: [2, 3, 4, 5], 14: [2, 3], 16: [1, 2] };

/** Commands by the number of the type of record that they write. */
const writers = new Map<number, Command['type']>([
  ...Object.entries<AnyPeerChange>(peerChanges).map(([type, { id }]) => [id, type as Command['type']] as const),
  [36, 'setting'],
  [37, 'refuse_erasure'],
]);

function isRead(type: number, version: number): boolean {
  const bytes = Buffer.alloc(200, 1);
  bytes.set([type, version]);
  try {
    decodeRecord(bytes);
    return true;
  } catch (error) {
    return !(error instanceof UnknownRecordError);
  }
}

test('a type or version of record that no log has is written only in the next format', () => {
  const numbers = Array.from({ length: 255 }, (_, at) => at + 1);
  const all = numbers.flatMap((type) => numbers.map((version) => ({ type, version })));
  const read = all.filter(({ type, version }) => isRead(type, version));
  const has = (typeMax: number, { type, version }: (typeof read)[number]) =>
    type <= typeMax && (versions[type] ?? [1]).includes(version);
  for (const { format, typeMax } of written) {
    for (const record of read.filter((one) => !has(typeMax, one))) {
      const writer = writers.get(record.type);
      assert.ok(
        writer !== undefined && !mayWrite(writer, format),
        `record ${record.type}, version ${record.version}: name its command here, and give that a format over ${format}`,
      );
    }
  }
  assert.equal(read.filter((one) => has(38, one)).length, 41, 'every type and version that logs have is read');
});

test('commands keep the formats that releases gave them, and a release states its newest one', () => {
  const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { readonly version: string };
  assert.is(written.at(-1)!.version, version, 'a release adds its newest format and type of record to this file');
  const types = ['submit', 'rotate_key', 'scoring', 'setting', 'refuse_erasure', 'note'] as const;
  const needed = types.map((type) => [1, 2, 3].find((format) => mayWrite(type, format)));
  assert.equal(needed, [1, 1, 2, 3, 3, 3]);
});

test('nodes of several releases write what all of them read, and none follows a log that it cannot read', () => {
  assert.is(formatReadByAll([]), RECORD_FORMAT);
  assert.is(formatReadByAll([{ format: RECORD_FORMAT + 1 }, { format: 2 }]), 2);
  assert.is(formatReadByAll([{ format: RECORD_FORMAT + 1 }]), RECORD_FORMAT);
  assert.is(refusalOfFormat(RECORD_FORMAT), null);
  assert.match(refusalOfFormat(RECORD_FORMAT + 1)!, /^the group writes records of format \d+, .*: install a newer/);
});

test.run();

/** The bytes of a slot in etcd, which every release must read, and what is refused there. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { Redaction, Slot } from '../../../src/group/ports/shared-log.js';
import { limits } from '../../../src/limits.js';
import { decodeSlot, encodeSlot, partsOf, SlotCipher } from '../../../src/store/etcd/slot-codec.js';
import { salt } from '../../support/given.js';
import { isDamageOf } from '../log-contract.js';

const redactions: readonly Redaction[] = [
  { type: 'records', firstSeq: 5, seqs: [5, 260] },
  { type: 'bytes', firstSeq: 2 ** 40, bytes: Uint8Array.of(7, 8) },
];
const slot: Slot = { firstSeq: 300, bytes: Uint8Array.of(1, 2, 3), redactions };
/** The plain text of `slot`, as the file header of the codec describes it. */
const plain = Buffer.from(
  '01' +
    '03000000010203' +
    '02000000' +
    '010000000000001440' +
    '0200000000000000ff000000' +
    '02000000000000' +
    '7042' +
    '020000000708',
  'hex',
);

test('a slot has the described bytes, and comes back from them', () => {
  assert.equal(encodeSlot(slot), { slot: plain, parts: [] });
  assert.equal(decodeSlot(300, plain), slot);
  assert.is(partsOf(plain), 0);
});

test('a malformed slot is damage that names its record', () => {
  const changed = (at: number, byte: number) =>
    Buffer.concat([plain.subarray(0, at), Buffer.of(byte), plain.subarray(at + 1)]);
  const malformed = {
    'another kind of slot': changed(0, 2),
    'a batch beyond the end': changed(1, 200),
    'a redaction less': changed(8, 1),
    'another kind of redaction': changed(12, 3),
    'bytes beyond the end': changed(plain.length - 6, 3),
    'a byte more': Buffer.concat([plain, Buffer.of(0)]),
    'a byte less': plain.subarray(0, -1),
    nothing: Buffer.alloc(0),
  };
  for (const [what, bytes] of Object.entries(malformed))
    assert.throws(() => decodeSlot(300, bytes), isDamageOf('the slot at record 300 is'), what);
});

test('a slot is cut into parts only if too long for one value, and refused if too long for all', () => {
  const { slotPartBytes, slotPartsMax } = limits;
  // Beside the batch a whole slot has its kind, the length of the batch and the number of redactions.
  const encodedWith = (length: number) =>
    encodeSlot({ firstSeq: 1, bytes: new Uint8Array(length - 9).fill(3), redactions: [] });
  assert.equal(encodedWith(slotPartBytes).parts, []);
  const { slot: head, parts } = encodedWith(slotPartBytes + 1);
  assert.equal([head.toString('hex'), partsOf(head)], ['0202000000', 2]);
  assert.equal(
    parts.map(({ length }) => length),
    [slotPartBytes, 1],
  );
  assert.is(decodeSlot(1, Buffer.concat(parts)).bytes.length, slotPartBytes - 8);
  assert.is(encodedWith(slotPartBytes * slotPartsMax).parts.length, slotPartsMax);
  assert.throws(() => encodedWith(slotPartBytes * slotPartsMax + 1), /is too long for etcd/);
});

test('a value is read under its own key, group and salt alone', () => {
  const [key, other] = [Buffer.from('/a/log/1'), Buffer.from('/a/log/2')];
  const cipher = new SlotCipher(salt, 'g');
  const sealed = cipher.seal(key, plain);
  assert.is(sealed.length, 1 + 12 + plain.length + 16);
  assert.not.equal(sealed, cipher.seal(key, plain), 'a nonce is used once');
  assert.equal(cipher.open(key, sealed), plain);
  const written = Buffer.from(
    '01230b4a473a8c846967527ac44310cb4dfa092fa3e3f27e51d618b8a447d9717a54037c79cbb04c010a53f800fb0f0fb220dff652d0fed0afd868',
    'hex',
  );
  assert.is(cipher.open(key, written).toString(), 'as an earlier release wrote it');
  const empty = cipher.seal(key, Buffer.alloc(0));
  assert.is(cipher.open(key, empty).length, 0);
  const flipped = Buffer.from(sealed);
  flipped[13]! ^= 1;
  const newer = Buffer.concat([Buffer.of(2), sealed.subarray(1)]);
  for (const [open, message] of [
    [() => cipher.open(other, sealed), 'etcd: /a/log/2 is damaged, or was written with another GROUP_SALT'],
    [() => new SlotCipher(salt, 'h').open(key, sealed), 'is damaged'],
    [() => new SlotCipher(Buffer.from('another salt'), 'g').open(key, sealed), 'is damaged'],
    [() => cipher.open(key, flipped), 'is damaged'],
    [() => cipher.open(key, empty.subarray(1)), 'etcd: /a/log/1 is cut'],
    [() => cipher.open(key, newer), 'has the format 2, written by a newer release'],
  ] as const)
    assert.throws(open, isDamageOf(message), message);
});

test.run();

/**
 * Encodes a slot as its value in etcd, encrypted with AES-256-GCM under a key that is derived from the group's salt, so
 * that etcd's files never contain a readable hash. The slot's key in etcd is authenticated too: a value that was moved
 * to another key is refused.
 *
 * Value: u8 version, 12 bytes nonce, ciphertext, 16 bytes tag. Plain text: u8 kind (1: whole, 2: cut into parts). A
 * whole slot continues with u32 length and the batch, u32 number of redactions, and for each redaction u8 kind, f64
 * first sequence number, u32 count, and as many u32 (distances from the first) or bytes. A cut slot continues with u32
 * number of its parts, whose plain texts together are that of a whole slot. Little-endian.
 */
import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';
import type { Redaction, Slot } from '../../group/ports/shared-log.js';
import { DamagedError } from '../../group/ports/storage.js';
import { limits } from '../../limits.js';

const VERSION = 1;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const HEAD_BYTES = 1 + NONCE_BYTES;
const WHOLE = 1;
const CUT = 2;
const RECORDS = 1;
const BYTES = 2;

export class SlotCipher {
  readonly #key: Buffer;

  constructor(salt: Uint8Array, groupId: string) {
    this.#key = Buffer.from(hkdfSync('sha256', salt, Buffer.alloc(0), `peer trust federation slots\0${groupId}`, 32));
  }

  seal(key: Buffer, plain: Uint8Array): Buffer {
    const nonce = randomBytes(NONCE_BYTES);
    const cipher = createCipheriv('aes-256-gcm', this.#key, nonce);
    cipher.setAAD(key);
    const sealed = cipher.update(plain);
    return Buffer.concat([Buffer.of(VERSION), nonce, sealed, cipher.final(), cipher.getAuthTag()]);
  }

  /** Decrypts a value. Throws `DamagedError` if it was not written under `key` by a node with the same salt. */
  open(key: Buffer, value: Buffer): Buffer {
    if (value.length < HEAD_BYTES + TAG_BYTES) throw new DamagedError(`etcd: ${key.toString()} is cut`);
    if (value[0] !== VERSION) {
      throw new DamagedError(`etcd: ${key.toString()} has the format ${value[0]}, written by a newer release`);
    }
    const decipher = createDecipheriv('aes-256-gcm', this.#key, value.subarray(1, HEAD_BYTES));
    decipher.setAAD(key);
    decipher.setAuthTag(value.subarray(value.length - TAG_BYTES));
    try {
      const plain = decipher.update(value.subarray(HEAD_BYTES, value.length - TAG_BYTES));
      return Buffer.concat([plain, decipher.final()]);
    } catch (error) {
      throw new DamagedError(`etcd: ${key.toString()} is damaged, or was written with another GROUP_SALT`, {
        cause: error,
      });
    }
  }
}

/** If the plain text is too long for one value, `slot` only contains the number of its `parts`. */
export function encodeSlot({ bytes, redactions }: Slot): { readonly slot: Buffer; readonly parts: readonly Buffer[] } {
  const head = Buffer.allocUnsafe(5);
  head[0] = WHOLE;
  head.writeUInt32LE(bytes.length, 1);
  const whole = Buffer.concat([head, bytes, u32(redactions.length), ...redactions.map(encodeRedaction)]);
  if (whole.length <= limits.slotPartBytes) return { slot: whole, parts: [] };
  const parts: Buffer[] = [];
  for (let at = 0; at < whole.length; at += limits.slotPartBytes) {
    parts.push(whole.subarray(at, at + limits.slotPartBytes));
  }
  if (parts.length > limits.slotPartsMax) throw new Error(`a turn of ${whole.length} bytes is too long for etcd`);
  return { slot: Buffer.concat([Buffer.of(CUT), u32(parts.length)]), parts };
}

/** Returns the number of parts that a slot is cut into; 0 for a whole slot. */
export function partsOf(plain: Buffer): number {
  return plain[0] === CUT ? plain.readUInt32LE(1) : 0;
}

/** Decodes the plain text of a whole slot, or of its parts together. Throws `DamagedError` if it is malformed. */
export function decodeSlot(firstSeq: number, plain: Buffer): Slot {
  try {
    if (plain[0] !== WHOLE) throw new RangeError('unknown kind');
    const length = plain.readUInt32LE(1);
    let at = 5 + length;
    const bytes = new Uint8Array(plain.subarray(5, at));
    const redactions: Redaction[] = [];
    const count = plain.readUInt32LE(at);
    at += 4;
    for (let i = 0; i < count; i++) {
      const { redaction, end } = decodeRedaction(plain, at);
      redactions.push(redaction);
      at = end;
    }
    if (at !== plain.length) throw new RangeError('length differs');
    return { firstSeq, bytes, redactions };
  } catch (error) {
    throw new DamagedError(`etcd: the slot at record ${firstSeq} is malformed`, { cause: error });
  }
}

function encodeRedaction(redaction: Redaction): Buffer {
  const head = Buffer.allocUnsafe(13);
  head[0] = redaction.type === 'records' ? RECORDS : BYTES;
  head.writeDoubleLE(redaction.firstSeq, 1);
  if (redaction.type === 'bytes') {
    head.writeUInt32LE(redaction.bytes.length, 9);
    return Buffer.concat([head, redaction.bytes]);
  }
  head.writeUInt32LE(redaction.seqs.length, 9);
  return Buffer.concat([head, ...redaction.seqs.map((seq) => u32(seq - redaction.firstSeq))]);
}

function decodeRedaction(plain: Buffer, at: number): { readonly redaction: Redaction; readonly end: number } {
  const kind = plain.readUInt8(at);
  const firstSeq = plain.readDoubleLE(at + 1);
  const count = plain.readUInt32LE(at + 9);
  const from = at + 13;
  if (kind === BYTES) {
    const end = from + count;
    return { redaction: { type: 'bytes', firstSeq, bytes: new Uint8Array(plain.subarray(from, end)) }, end };
  }
  if (kind !== RECORDS) throw new RangeError('unknown kind');
  const seqs: number[] = [];
  for (let i = 0; i < count; i++) seqs.push(firstSeq + plain.readUInt32LE(from + i * 4));
  return { redaction: { type: 'records', firstSeq, seqs }, end: from + count * 4 };
}

function u32(value: number): Buffer {
  const bytes = Buffer.allocUnsafe(4);
  bytes.writeUInt32LE(value);
  return bytes;
}

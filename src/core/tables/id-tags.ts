/** Computes the keyed tags under which a group remembers event ids. */
import { hash } from 'node:crypto';
import { ID_TAG_BYTES, type IdTag, TAG_WORDS, writeTag } from '../columns/packed-keys.js';

export function idTagOf(key: string, eventId: string): IdTag {
  return hash('sha256', key + eventId, 'binary').slice(0, ID_TAG_BYTES);
}

export class IdTags {
  readonly key: string;

  /** `salt` is not stored. */
  constructor(secret: Uint8Array, salt: Uint8Array) {
    this.key = hash('sha256', Buffer.concat([secret, salt]), 'hex');
  }

  of(eventId: string): IdTag {
    return idTagOf(this.key, eventId);
  }

  writeAll(eventIds: readonly string[], tags: Uint16Array): void {
    for (const [i, eventId] of eventIds.entries()) writeTag(this.of(eventId), tags, i * TAG_WORDS);
  }
}

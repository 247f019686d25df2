/** The keyed tags under which a group remembers the ids of events. */
import { hash } from 'node:crypto';
import { ID_TAG_BYTES, type IdTag, writeTag } from './event-ids.js';
import { ManyHashes } from './many-hashes.js';
import { LANES } from './sha256-lanes.js';
import { Texts } from './texts.js';
import { copyTag, KEY_WORDS, TAG_WORDS } from './words.js';

/** 16-bit words of a digest. */
const DIGEST_WORDS = 2 * KEY_WORDS;

/** Reused from call to call. */
const texts = new Texts();

export class IdTags {
  readonly #key: string;
  readonly #hashes: ManyHashes;

  /** `salt` is never kept. */
  constructor(secret: Uint8Array, salt: Uint8Array) {
    this.#key = hash('sha256', Buffer.concat([secret, salt]), 'hex');
    this.#hashes = new ManyHashes(Buffer.from(this.#key), Buffer.alloc(0));
  }

  of(eventId: string): IdTag {
    return hash('sha256', this.#key + eventId, 'binary').slice(0, ID_TAG_BYTES);
  }

  /** Writes the tags of these ids, `TAG_WORDS` each, into a column from its beginning on. */
  writeAll(eventIds: readonly string[], tags: Uint16Array): void {
    // Fewer than there are lanes take as long as all lanes do.
    if (eventIds.length < LANES) {
      for (const [i, eventId] of eventIds.entries()) writeTag(this.of(eventId), tags, i * TAG_WORDS);
      return;
    }
    texts.clear();
    const digests = new Uint32Array(eventIds.length * KEY_WORDS);
    for (const [i, eventId] of eventIds.entries()) {
      texts.push(eventId);
      this.#hashes.add(texts, i, digests, i * KEY_WORDS);
    }
    this.#hashes.finish(digests);
    const words = new Uint16Array(digests.buffer);
    for (let i = 0; i < eventIds.length; i++) copyTag(words, i * DIGEST_WORDS, tags, i * TAG_WORDS);
  }
}

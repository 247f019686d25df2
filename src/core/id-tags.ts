/** The keyed tags under which a group remembers the ids of events. */
import { hash } from 'node:crypto';
import { ID_TAG_BYTES, type IdTag } from './event-ids.js';
import { ManyHashes } from './many-hashes.js';
import { LANES } from './sha256-lanes.js';
import { Texts } from './texts.js';
import { KEY_BYTES, KEY_WORDS } from './words.js';

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

  ofAll(eventIds: readonly string[]): IdTag[] {
    // Fewer than there are lanes take as long as all lanes do.
    if (eventIds.length < LANES) return eventIds.map((eventId) => this.of(eventId));
    texts.clear();
    const digests = new Uint32Array(eventIds.length * KEY_WORDS);
    for (const [i, eventId] of eventIds.entries()) {
      texts.push(eventId);
      this.#hashes.add(texts, i, digests, i * KEY_WORDS);
    }
    this.#hashes.finish(digests);
    const text = Buffer.from(digests.buffer).toString('latin1');
    return eventIds.map((_, i) => text.slice(i * KEY_BYTES, i * KEY_BYTES + ID_TAG_BYTES));
  }
}

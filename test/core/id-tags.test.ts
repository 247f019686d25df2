/** Tags of many event ids at once are those of each alone, whatever else was hashed in between. */
import { createHash } from 'node:crypto';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { writeTag } from '../../src/core/event-ids.js';
import { IdTags } from '../../src/core/id-tags.js';
import { Pseudonyms } from '../../src/core/pseudonym.js';
import { TAG_WORDS } from '../../src/core/words.js';
import { limits } from '../../src/limits.js';
import { Random } from '../support/random.js';
import { textsOf } from '../support/texts.js';

const secret = Buffer.alloc(32, 7);
const salt = Buffer.from('a salt of some bytes');

test('a tag is the beginning of a digest that is keyed by secret and salt', () => {
  const key = createHash('sha256').update(secret).update(salt).digest('hex');
  const digest = createHash('sha256').update(key).update('event-1').digest();
  assert.is(new IdTags(secret, salt).of('event-1'), digest.toString('latin1', 0, 10));
});

test('ids of every length, and other hashes in between', () => {
  const random = new Random(5);
  const tags = [new IdTags(secret, salt), new IdTags(salt, secret)];
  const pseudonyms = new Pseudonyms(salt.toString(), 'privacy-first');
  const subject = pseudonyms.ofAll(textsOf(['player']))!;
  for (let round = 0; round < 500; round++) {
    const some = tags[random.below(2)]!;
    const ids = Array.from({ length: random.below(40) }, () => {
      const length = 1 + random.below(random.below(2) === 0 ? 40 : limits.eventIdLength);
      return String(random.below(1e9)).padStart(length, 'event:');
    });
    const together = new Uint16Array(ids.length * TAG_WORDS);
    some.writeAll(ids, together);
    const alone = new Uint16Array(together.length);
    for (const [i, id] of ids.entries()) writeTag(some.of(id), alone, i * TAG_WORDS);
    assert.equal(together, alone);
    if (random.below(3) === 0) assert.equal(pseudonyms.ofAll(textsOf(['player'])), subject);
  }
});

test.run();

/** The tag of an event id is keyed by the node's secret and the group's salt. */
import { createHash } from 'node:crypto';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { TAG_WORDS, writeTag } from '../../../src/core/columns/packed-keys.js';
import { IdTags } from '../../../src/core/tables/id-tags.js';

const secret = Buffer.alloc(32, 7);
const salt = Buffer.from('a salt of some bytes');

test('a tag is the beginning of a digest that is keyed by secret and salt', () => {
  const key = createHash('sha256').update(secret).update(salt).digest('hex');
  const digest = createHash('sha256').update(key).update('event-1').digest();
  assert.is(new IdTags(secret, salt).of('event-1'), digest.toString('latin1', 0, 10));
});

test('tags of many ids are written side by side in the order of the ids', () => {
  const idTags = new IdTags(secret, salt);
  const ids = ['event-1', '\u00e9vent', 'x'.repeat(128)];
  const together = new Uint16Array(ids.length * TAG_WORDS);
  idTags.writeAll(ids, together);
  const alone = new Uint16Array(together.length);
  for (const [i, id] of ids.entries()) writeTag(idTags.of(id), alone, i * TAG_WORDS);
  assert.equal(together, alone);
});

test.run();

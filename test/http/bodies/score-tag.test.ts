import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { TrustView } from '../../../src/group/api.js';
import { ScoreTag, scoreJson, scoresJson } from '../../../src/http/bodies/score-json.js';
import { textsOf } from '../../support/texts.js';

const hourMs = 3_600_000;
const view: TrustView = {
  score: 37.123,
  confidence: 0.81234,
  verdict: 'suspicious',
  eventCount: 5,
  updatedAt: 491_000 * hourMs,
  isCoarse: false,
};

function tagOf(...views: readonly (TrustView | undefined)[]): string {
  const tag = new ScoreTag();
  scoresJson({ texts: textsOf(views.map(() => 'p')), isPlain: true }, views, tag);
  return tag.text;
}

test('a tag needs no escape and is the same for the same answer', () => {
  assert.match(tagOf(view), /^[\w-]+$/);
  assert.is(tagOf(view), tagOf({ ...view }));
  assert.match(tagOf(), /^[\w-]+$/);
});

test('a change of a published figure changes the tag, and no other change does', () => {
  const others: TrustView[] = [
    { ...view, score: 37.124 },
    { ...view, isCoarse: true },
    { ...view, score: 37.13 },
    { ...view, score: 0 },
    { ...view, score: 100 },
    { ...view, confidence: 0.812341 },
    { ...view, confidence: 0.8124 },
    { ...view, verdict: 'neutral' },
    { ...view, verdict: 'untrusted' },
    { ...view, eventCount: 6 },
    { ...view, eventCount: 5 + 2 ** 27 },
    { ...view, updatedAt: view.updatedAt + hourMs - 1 },
    { ...view, updatedAt: view.updatedAt + hourMs },
  ];
  for (const other of others) {
    const [text, otherText] = [view, other].map((one) => scoreJson('p', one, new ScoreTag()));
    const isSame = text === otherText;
    assert.is(tagOf(other) === tagOf(view), isSame, JSON.stringify(other));
  }
});

test('the tag of a match depends on its players, their order and the unknown ones', () => {
  const other = { ...view, score: 50 };
  const tags = [
    tagOf(view, other),
    tagOf(other, view),
    tagOf(view),
    tagOf(view, undefined),
    tagOf(undefined, view),
    tagOf(view, view),
    tagOf(undefined),
    tagOf(undefined, undefined),
    tagOf(),
  ];
  assert.is(new Set(tags).size, tags.length);
});

test('a score that is one step higher is not taken for full confidence in the lower one', () => {
  assert.is.not(tagOf({ ...view, score: 12.34, confidence: 1 }), tagOf({ ...view, score: 12.35, confidence: 0 }));
});

test('no two of 300,000 different answers have the same tag; 32 bits would give ten collisions', () => {
  const tags = new Set<string>();
  const count = 300_000;
  for (let i = 0; i < count; i++) {
    const score = (i % 10_001) / 100;
    const updatedAt = (490_000 + (i % 997)) * hourMs;
    tags.add(tagOf({ ...view, score, confidence: Math.floor(i / 10_001) / 10_000, eventCount: i % 1_013, updatedAt }));
  }
  assert.is(tags.size, count);
});

test('the tag takes in all that an answer shows: a new member has to be taken in there, too', () => {
  const names = ['player_id', 'score', 'confidence', 'verdict', 'event_count', 'updated_at'];
  assert.equal(Object.keys(JSON.parse(scoreJson('p', view, new ScoreTag()))), names);
});

test.run();

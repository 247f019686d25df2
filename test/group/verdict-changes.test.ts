/** Players come from the replica in columns, and are read one by one. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { verdicts } from '../../src/core/vocabulary.js';
import { ALLOWED, playersIn } from '../../src/group/verdict-changes.js';

test('each player in columns has its own figures and verdict, and is allowed only if marked so', () => {
  const players = verdicts.flatMap((verdict, i) => [false, true].map((allowed) => ({ verdict, allowed, i })));
  const subjects = players.map((_, n) => n.toString(16).padStart(64, '0'));
  const columns = {
    subjects: subjects.join(''),
    scores: Uint16Array.from(players, (_, n) => 100 * n + 25),
    confidences: Uint16Array.from(players, (_, n) => 1_000 * n + 500),
    verdicts: Uint8Array.from(players, ({ i, allowed }) => i + (allowed ? ALLOWED : 0)),
  };
  const expected = players.map(({ verdict, allowed }, n) => {
    return { subject: subjects[n], score: n + 0.25, confidence: n / 10 + 0.05, verdict, allowed };
  });
  const near = ({ confidence, ...player }: (typeof expected)[number]) => ({
    ...player,
    confidence: confidence.toFixed(4),
  });
  assert.equal(playersIn(columns).map(near), expected.map(near));
});

test.run();

/** Bodies of scores are the JSON of what the contract says, whatever their ids and figures. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { verdicts } from '../../../src/core/vocabulary.js';
import type { TrustView } from '../../../src/group/api.js';
import { plainText } from '../../../src/http/bodies/bodies.js';
import { explainedScoreJson, ScoreTag, scoreJson, scoresJson } from '../../../src/http/bodies/score-json.js';
import { type MatchIds, readIds } from '../../../src/http/request/request-parameters.js';
import { limits } from '../../../src/limits.js';
import { textsOf } from '../../support/texts.js';
import { assertIsJsonOf } from './ascii-json.js';
import { scoreBody } from './score-body.js';

const ids = ['p', 'a"b', 'a\\b', 'Žofie', 'a\u2028b', '\u0000', '\u007f', '🎮', '</script>', ' ', '7656119000000000'];

/** Every score and every confidence that is shown, once each. */
function viewOf(i: number) {
  return {
    score: i / 100 + (i % 7) / 1_000,
    confidence: i / 10_000 - (i % 5) / 100_000,
    eventCount: i % 13 === 0 ? i * 1e6 : i,
    verdict: verdicts[i % 4]!,
    updatedAt: i * 3_600_000,
    isCoarse: false,
  };
}

test('one player, whatever the id and the figures', () => {
  for (let i = 0; i <= 10_000; i++) {
    const id = ids[i % ids.length]!;
    assertIsJsonOf(scoreBody(id, viewOf(i)), scoreJson(id, viewOf(i), new ScoreTag()));
  }
});

test('an explained score is the score with its explanation behind it', () => {
  const explanation = { reasons: ['„é“'], peers: 2, witnesses: 2, two_sided: true };
  const explain = { ...explanation, half_life_days: 30, ban_half_life_days: 180, weights_based_on_seq: 9 };
  for (const id of ids) {
    assertIsJsonOf({ ...scoreBody(id, viewOf(77)), explain }, explainedScoreJson(id, viewOf(77), explain));
  }
});

test('a match of known players and others', () => {
  for (let i = 0; i < 1_000; i++) {
    const asked = Array.from({ length: 1 + (i % limits.matchIdsMax) }, (_, k) => ids[(i + k * 3) % ids.length]!);
    if (i % 2 === 0)
      for (const [k, id] of asked.entries()) asked[k] = plainText.test(id) ? id : `plain-${k}`.repeat(1 + (k % 20));
    const trusts = asked.map((_, k) => ((i + k) % 3 === 0 ? undefined : viewOf((i * 7 + k) % 10_001)));
    assertIsJsonOf(matchBody(asked, trusts), textOf(idsOf(asked), trusts));
  }
});

test('a match of the longest ids, each character as long as JSON can make it', () => {
  for (const character of ['🎮', '\u2028', '\u0000', '"']) {
    const asked = Array.from({ length: limits.matchIdsMax }, () => character.repeat(limits.playerIdLength));
    const trusts = asked.map(() => ({ ...viewOf(9_999), eventCount: Number.MAX_SAFE_INTEGER }));
    assertIsJsonOf(matchBody(asked, trusts), textOf(idsOf(asked), trusts));
    assertIsJsonOf(matchBody(['p'], [undefined]), textOf(idsOf(['p']), [undefined]));
  }
  assert.is(textOf(idsOf([]), []), '{"data":[]}');
});

test('ids as a query has them, as many and as long as one may be, after others of another kind', () => {
  const hashes = Array.from({ length: limits.matchIdsMax }, (_, i) => String(i).padStart(64, 'a'));
  // With their commas 4,096 bytes, for which there is room at first, and the last ends within eight.
  const exact = Array.from({ length: 128 }, (_, i) => 'x'.repeat(i === 0 ? 32 : 31));
  for (const asked of [['🎮', '"', 'ÿ'.repeat(9)], exact, ['é'.repeat(128), 'a'], ['b'], hashes, ['c', 'd']]) {
    const ids = readIds(`ids=${asked.map(encodeURIComponent).join()}`);
    assert.ok(ids.ok);
    const trusts = asked.map((_, i) => (i % 2 === 0 ? viewOf(i) : undefined));
    assertIsJsonOf(matchBody(asked, trusts), textOf(ids.value, trusts));
  }
});

/** As a match gives them: whether JSON may take them as they are is looked at once for all. */
function idsOf(asked: readonly string[]) {
  return { texts: textsOf(asked), isPlain: asked.every((id) => plainText.test(id)) };
}

function textOf(...match: [ids: MatchIds, trusts: readonly (TrustView | undefined)[]]): string {
  return scoresJson(...match, new ScoreTag());
}

function matchBody(asked: readonly string[], trusts: readonly (ReturnType<typeof viewOf> | undefined)[]) {
  return {
    data: asked.map((id, k) => {
      const trust = trusts[k];
      return trust === undefined ? { player_id: id, code: 'player_not_found' } : scoreBody(id, trust);
    }),
  };
}

test.run();

import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { characterViolation, gameId, isEventId, peerName, playerId } from '../../src/validation/identifiers.js';
import { validatorOf } from '../../src/validation/validator.js';

const blank = 'must not begin or end with a blank';
const control = 'must not contain a control character; found ';
const invisible = 'must not contain an invisible character; found ';

const faults: readonly (readonly [text: string, fault: string])[] = [
  [' ', blank],
  [' 76561198000000001', blank],
  ['76561198000000001 ', blank],
  ['\u00a0a', blank],
  ['a\u3000', blank],
  ['a\u2028', blank],
  ['a\u0000b', `${control}U+0000`],
  ['a\n', `${control}U+000A`],
  ['\ta', `${control}U+0009`],
  ['a\u007fb', `${control}U+007F`],
  ['a\u0085b', `${control}U+0085`],
  ['a\u200bb', `${invisible}U+200B`],
  ['a\u202eb', `${invisible}U+202E`],
  ['\ufeffa', `${invisible}U+FEFF`],
  ['a\u00adb', `${invisible}U+00AD`],
  ['a\u{e0041}b', `${invisible}U+E0041`],
  ['a\ud83d', 'must not contain half of a surrogate pair; found U+D83D'],
  ['\ude00\ud83d', 'must not contain half of a surrogate pair; found U+DE00'],
];

test('an id with a blank at an end, or a control or an invisible character, is refused with the reason', () => {
  for (const [text, fault] of faults) {
    assert.is(characterViolation(text), fault, JSON.stringify(text));
    for (const [schema, name] of [
      [playerId, 'player_id'],
      [gameId, 'game_id'],
      [peerName, 'peer_name'],
    ] as const) {
      const outcome = validatorOf(schema, name)(text);
      assert.equal(
        outcome.ok || [outcome.text, outcome.details],
        [`${name} ${fault}`, { field: '', violation: 'pattern' }],
        JSON.stringify(text),
      );
    }
  }
});

test('blanks inside, letters of every script and emoji of one code point are taken', () => {
  for (const text of ['a b', 'é', 'e\u0301', '玩家', 'لاعب', '\u{1F600}', 'a', '-', "o'neil", '\\', '#', 'a\u2028b']) {
    assert.is(characterViolation(text), undefined, text);
  }
});

test('a game id holds no comma, a player id and a name may', () => {
  const outcome = validatorOf(gameId, 'game_id')('arena, chess');
  assert.is(outcome.ok || outcome.text, 'game_id must not contain a comma; each game is a separate item');
  for (const schema of [playerId, peerName]) assert.ok(validatorOf(schema)('a, b').ok);
});

test('an event id is 1 to 128 of letters, digits and . _ : -', () => {
  for (const text of ['a', 'A9._:-', 'x'.repeat(128)]) assert.ok(isEventId(text), text);
  for (const text of ['', 'x'.repeat(129), 'a b', 'ä', 'a\n']) assert.not(isEventId(text), text);
});

test('a long text of a caller does not slow the patterns down', () => {
  const before = process.cpuUsage();
  const validate = validatorOf({ type: 'string', pattern: gameId.pattern });
  for (const text of [' '.repeat(1 << 20), `${'a '.repeat(1 << 19)},`, `${'a'.repeat(1 << 20)}\u0000`]) validate(text);
  // Measures the processor's time, which other work on the machine does not lengthen.
  const { user, system } = process.cpuUsage(before);
  assert.ok(user + system < 1_000_000, `${user + system} us`);
});

test.run();

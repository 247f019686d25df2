import { generateKeyPairSync } from 'node:crypto';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import {
  characterViolation,
  disputeText,
  gameId,
  ignorable,
  isEventId,
  operatorPatterns,
  originName,
  peerName,
  playerId,
  publicKey,
  reference,
} from '../../src/validation/identifiers.js';
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

test('a name holds no letter that is drawn as nothing, and more than such letters is wanted of any text', () => {
  const ignorableText = new RegExp(`[${ignorable}]`, 'u');
  for (let point = 0; point <= 0x10ffff; point++) {
    const text = String.fromCodePoint(point);
    if (/\p{Cf}/u.test(text)) continue;
    const others = [0x2800, 0xfffe, 0xffff, 0x16fe4, 0x1d159];
    const isUnseen = /\p{Default_Ignorable_Code_Point}/u.test(text) || others.includes(point);
    if (ignorableText.test(text) !== isUnseen) assert.unreachable(`U+${point.toString(16)}`);
  }
  for (const text of ['\u3164', '\u115f\u1160', '\u2800', 'Arena\u3164', 'a\ufe0f']) {
    for (const schema of [peerName, gameId, originName, reference]) {
      const outcome = validatorOf(schema, 'name')(text);
      assert.match(outcome.ok ? '' : String(outcome.text), `name ${invisible}U+`);
    }
  }
  const patterns = [disputeText.pattern, operatorPatterns.moreThanBlanks, operatorPatterns.oneLine];
  for (const pattern of patterns) {
    const validate = validatorOf({ type: 'string', pattern });
    for (const text of ['\u3164', ' \u2800 ']) assert.not(validate(text).ok, JSON.stringify(text));
    for (const text of ['a', ' a ', '\u2764\ufe0f']) assert.ok(validate(text).ok, JSON.stringify(text));
  }
});

test('the text of a dispute holds no control character and nothing that shows letters in another order', () => {
  const validate = validatorOf(disputeText, 'text');
  for (const text of ['a\u0007b', 'the report of \u202eateB\u202c', '\u202dateB']) assert.not(validate(text).ok);
  // Marks of languages that are written from right to left.
  for (const text of ['\u05d0\u200f!', '\u2067\u05d0\u2069\nAlpha']) assert.ok(validate(text).ok);
});

test('a public key is a point of the curve that has no small order', () => {
  const validate = validatorOf(publicKey, 'public_key');
  const key = (hex: string) => validate(Buffer.from(hex.padEnd(64, '0'), 'hex').toString('base64url'));
  const keys = Array.from({ length: 20 }, () => generateKeyPairSync('ed25519').publicKey.export({ format: 'jwk' }).x!);
  for (const one of keys) assert.ok(validate(one).ok, one);
  const good = keys[0]!;
  for (const other of ['', good.slice(1), `${good}=`, `${good.slice(0, 42)}B`, `${good.slice(0, 42)}+`, 7, null])
    assert.not(validate(other).ok, `${other} is not 32 bytes in base64url`);
  for (const weak of [
    '00',
    '01',
    `ec${'ff'.repeat(30)}7f`,
    '26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05',
    'c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a',
    // Not on the curve, and not below its prime.
    '02',
    'ff'.repeat(32),
  ]) {
    const outcome = key(weak);
    assert.match(outcome.ok ? '' : String(outcome.text), 'public_key must be a key whose point is on the curve', weak);
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

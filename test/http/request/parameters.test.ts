import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { Outcome } from '../../../src/errors.js';
import {
  decodeCursor,
  encodeCursor,
  type MatchIds,
  rawIdRefusal,
  readCursor,
  readEventId,
  readExplain,
  readIds,
  readLimit,
  readPage,
  readPlayerId,
  readSubjectHash,
} from '../../../src/http/request/request-parameters.js';
import { canonicalForm } from '../../../src/player-ids/kinds.js';

const read = <T>(outcome: Outcome<T>): T | string => (outcome.ok ? outcome.value : outcome.code);

test('a limit is a whole number from 1 to 200, and 50 if absent', () => {
  assert.equal(['', 'limit=1', 'limit=200&other=x'].map(readLimit).map(read), [50, 1, 200]);
  for (const value of ['', '0', '201', '-1', '1.5', '1e2', 'ten', '0x10', ' 1', '+1', '99999999999'])
    assert.is(read(readLimit(`limit=${value}`)), 'invalid_parameter', value);
});

test('explain takes true and false only', () => {
  const taken = ['', 'explain=false', 'explain=true', 'explain=tru%65'];
  assert.equal(taken.map(readExplain).map(read), [false, false, true, true]);
  for (const query of ['explain', 'explain=', 'explain=1', 'explain=TRUE', 'explain=true&explain=true'])
    assert.is(read(readExplain(query)), 'invalid_parameter', query);
});

test('ids are decoded and then split at commas; an id with a comma is an id of its own', () => {
  assert.equal(idsOf('ids=a,b'), ['a', 'b']);
  assert.equal(idsOf('ids=a%2Cb,c+d,a%2Cb'), ['a', 'b', 'c+d', 'a', 'b']);
  assert.equal(idsOf('ids=a%2Cb&id=c%2Cd&id=e'), ['a', 'b', 'c,d', 'e']);
  assert.equal(idsOf('id=c%2Cd&ids=a'), ['a', 'c,d']);
  assert.equal(idsOf('id=only'), ['only']);
  const many = Array(128).fill('id=x').join('&');
  assert.is(idsOf(many).length, 128);
  assert.is(read(readIds(`${many}&ids=y`)), 'invalid_parameter');
  assert.equal(idsOf('ids=a"b,c\\d,%F0%9F%98%80,e'), ['a"b', 'c\\d', '\u{1F600}', 'e']);
  assert.equal(idsOf(`ids=${Array(128).fill('x').join(',')}`), Array(128).fill('x'));
  assert.equal(idsOf(`ids=${'%F0%9F%98%80'.repeat(128)},${'y'.repeat(128)}`), [
    '\u{1F600}'.repeat(128),
    'y'.repeat(128),
  ]);
});

test('whether JSON writes all ids of a match as they are', () => {
  const isPlain = (query: string) => (read(readIds(query)) as MatchIds).isPlain;
  assert.is(isPlain("ids=a,b.c:d-e_f~g'(h)"), true);
  for (const query of ['ids=a,b"', 'ids=a\\,b', 'ids=a,%22', 'ids=a,%41']) assert.is(isPlain(query), false, query);
});

function idsOf(query: string): string[] {
  const { texts } = read(readIds(query)) as MatchIds;
  return Array.from({ length: texts.count }, (_, i) => texts.text(i));
}

test('no ids, an empty one, too many or too long ones are refused', () => {
  const lists = ['', 'a,', ',a', 'a,,b', 'a%2C', '%zz', '%ff', Array(129).fill('x').join(',')];
  const long = ['x'.repeat(129), '%F0%9F%98%80'.repeat(129)];
  const queries = [...lists, ...long].map((ids) => `ids=${ids}`);
  for (const query of ['', 'id=', 'ids=a&id=', 'ids=a&id=%ff', 'ids=a&ids=b', ...queries])
    assert.is(read(readIds(query)), 'invalid_parameter', query);
});

test('too many ids that need decoding are refused, not cut to the ids that fit', () => {
  const escaped = (count: number) => `ids=${Array(count).fill('%61').join(',')}`;
  assert.equal(idsOf(escaped(128)), Array(128).fill('a'));
  for (const count of [129, 130, 500]) assert.is(read(readIds(escaped(count))), 'invalid_parameter', `${count}`);
});

test('a player id has 1 to 128 code points', () => {
  assert.is(read(readPlayerId('\u{1F600}'.repeat(128))), '\u{1F600}'.repeat(128));
  for (const id of ['', '\u{1F600}'.repeat(129), 'x'.repeat(129), 'x'.repeat(1000)]) {
    assert.is(read(readPlayerId(id)), 'invalid_parameter');
  }
});

test('a subject hash is 64 hexadecimal characters, lower-cased', () => {
  assert.is(read(readSubjectHash('AB'.repeat(32))), 'ab'.repeat(32));
  for (const hash of ['', 'ab', 'ab'.repeat(33), `${'ab'.repeat(31)}zz`]) {
    assert.is(read(readSubjectHash(hash)), 'invalid_parameter');
  }
});

test('a cursor comes back as the position it was made of', () => {
  for (const position of [0, 1, 12_345, Number.MAX_SAFE_INTEGER]) {
    assert.equal(decodeCursor('peers', encodeCursor('peers', position)), [position]);
  }
  assert.is(read(readCursor('', 'peers')), null);
  assert.equal(read(readCursor(`cursor=${encodeCursor('peers', 7)}`, 'peers')), [7]);
});

test('a cursor of another listing, or one that was touched, is refused', () => {
  const good = encodeCursor('peers', 7);
  const other = (text: string): string => Buffer.from(text).toString('base64url');
  const bad = [
    encodeCursor('audit', 7),
    `${good}=`,
    ` ${good}`,
    `${good}A`,
    good.toUpperCase(),
    '',
    '!',
    other('1:peers:-1'),
    other('1:peers:07'),
    other('2:peers:7'),
    other('1:peers:9007199254740993'),
    'A'.repeat(300),
  ];
  for (const text of bad) assert.is(read(readCursor(`cursor=${text}`, 'peers')), 'invalid_parameter', text);
});

test('each refusal of a parameter says what it must be, and names an id with forbidden characters', () => {
  const textOf = (outcome: Outcome<unknown>) => (outcome.ok ? 'ok' : [outcome.text, outcome.details]);
  const ids = 'ids must be percent-encoded player ids, separated by commas; each id may be a player id with commas';
  const control = 'must not contain a control character; found U+0001';
  const pattern = (parameter: string) => ({ parameter, violation: 'pattern' });
  const cases: readonly (readonly [outcome: Outcome<unknown>, text: string, details?: object])[] = [
    [readLimit('limit=0'), 'limit must be a whole number from 1 to 200'],
    [readLimit('limit=1&limit=2'), 'limit is given more than once'],
    [readLimit('limit=%ff'), 'limit is not percent-encoded UTF-8'],
    [readCursor('cursor=x', 'peers'), 'cursor must be a next_cursor of this listing'],
    [readCursor('cursor=x&cursor=x', 'peers'), 'cursor is given more than once'],
    [readIds('ids=a&ids=b'), 'ids is given more than once'],
    [readExplain('explain=1'), 'explain must be true or false'],
    [readIds(''), ids],
    [readIds('ids=%ff'), ids],
    [readIds(`ids=${'a,'.repeat(128)}a`), 'ids must have at most 128 ids'],
    [readIds('ids=a,b%01'), `id 2 of ids ${control}`, pattern('ids')],
    [readPlayerId(''), 'a player id has 1 to 128 code points'],
    [readPlayerId('a\u0001'), `a player id ${control}`, pattern('id')],
    [readEventId('a\u0001'), `an event id ${control}`, pattern('event_id')],
    [readSubjectHash('x'), 'a subject hash is 64 hexadecimal characters'],
  ];
  for (const [outcome, text, details] of cases) assert.equal(textOf(outcome), [text, details]);
});

test('an event id that no event can have is not found, and one with forbidden characters is invalid', () => {
  assert.is(read(readEventId('a.b_c:d-1')), 'a.b_c:d-1');
  for (const id of ['a b', 'ä', 'x'.repeat(129), `${'x'.repeat(128)}\u0001`]) {
    assert.is(read(readEventId(id)), 'event_not_found', id);
  }
  assert.is(read(readEventId(`${'x'.repeat(127)}\u0001`)), 'invalid_parameter');
});

test('a page has a limit and begins where its cursor says', () => {
  assert.equal(read(readPage('', 'peers')), { limit: 50, from: 0, places: null });
  const cursor = encodeCursor('events', 7, 9);
  assert.equal(read(readPage(`limit=3&cursor=${cursor}`, 'events')), { limit: 3, from: 7, places: [7, 9] });
  for (const query of ['limit=x', 'cursor=x', `cursor=${cursor}`]) {
    assert.is(read(readPage(query, 'peers')), 'invalid_parameter');
  }
  const listing = (...places: number[]) => decodeCursor('events', encodeCursor('events', ...places));
  assert.equal([listing(0), listing(1, 0), listing(2 ** 53)], [undefined, undefined, undefined]);
  assert.is(decodeCursor('peers', encodeCursor('peers', 1, 2)), undefined);
  assert.is(listing(...Array<number>(3_000).fill(7))?.length, 3_000);
  assert.is(listing(...Array<number>(4_000).fill(7)), undefined, 'longer than a cursor may be');
});

test('a group refuses raw ids with the form that it accepts: a hash, or the canonical forms of its kinds', () => {
  const identity = { groupId: 'local', environment: 'dev' } as const;
  assert.is(rawIdRefusal({ ...identity, identityMode: 'high-security' }).code, 'subject_hash_required');
  const { code, text, details } = rawIdRefusal({
    ...identity,
    identityMode: 'privacy-first',
    playerIdKinds: ['steam', 'minecraft'],
  });
  const canonical_forms = (['steam', 'minecraft'] as const).map((kind) => ({ kind, form: canonicalForm(kind) }));
  const forms = canonical_forms.map(({ kind, form }) => `${kind}: ${form}`).join('; ');
  assert.is(code, 'player_id_not_canonical');
  assert.is(text, `player_id must be a subject hash or canonical for one of the group's kinds; ${forms}`);
  assert.equal(details, { canonical_forms });
});

test.run();

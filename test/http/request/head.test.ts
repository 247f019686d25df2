import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { decodeText, headRefusal, isRequestId, parseTarget, rawQueryValues } from '../../../src/http/request/head.js';
import { limits } from '../../../src/limits.js';

test('a head up to the bound is taken, one byte more is refused', () => {
  const host = ['Host', 'x'];
  const room = limits.headBytes - 5 - 1;
  assert.is(headRefusal('/', [...host, 'A', 'a'.repeat(room - 1)]), undefined);
  assert.is(headRefusal('/', [...host, 'A', 'a'.repeat(room)]), 'headers_too_large');
  assert.is(headRefusal(`/${'a'.repeat(limits.headBytes - 6)}`, host), undefined);
  assert.is(headRefusal(`/${'a'.repeat(limits.headBytes - 5)}`, host), 'uri_too_long');
});

test('over the bound the larger part is refused', () => {
  const half = limits.headBytes / 2;
  assert.is(headRefusal('/'.repeat(half + 10), ['A', 'a'.repeat(half)]), 'uri_too_long');
  assert.is(headRefusal('/'.repeat(half), ['A', 'a'.repeat(half + 10)]), 'headers_too_large');
});

test('a target is split at the first question mark and not decoded', () => {
  assert.equal(parseTarget('/a%2Fb?x=1?y'), { path: '/a%2Fb', query: 'x=1?y' });
  assert.equal(parseTarget('/a'), { path: '/a', query: '' });
  assert.equal(parseTarget('/a?'), { path: '/a', query: '' });
});

test('the absolute form loses its authority, and an empty path is the root (RFC 9110, 4.2.3)', () => {
  assert.equal(parseTarget('http://host:80/a?b'), { path: '/a', query: 'b' });
  assert.equal(parseTarget('http://host'), { path: '/', query: '' });
  assert.equal(parseTarget('http://host?b'), { path: '/', query: 'b' });
  assert.equal(parseTarget('http://[::1]:80/a'), { path: '/a', query: '' });
  assert.is(parseTarget('http://'), undefined);
});

test('a target with a forbidden character is refused', () => {
  for (const url of ['', '*', 'a', '/a#b', '/ä', '/a b', '/a\u0000', '/a\u007f', 'http://[::1', 'ftp://host/a']) {
    assert.is(parseTarget(url), undefined, url);
  }
});

test('percent-decoding happens once, and only UTF-8 decodes', () => {
  assert.is(decodeText('a%2525'), 'a%25');
  assert.is(decodeText('a+b%2Bc'), 'a+b+c');
  assert.is(decodeText('%F0%9F%98%80'), '\u{1F600}');
  // A cut escape, a bad one, an overlong slash, half a surrogate pair, a byte that never occurs in UTF-8.
  for (const text of ['%', '%2', '%zz', '%c0%af', '%ed%a0%80', '%ff']) assert.is(decodeText(text), undefined, text);
});

test('query values come raw, in order, by their decoded name', () => {
  assert.equal(rawQueryValues('a=1&b=2&a=%33&a', 'a'), ['1', '%33', '']);
  assert.equal(rawQueryValues('%61=1', 'a'), ['1']);
  assert.equal(rawQueryValues('%zz=1&a=x=y', 'a'), ['x=y']);
  assert.equal(rawQueryValues('', 'a'), []);
});

test('a query of thousands of names that do not decode costs no exception for each', () => {
  const { decodeURIComponent: decode } = globalThis;
  let decoded = 0;
  globalThis.decodeURIComponent = (text) => {
    decoded++;
    return decode(text);
  };
  try {
    assert.equal(rawQueryValues(`${'%&'.repeat(10_000)}%ff=1&%C3%A4=2&%6C%69mit=3`, 'limit'), ['3']);
  } finally {
    globalThis.decodeURIComponent = decode;
  }
  assert.is(decoded, 0);
});

test("a caller's request id is taken over only where it is harmless", () => {
  assert.ok(isRequestId('abc-DEF_1.2'));
  assert.ok(isRequestId('a'.repeat(128)));
  for (const text of [undefined, '', 'a'.repeat(129), 'a b', 'a\r\nb', 'ä', 'a/b']) assert.not(isRequestId(text));
});

test.run();

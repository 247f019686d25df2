/** The bases of signatures: those of RFC 9421, and those that an independent library makes of requests at random. */
import { createPublicKey, verify } from 'node:crypto';
import fc from 'fast-check';
import { httpbis } from 'http-message-signatures';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { bodyCheckOf, signatureBase } from '../../../src/http/signing/signature-fields.js';
import { digestOf } from './signer.js';

/** The request of appendix B.2, with the query of the RFC. */
const request = {
  method: 'POST',
  path: '/foo',
  query: 'param=Value&Pet=dog',
  headers: {
    host: 'example.com',
    date: 'Tue, 20 Apr 2021 02:07:55 GMT',
    'content-type': 'application/json',
    'content-digest':
      'sha-512=:WZDPaVn/7XgHaAy8pmojAkGWoRx2UFChF41A2svX+TaPm+AbwAgBWnrIiYllu7BNNyealdVLvRwEmTHWXvJwew==:',
    'content-length': '18',
  },
};

/** test-key-ed25519 of appendix B.1.4. */
const key = createPublicKey({
  key: { kty: 'OKP', crv: 'Ed25519', x: 'JrQLj5P_89iXES9-vFgrIy29clF9CC_oPPsw3c5D0bs' },
  format: 'jwk',
});

function baseOf(components: readonly string[], params: string): string {
  const signature = { components, params, created: 0, bytes: new Uint8Array(64) };
  return signatureBase(signature, request, 'https')!;
}

test('the signature of RFC 9421, B.2.6, holds for the base that is made of its request', () => {
  const components = ['date', '@method', '@path', '@authority', 'content-type', 'content-length'];
  const params =
    '("date" "@method" "@path" "@authority" "content-type" "content-length");created=1618884473;keyid="test-key-ed25519"';
  const base = baseOf(components, params);
  const lines = [
    '"date": Tue, 20 Apr 2021 02:07:55 GMT',
    '"@method": POST',
    '"@path": /foo',
    '"@authority": example.com',
    '"content-type": application/json',
    '"content-length": 18',
    `"@signature-params": ${params}`,
  ];
  assert.is(base, lines.join('\n'));
  const signature = 'wqcAqbmYJ2ji2glfAMaRy4gruYYnx2nEFN2HN6jrnDnQCK1u02Gb04v9EDgwUPiu4A0w6vuQv5lIp5WPpBKRCw==';
  assert.ok(verify(null, Buffer.from(base, 'latin1'), key, Buffer.from(signature, 'base64')));
});

test('the derived components of RFC 9421, 2.2, have the values of its examples', () => {
  const at = { method: 'GET', path: '/path', query: 'param=value', headers: { host: 'www.Example.com:443' } };
  const lineOf = (name: string, from = at) => {
    const signature = { components: [name], params: '', created: 0, bytes: new Uint8Array(64) };
    return signatureBase(signature, from, 'https')?.split('\n')[0];
  };
  assert.is(lineOf('@target-uri'), '"@target-uri": https://www.example.com/path?param=value');
  assert.is(lineOf('@authority'), '"@authority": www.example.com');
  assert.is(lineOf('@scheme'), '"@scheme": https');
  assert.is(lineOf('@request-target'), '"@request-target": /path?param=value');
  assert.is(lineOf('@query', { ...at, query: '' }), '"@query": ?');
  assert.is(lineOf('@status'), undefined);
  assert.is(lineOf('X-Capital'), undefined);
  assert.is(lineOf('x-absent'), undefined);
});

test('the base of any request is that of an independent library', () => {
  const word = fc.stringMatching(/^[A-Za-z0-9._~-]{1,12}$/);
  const value = fc.stringMatching(/^[!-~]([ -~]{0,20}[!-~])?$/);
  const arbitrary = fc.record({
    method: fc.constantFrom('POST', 'DELETE'),
    path: fc.array(
      word.filter((text) => !/^\.+$/.test(text)),
      { minLength: 1, maxLength: 3 },
    ),
    query: fc.option(word, { nil: '' }),
    headers: fc.dictionary(fc.stringMatching(/^x-[a-z]{1,8}$/), value, { maxKeys: 4 }),
  });
  fc.assert(
    fc.property(arbitrary, ({ method, path, query, headers }) => {
      const target = `/${path.join('/')}`;
      const components = ['@method', '@path', '@query', '@authority', '@target-uri', ...Object.keys(headers)];
      const url = `http://node.example${target}${query === '' ? '' : `?${query}`}`;
      const lines = httpbis.createSignatureBase({ fields: components }, { method, url, headers });
      const expected = `${httpbis.formatSignatureBase(lines)}\n"@signature-params": ()`;
      const signature = { components, params: '()', created: 0, bytes: new Uint8Array(64) };
      const asked = { method, path: target, query, headers: { ...headers, host: 'node.example' } };
      assert.is(signatureBase(signature, asked, 'http'), expected);
    }),
  );
});

test('the digests of RFC 9530 match their body, whole or in pieces', () => {
  const body = '{"hello": "world"}';
  const sha256 = 'sha-256=:X48E9qOokqqrvdts8nOJRJN3OWDUoyWxBf7kbu9DBPE=:';
  assert.is(digestOf(body), sha256);
  for (const field of [sha256, request.headers['content-digest'], `${sha256}, ${request.headers['content-digest']}`]) {
    const check = bodyCheckOf(field);
    assert.ok(check.ok);
    assert.is(check.value([Buffer.from(body)]), undefined);
    assert.is(check.value([Buffer.from(body.slice(0, 5)), Buffer.from(body.slice(5))]), undefined);
    assert.is(check.value([Buffer.from(body.slice(1))])?.code, 'signature_invalid');
  }
});

test('a digest is refused that no body is checked against', () => {
  const fields = [
    undefined,
    '',
    'md5=:AAAA:',
    'sha-256=text',
    'sha-256',
    'sha-256=(1 2)',
    '"',
    `a=1, ${'x'.repeat(4_096)}`,
  ];
  for (const field of fields) assert.is(bodyCheckOf(field).ok, false, field);
});

test('every one of several digests is checked', () => {
  const check = bodyCheckOf(`${digestOf('a')}, ${digestOf('b', 'sha-512')}`);
  assert.ok(check.ok);
  assert.is(check.value([Buffer.from('a')])?.code, 'signature_invalid');
});

test.run();

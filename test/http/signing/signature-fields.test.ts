import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { readSignature } from '../../../src/http/signing/signature-fields.js';
import { limits } from '../../../src/limits.js';

const now = 1_800_000_000;
const bytes = `:${Buffer.alloc(64, 7).toString('base64')}:`;
const all = ['@method', '@path', '@query', 'x-peer-api-key', 'content-digest'];
const inputOf = (names: readonly string[], params = `;created=${now}`) =>
  `(${names.map((name) => `"${name}"`).join(' ')})${params}`;

function codeOf(input: string, signature = `a=${bytes}`, covers = { body: true, query: true }): string {
  const read = readSignature({ 'signature-input': input, signature }, covers, now);
  return read.ok ? 'ok' : read.code;
}

test('a signature covers the method, the path, the key, and the query and the body where there are any', () => {
  assert.is(codeOf(`a=${inputOf(all)}`), 'ok');
  for (const left of all) assert.is(codeOf(`a=${inputOf(all.filter((one) => one !== left))}`), 'signature_invalid');
  const neither = { body: false, query: false };
  assert.is(codeOf(`a=${inputOf(['@method', '@request-target', 'x-peer-api-key'])}`, `a=${bytes}`, neither), 'ok');
  assert.is(codeOf(`a=${inputOf([...all, '@path'])}`), 'signature_invalid', 'twice');
});

test('a signature is created within the window, not expired, and by ed25519', () => {
  const withParams = (params: string) => codeOf(`a=${inputOf(all, params)}`);
  const created = (at: number) => withParams(`;created=${at}`);
  const { signatureWindowS: window } = limits;
  assert.equal([created(now - window), created(now + window)], ['ok', 'ok']);
  assert.equal([created(now - window - 1), created(now + window + 1)], ['signature_expired', 'signature_expired']);
  assert.is(withParams(`;created=${now};expires=${now}`), 'ok');
  assert.is(withParams(`;created=${now};expires=${now - 1}`), 'signature_expired');
  assert.is(withParams(`;created=${now};alg="ed25519"`), 'ok');
  for (const params of ['', ';created="now"', `;created=${now};expires=1.5`, `;created=${now};alg="rsa"`]) {
    assert.is(withParams(params), 'signature_invalid');
  }
});

test('so many signatures, components and characters are read, and no more', () => {
  const signatures = (count: number) =>
    codeOf(Array.from({ length: count }, (_, i) => `s${i}=${inputOf(all)}`).join(', '), `s0=${bytes}`);
  assert.equal([signatures(limits.signaturesMax), signatures(limits.signaturesMax + 1)], ['ok', 'signature_invalid']);
  const components = (count: number) =>
    codeOf(`a=${inputOf([...all, ...Array.from({ length: count - all.length }, (_, i) => `x-${i}`)])}`);
  const { signatureComponentsMax: most } = limits;
  assert.equal([components(most), components(most + 1)], ['ok', 'signature_invalid']);
  const { signatureFieldLength: longest } = limits;
  const padded = (length: number) => codeOf(`a=${inputOf(all)}`.padEnd(length));
  assert.equal([padded(longest), padded(longest + 1)], ['ok', 'signature_invalid']);
});

test('the first signature that can be read counts; without any the request is unsigned', () => {
  const input = `a=${inputOf(['@path'])}, b=${inputOf(all)}`;
  assert.is(codeOf(input, `a=${bytes}, b=${bytes}`), 'ok');
  assert.is(codeOf(input, `a=${bytes}`), 'signature_invalid');
  assert.is(codeOf(`b=${inputOf(all)}`, 'b=:AAAA:'), 'signature_invalid', 'too short');
  assert.equal([codeOf('', `a=${bytes}`), codeOf(input, '')], ['signature_missing', 'signature_missing']);
  assert.is(codeOf('a=1', `a=${bytes}`), 'signature_invalid');
});

test.run();

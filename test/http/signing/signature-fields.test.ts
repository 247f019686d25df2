import type { IncomingHttpHeaders } from 'node:http';
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

test('a signature needs to cover the query and the body only where there are any', () => {
  assert.is(codeOf(`a=${inputOf(all)}`), 'ok');
  const neither = { body: false, query: false };
  assert.is(codeOf(`a=${inputOf(['@method', '@request-target', 'x-peer-api-key'])}`, `a=${bytes}`, neither), 'ok');
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

test('a signature must cover each part of the request once, and its refusal says which rule it breaks', () => {
  const some = (names: readonly string[]) => `a=${inputOf(names)}`;
  const without = (left: string) => some(all.filter((one) => one !== left));
  const cases: readonly (readonly [input: string, text: string])[] = [
    ['a=(', 'Signature-Input and Signature must be dictionaries'],
    ['a=1', 'Signature-Input must hold inner lists'],
    [without('@method'), 'the signature must cover "@method"'],
    [without('@path'), 'the signature must cover "@path"'],
    [without('@query'), 'the signature must cover "@query"'],
    [without('x-peer-api-key'), 'the signature must cover "x-peer-api-key"'],
    [without('content-digest'), 'the signature must cover "content-digest"'],
    [some([...all, '@path']), 'a component is covered twice'],
    ['a=(1)', 'covered components must be strings'],
    ['a=("@method";req)', 'covered components must have no parameters'],
    [`a=${inputOf(all, `;created=${now};alg="rsa"`)}`, 'the algorithm must be ed25519'],
    [`a=${inputOf(all, '')}`, 'the signature must have the parameter created'],
    [`a=${inputOf(all, `;created=${now}.5`)}`, 'the signature must have the parameter created'],
    [`a=${inputOf(all, ';created="now"')}`, 'the signature must have the parameter created'],
    [`a=${inputOf(all, `;created=${now};expires=1.5`)}`, 'the parameter expires must be a whole number'],
    [`b=${inputOf(all)}`, 'Signature must hold 64 bytes under the label of Signature-Input'],
  ];
  for (const [input, text] of cases) {
    const read = readSignature({ 'signature-input': input, signature: `a=${bytes}` }, { body: true, query: true }, now);
    assert.equal(read.ok || [read.code, read.text], ['signature_invalid', text], input);
  }
});

test('a signature is read with its components, parameters, time and bytes, also from several header lines', () => {
  const headers = { 'signature-input': `a=1, b=${inputOf(all)}`, signature: ['a=:AAAA:', `b=${bytes}`] };
  const read = readSignature(headers as unknown as IncomingHttpHeaders, { body: true, query: true }, now);
  assert.equal(read.ok && read.value, {
    components: all,
    params: inputOf(all),
    created: now,
    bytes: new Uint8Array(64).fill(7),
  });
});

test.run();

import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { routes } from '../../../src/contract/routes.js';
import type { PeerView } from '../../../src/group/api.js';
import type { HttpDeps } from '../../../src/http/deps.js';
import { RequestVerifier, type Verified } from '../../../src/http/signing/request-verifier.js';
import type { SignedRequest } from '../../../src/http/signing/signature-fields.js';
import { limits } from '../../../src/limits.js';
import { verifySignatures as verifyNow } from '../../../src/workers/pool/signature-worker.js';
import { digestOf, type HowSigned, newSigningKey, plainFields, signedHeaders } from './signer.js';

const key = newSigningKey();
const open = { destroyed: false };
const hash = 'ab'.repeat(32);

function peer(index: number, publicKey: string | null = key.publicKey): PeerView {
  return { index, publicKey } as Partial<PeerView> as PeerView;
}

async function signedEvent(how: HowSigned = {}, by = key) {
  const body = '{}';
  const unsigned = { method: 'POST', path: '/api/v1/events', key: 'a key', body };
  return {
    method: 'POST',
    path: '/api/v1/events',
    query: '',
    headers: { host: 'node.example', ...(await signedHeaders(unsigned, by, how)) },
  };
}

async function signedErasure(created: number) {
  const target = { method: 'DELETE', path: `/api/v1/subjects/${hash}` };
  return { ...target, query: '', headers: await signedHeaders({ ...target, key: 'a key' }, key, { created }) };
}

interface Around {
  readonly requestSigning?: HttpDeps['settings']['requestSigning'];
  readonly clock?: { now(): number };
  readonly hasErasedSince?: (peer: PeerView, fromMs: number) => boolean;
  readonly verifySignatures?: HttpDeps['verifySignatures'];
}

function verifier({
  requestSigning = 'optional',
  clock = Date,
  hasErasedSince = () => false,
  verifySignatures = async (batch) => verifyNow(batch),
}: Around = {}): RequestVerifier {
  const deps = { settings: { requestSigning }, clock, node: { group: { hasErasedSince } }, verifySignatures };
  return new RequestVerifier(deps as unknown as HttpDeps);
}

/** The result of a check: `unchecked`, a check of the body, or the code of the refusal. */
async function resultOf(checked: Verified | Promise<Verified>): Promise<string> {
  const outcome = await checked;
  if (!outcome.ok) return outcome.code;
  return outcome.value === null ? 'unchecked' : 'body';
}

test('signatures are verified peer by peer in turn, however many one sends', async () => {
  const verified: string[] = [];
  const verifySignatures: HttpDeps['verifySignatures'] = async (batch) => {
    verified.push(...batch.map(({ publicKey }) => publicKey));
    return verifyNow(batch);
  };
  const checks = verifier({ verifySignatures });
  const other = newSigningKey();
  const [request, ofOther] = [await signedEvent(), await signedEvent({}, other)];
  const many = Array.from({ length: 3 }, () => checks.check(routes.submitEvent, request, peer(1), open));
  const one = checks.check(routes.submitEvent, ofOther, peer(2, other.publicKey), open);
  await Promise.all([...many, one]);
  assert.equal(verified, [key.publicKey, other.publicKey, key.publicKey, key.publicKey]);
});

test('a caller that has left gets no verification', async () => {
  const remote = { destroyed: true };
  const outcome = await verifier().check(routes.submitEvent, await signedEvent(), peer(1), remote);
  assert.is(outcome.ok, false);
});

test('only writes of a peer are checked: of one with a public key, or of all if the node requires it', async () => {
  const unsigned = { method: 'POST', path: '/api/v1/events', query: '', headers: {} };
  const { submitEvent, getVerdict } = routes;
  const withoutKey = peer(1, null);
  const cases = [
    ['off', submitEvent, peer(1), 'unchecked'],
    ['optional', submitEvent, null, 'unchecked'],
    ['optional', getVerdict, peer(1), 'unchecked'],
    ['optional', submitEvent, withoutKey, 'unchecked'],
    ['optional', submitEvent, peer(1), 'signature_missing'],
    ['required', submitEvent, null, 'unchecked'],
    ['required', getVerdict, withoutKey, 'unchecked'],
    ['required', submitEvent, withoutKey, 'signature_missing'],
  ] as const;
  for (const [requestSigning, route, caller, expected] of cases) {
    const result = await resultOf(verifier({ requestSigning }).check(route, unsigned, caller, open));
    assert.is(result, expected, `${requestSigning} ${route.path} ${caller?.publicKey}`);
  }
  const refusal = await verifier({ requestSigning: 'required' }).check(submitEvent, unsigned, withoutKey, open);
  const text = 'writes must be signed, and no public key of this peer is registered';
  assert.is(refusal.ok || refusal.text, text);
});

test('a signature holds for the key of its peer, its request and either scheme', async () => {
  const checks = verifier();
  const { submitEvent } = routes;
  const request = await signedEvent();
  const other = newSigningKey();
  const ofOther = await signedEvent({}, other);
  const result = (signed: SignedRequest, by = peer(1)) => resultOf(checks.check(submitEvent, signed, by, open));
  const withField = (name: string, change: (value: string) => string) => {
    const headers: Record<string, string> = { ...request.headers };
    return { ...request, headers: { ...headers, [name]: change(headers[name]!) } };
  };
  assert.is(await result(request), 'body');
  assert.is(await result(request, peer(1, other.publicKey)), 'signature_invalid');
  assert.is(await result(ofOther, peer(2, other.publicKey)), 'body');
  const forgeries = {
    path: { ...request, path: '/api/v1/other' },
    method: { ...request, method: 'PUT' },
    query: { ...request, query: 'a=b' },
    key: withField('x-peer-api-key', () => 'another key'),
    digest: withField('content-digest', () => digestOf('another body')),
    order: withField('signature-input', (input) => input.replace('"@method" "@path"', '"@path" "@method"')),
    signature: withField('signature', (text) => text.replace(/.(?=.{40}$)/, (one) => (one === 'A' ? 'B' : 'A'))),
  };
  for (const [what, forged] of Object.entries(forgeries)) assert.is(await result(forged), 'signature_invalid', what);
  for (const scheme of ['http', 'https'] as const) {
    const fields = ['@method', '@target-uri', 'x-peer-api-key', 'content-digest'];
    const whole = await signedEvent({ fields, scheme });
    assert.is(await result(whole), 'body', scheme);
  }
  const absent = await signedEvent({ fields: [...plainFields, 'content-digest', 'content-type'] });
  const { 'content-type': _left, ...headers } = absent.headers as Record<string, string>;
  assert.is(await result({ ...absent, headers }), 'signature_invalid', 'a component that the request lacks');
});

test('a signature is used up by the body that it signs, and by no other', async () => {
  const checks = verifier();
  const request = await signedEvent();
  const first = await checks.check(routes.submitEvent, request, peer(1), open);
  const second = await checks.check(routes.submitEvent, request, peer(1), open);
  if (!first.ok || !second.ok) throw new Error('the signature was refused');
  assert.is(first.value?.([Buffer.from('{"a":1}')])?.code, 'signature_invalid');
  assert.is(first.value?.([Buffer.from('{}')]), undefined);
  assert.is(second.value?.([Buffer.from('{}')])?.code, 'signature_replayed', 'the same request at the same time');
  assert.is(await resultOf(checks.check(routes.submitEvent, request, peer(1), open)), 'signature_replayed');
  const { 'content-digest': _left, ...headers } = (await signedEvent()).headers as Record<string, string>;
  const withoutDigest = { ...request, headers };
  const refusal = await checks.check(routes.submitEvent, withoutDigest, peer(1), open);
  assert.is(refusal.ok || refusal.text, 'Content-Digest must state the sha-256 or sha-512 of the body');
});

test("a request without a body uses up its signature at once, and the node's clock decides its age", async () => {
  let nowMs = 1_800_000_000_999;
  const checks = verifier({ clock: { now: () => nowMs } });
  const request = await signedErasure(1_800_000_000 - limits.signatureWindowS);
  assert.is(await resultOf(checks.check(routes.eraseSubject, request, peer(1), open)), 'unchecked');
  assert.is(await resultOf(checks.check(routes.eraseSubject, request, peer(1), open)), 'signature_replayed');
  const late = await signedErasure(1_800_000_000 - limits.signatureWindowS);
  nowMs += 1;
  assert.is(await resultOf(checks.check(routes.eraseSubject, late, peer(1), open)), 'signature_expired');
});

test('an erasure signed before a restart is refused if its peer erased since that signature is valid', async () => {
  const startedS = 1_800_000_000;
  const asked: unknown[] = [];
  const hasErasedSince = (caller: PeerView, fromMs: number) => asked.push([caller.index, fromMs]) > 0;
  const clock = { now: () => startedS * 1000 };
  const checks = verifier({ clock, hasErasedSince });
  assert.is(
    await resultOf(checks.check(routes.eraseSubject, await signedErasure(startedS), peer(1), open)),
    'unchecked',
  );
  const early = await signedErasure(startedS - 1);
  const refusal = await checks.check(routes.eraseSubject, early, peer(1), open);
  assert.equal(refusal.ok || [refusal.code, refusal.text], [
    'signature_replayed',
    'the node restarted after this erasure was signed; sign the request again',
  ]);
  assert.equal(asked, [[1, (startedS - 1 - limits.signatureWindowS) * 1000]]);
  const without = verifier({ clock });
  assert.is(await resultOf(without.check(routes.eraseSubject, early, peer(1), open)), 'unchecked');
  const within = verifier({ clock: { now: () => startedS * 1000 + 1 }, hasErasedSince });
  const inSecondOf = (created: number) =>
    signedErasure(created).then((one) => resultOf(within.check(routes.eraseSubject, one, peer(1), open)));
  assert.equal([await inSecondOf(startedS), await inSecondOf(startedS + 1)], ['signature_replayed', 'unchecked']);
  const event = await signedEvent({ created: startedS - 1 });
  assert.is(await resultOf(checks.check(routes.submitEvent, event, peer(1), open)), 'body', 'not an erasure');
});

test.run();

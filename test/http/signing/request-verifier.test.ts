import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { type Route, routes } from '../../../src/contract/routes.js';
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

/** The check of a request by a verifier: of an event that peer 1 writes, where nothing else is said. */
function verifier({
  requestSigning = 'optional',
  clock = Date,
  hasErasedSince = () => false,
  verifySignatures = async (batch) => verifyNow(batch),
}: Around = {}) {
  const deps = { settings: { requestSigning }, clock, node: { group: { hasErasedSince } }, verifySignatures };
  const checks = new RequestVerifier(deps as unknown as HttpDeps);
  const check = (
    request: SignedRequest,
    by: PeerView | null = peer(1),
    route: Route = routes.submitEvent,
    remote = open,
  ) => checks.check(route, request, by, remote);
  const result = (...given: Parameters<typeof check>) => resultOf(check(...given));
  const erases = (request: SignedRequest) => result(request, peer(1), routes.eraseSubject);
  return { check, result, erases };
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
  const { check } = verifier({ verifySignatures });
  const other = newSigningKey();
  const [request, ofOther] = [await signedEvent(), await signedEvent({}, other)];
  const many = Array.from({ length: 3 }, () => check(request));
  const one = check(ofOther, peer(2, other.publicKey));
  await Promise.all([...many, one]);
  assert.equal(verified, [key.publicKey, other.publicKey, key.publicKey, key.publicKey]);
});

test('a caller that has left gets no verification', async () => {
  const gone = { destroyed: true };
  const verifySignatures = () => assert.unreachable() as never;
  const { check } = verifier({ verifySignatures });
  assert.is((await check(await signedEvent(), peer(1), routes.submitEvent, gone)).ok, false);
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
    const result = await verifier({ requestSigning }).result(unsigned, caller, route);
    assert.is(result, expected, `${requestSigning} ${route.path} ${caller?.publicKey}`);
  }
  const refusal = await verifier({ requestSigning: 'required' }).check(unsigned, withoutKey);
  const text = 'writes must be signed, and no public key of this peer is registered';
  assert.is(refusal.ok || refusal.text, text);
});

test('a signature holds for the key of its peer, its request and either scheme', async () => {
  const { result } = verifier();
  const request = await signedEvent();
  const other = newSigningKey();
  const ofOther = await signedEvent({}, other);
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
  const { check, result } = verifier();
  const request = await signedEvent();
  const [first, second] = [await check(request), await check(request)];
  if (!first.ok || !second.ok) throw new Error('the signature was refused');
  assert.is(first.value?.([Buffer.from('{"a":1}')])?.code, 'signature_invalid');
  assert.is(first.value?.([Buffer.from('{}')]), undefined);
  assert.is(second.value?.([Buffer.from('{}')])?.code, 'signature_replayed', 'the same request at the same time');
  assert.is(await result(request), 'signature_replayed');
  const { 'content-digest': _left, ...headers } = (await signedEvent()).headers as Record<string, string>;
  const refusal = await check({ ...request, headers });
  assert.is(refusal.ok || refusal.text, 'Content-Digest must state the sha-256 or sha-512 of the body');
});

test("a request without a body uses up its signature at once, and the node's clock decides its age", async () => {
  let nowMs = 1_800_000_000_999;
  const { erases } = verifier({ clock: { now: () => nowMs } });
  const request = await signedErasure(1_800_000_000 - limits.signatureWindowS);
  assert.is(await erases(request), 'unchecked');
  assert.is(await erases(request), 'signature_replayed');
  const late = await signedErasure(1_800_000_000 - limits.signatureWindowS);
  nowMs += 1;
  assert.is(await erases(late), 'signature_expired');
});

test('an erasure signed before a restart is refused if its peer erased since that signature is valid', async () => {
  const startedS = 1_800_000_000;
  const asked: unknown[] = [];
  const hasErasedSince = (caller: PeerView, fromMs: number) => asked.push([caller.index, fromMs]) > 0;
  const clock = { now: () => startedS * 1000 };
  const { check, result, erases } = verifier({ clock, hasErasedSince });
  assert.is(await erases(await signedErasure(startedS)), 'unchecked');
  const early = await signedErasure(startedS - 1);
  const refusal = await check(early, peer(1), routes.eraseSubject);
  assert.equal(refusal.ok || [refusal.code, refusal.text], [
    'signature_replayed',
    'the node restarted after this erasure was signed; sign the request again',
  ]);
  assert.equal(asked, [[1, (startedS - 1 - limits.signatureWindowS) * 1000]]);
  assert.is(await verifier({ clock }).erases(early), 'unchecked');
  const within = verifier({ clock: { now: () => startedS * 1000 + 1 }, hasErasedSince });
  const inSecondOf = async (created: number) => within.erases(await signedErasure(created));
  assert.equal([await inSecondOf(startedS), await inSecondOf(startedS + 1)], ['signature_replayed', 'unchecked']);
  const event = await signedEvent({ created: startedS - 1 });
  assert.is(await result(event), 'body', 'not an erasure');
});

test.run();

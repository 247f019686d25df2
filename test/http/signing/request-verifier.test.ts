import { stat } from 'node:fs/promises';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { routes } from '../../../src/contract/routes.js';
import type { PeerView } from '../../../src/group/api.js';
import type { HttpDeps } from '../../../src/http/deps.js';
import { RequestVerifier } from '../../../src/http/signing/request-verifier.js';
import { newSigningKey, signedHeaders } from './signer.js';

const key = newSigningKey();
const open = { destroyed: false };

function peer(index: number): PeerView {
  return { index, publicKey: key.publicKey } as Partial<PeerView> as PeerView;
}

async function signedEvent() {
  const body = '{}';
  const unsigned = { method: 'POST', path: '/api/v1/events', key: 'a key', body };
  return { method: 'POST', path: '/api/v1/events', query: '', headers: await signedHeaders(unsigned, key) };
}

function verifier(): RequestVerifier {
  const deps = { settings: { requestSigning: 'optional' }, clock: Date } as unknown as HttpDeps;
  return new RequestVerifier(deps);
}

test('other work of the thread pool, such as a commit, waits for few signatures, and another peer for few too', async () => {
  const checks = verifier();
  const request = await signedEvent();
  let verified = 0;
  const many = Array.from({ length: 200 }, async () => {
    const outcome = await checks.check(routes.submitEvent, request, peer(1), open);
    verified += 1;
    return outcome.ok;
  });
  await stat('.');
  const beforeWork = verified;
  assert.ok((await checks.check(routes.submitEvent, request, peer(2), open)).ok);
  assert.ok(beforeWork < 20, `${beforeWork} signatures before the work`);
  assert.ok(verified < beforeWork + 20, `${verified - beforeWork} signatures before that of another peer`);
  assert.ok((await Promise.all(many)).every(Boolean));
});

test('a caller that has left gets no verification', async () => {
  const remote = { destroyed: true };
  const outcome = await verifier().check(routes.submitEvent, await signedEvent(), peer(1), remote);
  assert.is(outcome.ok, false);
});

test.run();

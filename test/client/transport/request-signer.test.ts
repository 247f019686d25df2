/** The client signs what it writes, each attempt anew, and a node that knows its public key takes it. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { generateSigningKey, signingPublicKey } from '../../../src/client/transport/request-signer.js';
import { TrustClient } from '../../../src/client/trust-client.js';
import { TrustError } from '../../../src/client/trust-error.js';
import { closing } from '../../support/closing.js';
import { startTestNode } from '../../support/node.js';
import { ScriptedTransport } from '../scripted-transport.js';

const event = { eventType: 'report_cheating', playerId: 'player', gameId: 'arena', severity: 0.5 } as const;

test('a client with a signing key submits, withdraws and erases at a node that requires signatures', async () => {
  await using node = await startTestNode({ REQUEST_SIGNING: 'required', GROUP_SALT: 'a salt of sixteen bytes' });
  const { signingKey, publicKey } = generateSigningKey();
  const group = { url: node.url, groupSalt: 'a salt of sixteen bytes' };
  const guest = new TrustClient(group);
  const peer = await guest.register({ peerName: 'Signing', gameIds: ['arena'], publicKey });
  const client = new TrustClient({ ...group, ...peer, signingKey });
  const [first, second] = [await client.submit(event), await client.submit({ ...event, severity: 0.4 })];
  assert.is(first.status, 'accepted');
  const batch = await client.submitMany([
    { ...event, severity: 0.3 },
    { ...event, severity: 0.2 },
  ]);
  assert.is(batch.accepted, 2);
  await client.withdraw(second.eventId);
  assert.is((await client.eraseSubject('player')).status, 'erased');
  const unsigned = new TrustClient({ ...group, ...peer });
  const error: unknown = await unsigned.submit(event).catch((reason: unknown) => reason);
  assert.ok(error instanceof TrustError && error.code === 'signature_missing' && error.status === 401);
  for (const one of [guest, client, unsigned]) await one.close();
});

test('every attempt has a signature of its own, and reads have none', async () => {
  const { signingKey } = generateSigningKey();
  const busy = { status: 503, body: { error: 'busy', code: 'overloaded' }, headers: { 'retry-after': '0' } };
  const transport = new ScriptedTransport(({ method, path }, index) => {
    if (method === 'GET') return { status: 200, body: { data: [] } };
    const eventId = path.split('/').at(-1);
    return index === 0 ? busy : { status: 200, body: { event_id: eventId, withdrawn_at: '' } };
  });
  await using client = closing(
    new TrustClient({ url: 'http://node', peerId: 'p', apiKey: 'k', signingKey, transport }),
  );
  await client.withdraw('event-1');
  const signatures = transport.requests.map(({ headers }) => headers.signature);
  assert.is(signatures.length, 2);
  assert.ok(signatures.every((signature) => /^sig1=:[A-Za-z0-9+/]{86}==:$/.test(signature ?? '')));
  assert.is.not(signatures[0], signatures[1]);
  await client.score('player');
  assert.is(transport.requests.at(-1)?.headers.signature, undefined);
});

test('a signing key that is not an Ed25519 key as PEM is refused, and never printed', () => {
  for (const signingKey of ['secret', '', '-----BEGIN PRIVATE KEY-----\nsecret\n-----END PRIVATE KEY-----\n']) {
    try {
      new TrustClient({ url: 'http://node', signingKey });
      assert.unreachable();
    } catch (error) {
      assert.ok(error instanceof TrustError && error.code === 'invalid_argument');
      assert.not.match(`${error.message}${error.stack}`, /secret\n/);
    }
  }
});

test('the public key of a signing key is the one that was made with it', () => {
  const { signingKey, publicKey } = generateSigningKey();
  assert.is(signingPublicKey(signingKey), publicKey);
  assert.match(publicKey, /^[A-Za-z0-9_-]{43}$/);
});

test.run();

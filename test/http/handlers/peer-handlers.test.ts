import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { refused } from '../../../src/errors.js';
import type { Registration } from '../../../src/group/api.js';
import type { HttpDeps } from '../../../src/http/deps.js';
import { peerHandlers } from '../../../src/http/handlers/peer-handlers.js';
import { nodeDouble, peerView } from '../group-double.js';

test('a registration takes over the contact and the public key of the body, where it has them', async () => {
  const registrations: Registration[] = [];
  const register = async (registration: Registration) => {
    registrations.push(registration);
    return refused('registration_closed');
  };
  const deps = { node: nodeDouble({ register }), settings: { registrationMode: 'open' } };
  const { registerPeer } = peerHandlers(deps as unknown as HttpDeps);
  const names = { peer_name: 'Arena', game_ids: ['arena'] };
  for (const more of [{}, { contact_email: 'ops@example.com', public_key: 'a key' }]) {
    const request = { body: { ...names, ...more } } as unknown as Parameters<typeof registerPeer>[0];
    assert.is((await registerPeer(request)).status, 403);
  }
  const named = { peerName: 'Arena', gameIds: ['arena'] };
  assert.equal(registrations, [named, { ...named, contactEmail: 'ops@example.com', publicKey: 'a key' }]);
});

test("a peer's count of events is cut to two significant digits, and is the one of an hour ago", async () => {
  const deps = { node: nodeDouble({ delayedEventCount: () => 1_234 }), settings: {} };
  const { listPeers } = peerHandlers(deps as unknown as HttpDeps);
  const request = { query: '', caller: peerView(0) } as unknown as Parameters<typeof listPeers>[0];
  const { data } = (await listPeers(request)).body as { data: { event_count: number }[] };
  assert.equal(
    data.map(({ event_count }) => event_count),
    [1_200, 1_200],
  );
});

test.run();

/** The statistics that the client's bench computes from its lookups. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { lookUp } from '../../bench/measurements/client.js';
import type { TrustClient } from '../../src/client/trust-client.js';

test('each window of lookups has latencies of its own: those of a rehearsal are in no other', async () => {
  let calls = 0;
  const scores = async () => {
    calls++;
    return [{ source: 'node' }];
  };
  const client = { scores } as unknown as TrustClient;
  const site = { seed: 1, players: 10, peers: [] };
  for (let window = 0; window < 2; window++) {
    const before = calls;
    const { latencies } = await lookUp({ client, source: 'node' }, site, 0.01);
    assert.ok(calls > before);
    assert.is(latencies.count, calls - before);
  }
});

test.run();

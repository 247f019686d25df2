/** A peer that abuses erasure: bounded, named, and stopped by the operator. */
import { hash } from 'node:crypto';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { ask } from '../http/exchange.js';
import { newPlayer, type PeerClient, registerPeer, setStatus } from '../http/peer-client.js';
import { startTestNode } from '../support/node.js';

const salt = 'a salt of sixteen bytes';
const quota = 3;

test('the erasures of one peer a day are bounded, audited under its name, and end with its suspension', async () => {
  await using node = await startTestNode({ GROUP_SALT: salt, ERASURE_QUOTA_PER_DAY: String(quota) });
  const [evil, good] = [await registerPeer(node.url, 'Evil'), await registerPeer(node.url, 'Good')];
  const reported = async (): Promise<string> => {
    const player_id = newPlayer();
    assert.is((await good.submit({ player_id })).status, 201);
    return hash('sha256', player_id + salt, 'hex');
  };
  const erase = (peer: PeerClient, subject: string) =>
    ask(node.url, `/api/v1/subjects/${subject}`, { method: 'DELETE', key: peer.key });

  const erased: string[] = [];
  for (let i = 0; i < quota; i++) {
    const subject = await reported();
    assert.is((await erase(evil, subject)).status, 200);
    erased.push(subject);
  }
  const spared = await reported();
  const over = await erase(evil, spared);
  assert.equal([over.status, over.body.code], [429, 'erasure_quota_exceeded']);
  // All of the quota was used within this test: it comes back in a day, and not sooner.
  const waitS = Number(over.headers['retry-after']);
  assert.ok(waitS > 86_000 && waitS <= 86_400, `${waitS}`);
  assert.is((await ask(node.url, `/api/v1/players/${spared}/trust-score`)).status, 200);
  assert.is((await erase(good, spared)).status, 200, "another peer's quota is its own");

  const { body, text } = await ask(node.url, '/api/v1/audit', { key: good.key });
  const acts = body.data.filter(
    ({ action }: { action: string }) => /eras/.test(action) && action !== 'shared_erasure_asked',
  );
  assert.equal(
    acts.map(({ actor }: { actor: string }) => actor),
    [evil.peerId, evil.peerId, evil.peerId, good.peerId],
  );
  for (const subject of erased) assert.not(text.includes(subject));

  await setStatus(node, evil.peerId, 'suspended');
  assert.is((await erase(evil, await reported())).status, 403);
});

test.run();

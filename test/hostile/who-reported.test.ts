/**
 * Which peer reported a player: an attacker with a key reads the counters of peers and the verdict stream around each
 * event, and names the peer whose counter grew. The figures show the same attack on the operator's exact counters.
 */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { ask } from '../http/exchange.js';
import { newPlayer, registerPeer } from '../http/peer-client.js';
import { startTestNode, type TestNode } from '../support/node.js';

type Counters = ReadonlyMap<string, number>;

async function publicCounters({ url }: TestNode, key: string): Promise<Counters> {
  const { body } = await ask(url, '/api/v1/peers?limit=200', { key });
  const peers = body.data as { peer_id: string; event_count: number }[];
  return new Map(peers.map(({ peer_id: peerId, event_count: count }) => [peerId, count]));
}

/** The peer that an attacker names: the only one whose counter grew; undefined if it cannot tell. */
function named(before: Counters, after: Counters): string | undefined {
  const grown = [...after].filter(([peerId, count]) => count !== before.get(peerId));
  return grown.length === 1 ? grown[0]![0] : undefined;
}

test('counters reveal to no key which peer reported a player that the stream has just sent', async () => {
  await using node = await startTestNode({ GROUP_SALT: 'a salt of sixteen bytes' });
  const attacker = await registerPeer(node.url, 'Attacker');
  const peers = await Promise.all(['One', 'Two', 'Three', 'Four'].map((name) => registerPeer(node.url, name)));
  const exactCounters = (): Counters =>
    new Map(peers.map(({ peerId }) => [peerId, node.group.peerById(peerId)!.eventCount]));
  const attributed = { public: 0, exact: 0 };
  const rounds = 20;
  for (let round = 0; round < rounds; round++) {
    const reporter = peers[(round * 7) % peers.length]!;
    const before = { public: await publicCounters(node, attacker.key), exact: exactCounters() };
    const player_id = newPlayer();
    assert.is((await reporter.submit({ player_id })).status, 201);
    // A read shows the same values of the player as the stream.
    assert.is((await ask(node.url, `/api/v1/players/${player_id}/verdict`)).status, 200);
    const after = { public: await publicCounters(node, attacker.key), exact: exactCounters() };
    if (named(before.public, after.public) === reporter.peerId) attributed.public += 1;
    if (named(before.exact, after.exact) === reporter.peerId) attributed.exact += 1;
  }
  process.stdout.write(`  who reported whom, of ${rounds} events: ${JSON.stringify(attributed)}\n`);
  assert.equal(attributed, { public: 0, exact: rounds });
});

test.run();

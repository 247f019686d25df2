/** `ptf export`: line by line, page by page, and no further than somebody reads. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { limits } from '../../../src/limits.js';
import { startTestNode, type TestNode, weightsSettled } from '../../support/node.js';
import { runHere } from '../run-here.js';

let node: TestNode;
test.before(async () => {
  node = await startTestNode({ WEIGHTS_INTERVAL_MS: '50' });
});
test.after(() => node.close());

type Json = Record<string, unknown>;

async function exported(what: 'audit' | 'weights', args: readonly string[] = []): Promise<Json[]> {
  const { code, out, err } = await runHere(['export', what, ...args], node.dir);
  assert.is(code, 0, err);
  assert.ok(out.endsWith('\n'));
  return out
    .slice(0, -1)
    .split('\n')
    .map((line) => JSON.parse(line) as Json);
}

async function register(name: string): Promise<{ readonly peerId: string; readonly apiKey: string }> {
  const registered = await node.group.register({ peerName: name, gameIds: ['g'] }, 'test');
  if (!registered.ok) throw new Error(registered.code);
  return { peerId: registered.value.peer.peerId, apiKey: registered.value.apiKey };
}

test('the audit log is exported completely, one chained entry per line, with --json too', async () => {
  const peers = 2 * limits.pageMax + 3;
  for (let i = 0; i < peers; i++) await register(`peer ${i}`);
  const entries = await exported('audit');
  assert.is(entries.length, peers + 1);
  assert.is(entries[0]!.action, 'group_formed');
  for (const [i, entry] of entries.entries()) {
    assert.is(entry.prev_hash, i === 0 ? '0'.repeat(64) : entries[i - 1]!.hash);
  }
  assert.equal(await exported('audit', ['--json']), entries);
});

test('weights come as they were put into force, and the last of them are those in force', async () => {
  const senders = [await register('first'), await register('second')];
  for (const [i, { peerId, apiKey }] of senders.entries()) {
    const events = Array.from({ length: 20 }, (_, n) => ({
      schema_version: '1.0.0',
      event_id: `${i}-${n}`,
      event_type: n % 2 === 0 ? 'ban_applied' : 'commendation',
      peer_id: peerId,
      player_id: `player-${n}`,
      game_id: 'g',
      severity: 1,
      timestamp: '2026-01-01T00:00:00Z',
    }));
    const answer = await fetch(`${node.url}/api/v1/events/batch`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', 'X-Peer-API-Key': apiKey },
      body: JSON.stringify({ events }),
    });
    assert.is(answer.status, 200);
    await weightsSettled(node);
  }
  const vectors = await exported('weights');
  assert.ok(vectors.length >= 1);
  const seqs = vectors.map(({ seq }) => Number(seq));
  assert.equal(
    seqs,
    seqs.toSorted((a, b) => a - b),
  );
  const newest = vectors.at(-1)!.peers as { peer_id: string; weight: number; tau: number }[];
  for (const { peerId } of senders) {
    const { weight, tau } = node.group.peerById(peerId)!;
    assert.equal(newest.find(({ peer_id }) => peer_id === peerId)?.weight, weight);
    assert.equal(newest.find(({ peer_id }) => peer_id === peerId)?.tau, tau);
  }
});

test('an export ends if its output is closed', async () => {
  let texts = 0;
  const stream = async (): Promise<boolean> => {
    texts += 1;
    return false;
  };
  const { code } = await runHere(['export', 'audit'], node.dir, { terminal: { stream } });
  assert.is(code, 0);
  assert.is(texts, 1);
});

test('an export without a node ends with 3, and one whose page fails with 1', async () => {
  const gone = await runHere(['export', 'audit', '--json'], '/nowhere');
  assert.is(gone.code, 3);
  assert.is((JSON.parse(gone.out) as Json).code, 'no_node');
});

test.run();

/** `ptf simulate` through a real node: what it foretells is what happens, and nothing is written for it. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { SimulationValue } from '../../../src/operations/simulation-operation.js';
import { callNode, type OperatorError } from '../../../src/operator/cli/node-client.js';
import { startTestNode, type TestNode, weightsSettled } from '../../support/node.js';
import { runHere } from '../run-here.js';

let node: TestNode;
test.before(async () => {
  // Weights of its own computing only, so that the decay between two of them cannot blur a comparison.
  node = await startTestNode({ HALF_LIFE_DAYS: '0', WEIGHTS_INTERVAL_MS: '50' });
});
test.after(() => node.close());

const players = Array.from({ length: 30 }, (_, i) => `player-${i}`);

/** A peer that reports its players, and its id. */
async function peerThat(says: (i: number) => 'report_cheating' | 'commendation' | null): Promise<string> {
  const registered = await node.group.register({ peerName: 'a peer', gameIds: ['g'] }, 'test');
  if (!registered.ok) throw new Error(registered.code);
  const { peer, apiKey } = registered.value;
  const events = players.flatMap((player_id, i) => {
    const event_type = says(i);
    if (event_type === null) return [];
    const event = { schema_version: '1.0.0', event_type, peer_id: peer.peerId, player_id, game_id: 'g', severity: 1 };
    return [1, 2, 3].map((n) => ({
      ...event,
      event_id: `${peer.peerId}:${i}:${n}`,
      timestamp: new Date().toISOString(),
    }));
  });
  const answer = await fetch(`${node.url}/api/v1/events/batch`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', 'X-Peer-API-Key': apiKey },
    body: JSON.stringify({ events }),
  });
  assert.is(((await answer.json()) as { accepted: number }).accepted, events.length);
  return peer.peerId;
}

async function verdictOf(player: string): Promise<{ verdict: string; score: number }> {
  const answer = await fetch(`${node.url}/api/v1/players/${player}/trust-score`);
  return (await answer.json()) as { verdict: string; score: number };
}

test('a simulated revocation predicts the reads after it', async () => {
  const says = (i: number) => (i % 3 === 0 ? 'report_cheating' : 'commendation');
  await peerThat((i) => (i < 20 ? says(i) : null));
  await peerThat((i) => (i < 20 ? says(i) : null));
  // Two that agree with the group, and report players whom nobody else knows.
  const lies = (i: number) => (i < 20 ? says(i) : 'report_cheating');
  const liars = [await peerThat(lies), await peerThat(lies)];
  // Or the verdicts before it might not be those that the simulation starts from.
  await weightsSettled(node);
  const { lastSeq } = node.group.health();
  const { code, out } = await runHere(['simulate', '--without', liars.join(','), '--rows', '100', '--json'], node.dir);
  assert.is(code, 0);
  assert.is(node.group.health().lastSeq >= lastSeq, true);
  const simulated = JSON.parse(out) as SimulationValue;
  assert.is(simulated.players, players.length);
  assert.ok(simulated.changed_count > 0 && simulated.changed.length === simulated.changed_count);
  const without = simulated.peers.filter(({ weight_after }) => weight_after === 0);
  assert.equal(without.map(({ peer_id }) => peer_id).sort(), liars.toSorted());

  const before = await Promise.all(players.map(verdictOf));
  for (const liar of liars) await node.group.changePeer('peer_status', liar, { status: 'revoked' }, 'test');
  await weightsSettled(node);
  const after = await Promise.all(players.map(verdictOf));
  const moved = players.filter((_, i) => before[i]!.verdict !== after[i]!.verdict).length;
  assert.is(simulated.changed_count, moved);
  // Reads may be of a later minute, and are rounded: to hundredths, and to whole numbers below three witnesses.
  const isRead = (score: number) => after.some((read) => Math.abs(read.score - score) < 0.55);
  for (const { after: then } of simulated.changed) assert.ok(isRead(then.score), String(then.score));
});

test('a walk over the log reports its progress, and no other simulation runs meanwhile', async () => {
  const heard: number[][] = [];
  const progress = { to: (done: number, total: number) => heard.push([done, total]), end: () => {} };
  const walk = () => callNode(node.dir, 'simulate', { half_life_days: 7, rows: 1 }, progress);
  const [{ seq }, second] = await Promise.all([walk(), walk().catch(({ code }: OperatorError) => code)]);
  assert.is(second, 'overloaded');
  assert.equal(heard.at(-1), [seq, seq]);
});

test.run();

/** Reads about a player whom fewer than three peers know: figures in steps, the same everywhere. */
import { hash } from 'node:crypto';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { callNode } from '../../../src/operator/cli/node-client.js';
import { closing } from '../../support/closing.js';
import { startTestNode, weightsSettled } from '../../support/node.js';
import { StreamReader } from '../../support/stream-reader.js';
import { until } from '../../support/until.js';
import { ask } from '../exchange.js';
import { newPlayer, registerPeer } from '../peer-client.js';

const salt = 'a salt of sixteen bytes';
const hashOf = (player: string): string => hash('sha256', player + salt, 'hex');

test('every answer, the stream and the export show the same steps of a player whom two peers know', async () => {
  await using node = await startTestNode({ GROUP_SALT: salt, WEIGHTS_INTERVAL_MS: '50' });
  const peers = await Promise.all(['A', 'B'].map((name) => registerPeer(node.url, name)));
  const known = newPlayer();
  for (const peer of peers) {
    for (const severity of [0.31, 0.77]) {
      const { status } = await peer.submit({ player_id: known, event_type: 'ban_applied', severity });
      assert.is(status, 201);
    }
  }
  await weightsSettled(node);
  const exact = node.group.trust(Buffer.from(hashOf(known), 'hex'))!;
  assert.not(Number.isInteger(exact.score), 'the verdict follows from the unrounded score');
  const single = (await ask(node.url, `/api/v1/players/${known}/trust-score`)).body;
  const figures = { score: Math.round(exact.score), confidence: single.confidence };
  assert.is(single.score, figures.score);
  assert.is((Number(single.confidence) * 20) % 1, 0);
  assert.ok(Math.abs(Number(single.confidence) - exact.confidence) < 0.05);

  const figuresOf = ({ score, confidence }: Record<string, unknown>) => ({ score, confidence });
  const explained = (await ask(node.url, `/api/v1/players/${known}/trust-score?explain=true`)).body;
  assert.equal(figuresOf(explained), figures);
  const verdict = (await ask(node.url, `/api/v1/players/${known}/verdict`)).body;
  assert.is(verdict.confidence, figures.confidence);
  const match = (await ask(node.url, `/api/v1/trust-scores?ids=${known},${known}`)).body;
  for (const row of match.data as Record<string, unknown>[]) assert.equal(figuresOf(row), figures);
  const exported = await callNode(node.dir, 'subject-export', { subject_hash: hashOf(known) });
  assert.equal(figuresOf({ ...exported.score }), figures);

  await using stream = closing(new StreamReader(peers[0]!.key));
  assert.is(await stream.connect(node.url), 200);
  await until(() => stream.table.has(hashOf(known)));
  assert.equal(figuresOf({ ...stream.table.get(hashOf(known))! }), figures);
});

test.run();

/** The client against a real node, a process of its own. */
import { existsSync } from 'node:fs';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { poolTransport } from '../../src/client/transport/pool-transport.js';
import { TransportError } from '../../src/client/transport/transport.js';
import { EventSpool } from '../../src/client/write/spool/event-spool.js';
import { startTestNode, type TestNode, type TestPeer } from '../../src/testing/test-node.js';
import { closing } from '../support/closing.js';
import { temporaryFolder } from '../support/process.js';
import { until } from '../support/until.js';
import { codeOf } from './code-of.js';

let node: TestNode;
let peer: TestPeer;

test.before(async () => {
  node = await startTestNode();
  [peer] = (await node.seed({ bad: ['cheater'], good: ['angel'] })) as [TestPeer];
});
test.after(() => node.close());

/** A budget that no machine is too busy for: which answer comes, and at which try, is not a matter of time here. */
const patientMs = 60_000;
const patient = { readBudgetMs: patientMs, attemptMs: patientMs, deadlineMs: patientMs };

const toxicity = { eventType: 'report_toxicity', gameId: 'arena', severity: 0.3 } as const;
const report = (eventId: string, more = {}) => ({ ...toxicity, playerId: `of ${eventId}`, eventId, ...more });

test("scores, verdict and explanation are the node's", async () => {
  const client = node.client(peer, { transport: poolTransport(node.url), ...patient });
  // The weights that the events of other tests lead to would move the score between two reads.
  await node.settled();
  const trusts = await client.scores(['cheater', 'angel', 'nobody', 'cheater']);
  assert.equal(
    trusts.map(({ verdict, known, source }) => `${verdict} ${known} ${source}`),
    ['untrusted true node', 'trusted true node', 'neutral false node', 'untrusted true node'],
  );
  assert.is(await client.verdict('cheater'), 'untrusted');
  const explained = await client.explain('cheater');
  assert.is(explained?.explain?.peers, 6);
  assert.is(explained?.score, trusts[0]?.score);
  assert.is(await client.explain('nobody'), null);
  await client.close();
});

test('events are submitted, repeated, withdrawn; players are erased', async () => {
  const client = node.client(peer, { transport: poolTransport(node.url), ...patient });
  assert.is((await client.submit(report('own-1'))).status, 'accepted');
  assert.is((await client.submit(report('own-1'))).status, 'duplicate');
  const outcome = await client.submitMany([
    report('own-1'),
    report('own-2', { at: Date.parse('2026-01-02T03:04:05.678Z') }),
    report('own-3', { gameId: 'chess' }),
    report('own-4', { severity: 2 }),
    report('own-5', { reference: 'ticket 4711' }),
    report('own-6', { origin: 'a list that nobody declared' }),
  ]);
  assert.equal(
    outcome.results.map(({ status, code }) => [status, code]),
    [
      ['duplicate', null],
      ['accepted', null],
      ['rejected', 'game_id_not_registered'],
      ['rejected', 'schema_validation_failed'],
      ['accepted', null],
      ['rejected', 'unknown_origin'],
    ],
  );
  await client.withdraw('own-1');
  assert.is(await codeOf(client.withdraw('own-1')), 'event_not_found');
  const erased = await client.eraseSubject('of own-2');
  assert.equal([erased.status, erased.eventsErased], ['erased', 1]);
  assert.is(await codeOf(client.eraseSubject('of own-2')), 'subject_not_found');
  await client.close();
});

test('an answer that is not awaited to its end leaves the connection usable', async () => {
  await using transport = closing(poolTransport(node.url));
  const controller = new AbortController();
  const ask = { method: 'GET', path: '/api/v1/openapi.json', headers: {}, signal: controller.signal } as const;
  const { body } = await transport.request(ask);
  for await (const chunk of body) {
    assert.ok(chunk.byteLength > 0);
    break;
  }
  assert.is((await transport.request(ask)).status, 200);
  controller.abort();
});

test('a refused connection certainly sent nothing', async () => {
  const closed = await startTestNode();
  await closed.close();
  await using transport = closing(poolTransport(closed.url));
  const { signal } = new AbortController();
  const error: unknown = await transport
    .request({ method: 'GET', path: '/', headers: {}, signal })
    .catch((e: unknown) => e);
  assert.ok(error instanceof TransportError);
  assert.is(error.sent, false);
});

test("an id that another peer's event has is refused, and a spool sets the event aside", async () => {
  const [one, other] = [peer, await node.register()];
  await node.client(one, patient).submit(report('taken'));
  const client = node.client(other, patient);
  assert.is(await codeOf(client.submit(report('taken', { playerId: 'another' }))), 'duplicate_event');
  const folder = temporaryFolder();
  await using spool = closing(await EventSpool.open({ folder, to: client }));
  await spool.add(report('taken', { playerId: 'another' }));
  await spool.drained();
  assert.equal([spool.progress.setAside, spool.progress.delivered], [1, 0]);
});

test('with the key of another peer a spool sets aside only events of an older peer id', async () => {
  const folder = temporaryFolder();
  const away = { ...patient, deadlineMs: 1, url: 'http://127.0.0.1:1' };
  const before = await EventSpool.open({ folder, to: node.client(await node.register(), away) });
  await before.add(report('of-an-older-id'));
  await before.close();
  const other = await node.register();
  const wrong = node.client({ ...peer, apiKey: other.apiKey }, patient);
  const spool = await EventSpool.open({ folder, to: wrong });
  await spool.add(report('under-a-wrong-key'));
  await until(() => spool.progress.phase === 'refused');
  assert.equal(
    [spool.progress.setAside, spool.progress.pending, spool.progress.lastError?.code],
    [1, 1, 'peer_id_mismatch'],
  );
  await spool.close();
  assert.is(await codeOf(wrong.submitMany([report('under-a-wrong-key')])), 'peer_id_mismatch');
  await using right = closing(await EventSpool.open({ folder, to: node.client(peer, patient) }));
  await right.drained();
  assert.is(right.progress.delivered, 1);
});

test('a node behind a path is reached', async () => {
  const client = node.client(peer, { url: `${node.url}/nowhere/` });
  assert.is(await codeOf(client.withdraw('x')), 'route_not_found');
});

test('a wrong key and a missing key are distinguished', async () => {
  assert.is(await codeOf(node.client({ ...peer, apiKey: 'ptf_dev_wrong' }).submit(report('w'))), 'invalid_api_key');
  assert.is(await codeOf(node.client(undefined, { peerId: peer.peerId }).submit(report('w'))), 'missing_api_key');
  assert.is(await codeOf(node.client().submit(report('w'))), 'invalid_argument');
});

test('without a node reads give the last known values, and a restarted node answers again', async () => {
  const client = node.client(peer, { readBudgetMs: patientMs });
  const before = await client.score('angel');
  await client.submit(report('before the kill'.replaceAll(' ', '-')));
  await node.kill();
  assert.not.ok(node.isRunning);
  const during = await client.score('angel', { budgetMs: 50 });
  assert.equal([during.source, during.score], ['last-known', before.score]);
  await node.start();
  const outcome = await client.submit(report('before-the-kill'));
  assert.is(outcome.status, 'duplicate', 'what was acknowledged survived the kill');
});

test('two peers of a seed are enough to make a player untrusted, four to make one trusted', async () => {
  for (const [peers, verdicts] of [
    [2, ['untrusted', 'neutral']],
    [4, ['untrusted', 'trusted']],
  ] as const) {
    const seeded = await startTestNode();
    try {
      const [one] = await seeded.seed({ bad: ['bad'], good: ['good'], peers });
      const read = await seeded.client(one).scores(['bad', 'good'], { budgetMs: 30_000 });
      assert.equal(
        read.map(({ verdict }) => verdict),
        verdicts,
      );
    } finally {
      await seeded.close();
    }
    assert.not.ok(existsSync(seeded.folder));
  }
});

test.run();

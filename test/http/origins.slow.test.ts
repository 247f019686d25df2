/** Origins and references over HTTP: from which schema version on, what is refused, and who sees them. */
import { hash } from 'node:crypto';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { bytesOfLiving } from '../support/living-folder.js';
import { startTestNode, type TestNode, weightsSettled } from '../support/node.js';
import { ask } from './exchange.js';
import { newPlayer, registerPeer } from './peer-client.js';

const salt = 'a salt of sixteen bytes';

async function withNode(run: (node: TestNode) => Promise<void>): Promise<void> {
  await using node = await startTestNode({ GROUP_SALT: salt, WEIGHTS_INTERVAL_MS: '50', SNAPSHOT_EVERY: '20' });
  await run(node);
}

async function declare(node: TestNode, name: string, change: 'add' | 'remove' = 'add'): Promise<void> {
  assert.ok((await node.group.changeOrigin(change, name, 'test')).ok);
}

test('origin and reference are unknown fields before schema version 1.1.0, and taken from it on', async () => {
  await withNode(async (node) => {
    await declare(node, 'list');
    const peer = await registerPeer(node.url);
    // Which versions have them is tested with the validator of events.
    for (const [name, value] of Object.entries({ origin: 'list', reference: 'ticket-1' })) {
      const submit = (schema_version: string) => peer.submit({ schema_version, player_id: newPlayer(), [name]: value });
      const { status, body } = await submit('1.0.0');
      assert.equal(
        [status, body.code, body.details.field, body.details.violation, body.error],
        [
          400,
          'schema_validation_failed',
          `/${name}`,
          'additionalProperties',
          `${name} is a field from schema_version 1.1.0 on`,
        ],
      );
      const taken = await submit('1.1.0');
      assert.equal([taken.status, taken.body[name]], [201, value]);
    }
    const major2 = await peer.submit({ schema_version: '2.0.0', origin: 'list' });
    assert.equal([major2.status, major2.body.code], [422, 'unsupported_schema_version']);
    const plain = await peer.submit({ schema_version: '1.1.0', player_id: newPlayer() });
    assert.equal([plain.status, 'origin' in plain.body, 'reference' in plain.body], [201, false, false]);
  });
});

test('a reference and an origin are checked like other strings', async () => {
  await withNode(async (node) => {
    const peer = await registerPeer(node.url);
    const fault = async (more: object) => {
      const { status, body } = await peer.submit({ schema_version: '1.1.0', ...more });
      return [status, body.details?.field, body.details?.violation];
    };
    assert.equal(await fault({ reference: '' }), [400, '/reference', 'minLength']);
    assert.equal(await fault({ reference: 'x'.repeat(129) }), [400, '/reference', 'maxLength']);
    assert.equal(await fault({ reference: ' x' }), [400, '/reference', 'pattern']);
    assert.equal(await fault({ reference: 'a\u200bb' }), [400, '/reference', 'pattern']);
    assert.equal(await fault({ reference: 7 }), [400, '/reference', 'type']);
    assert.equal(await fault({ origin: 'x'.repeat(65) }), [400, '/origin', 'maxLength']);
    assert.equal(await fault({ origin: null }), [400, '/origin', 'type']);
    const wide = '\u{1F600}'.repeat(128);
    const kept = await peer.submit({ schema_version: '1.1.0', reference: wide, player_id: newPlayer() });
    assert.equal([kept.status, kept.body.reference], [201, wide]);
  });
});

test('an undeclared origin is 422, alone and in a batch', async () => {
  await withNode(async (node) => {
    await declare(node, 'list');
    const peer = await registerPeer(node.url);
    const events = ['list', 'another'].map((origin) =>
      peer.event({ schema_version: '1.1.0', origin, player_id: newPlayer() }),
    );
    const batch = await ask(node.url, '/api/v1/events/batch', { key: peer.key, json: { events } });
    assert.equal(
      batch.body.results.map((one: { status: number; code?: string }) => one.code ?? one.status),
      [201, 'unknown_origin'],
    );
    await declare(node, 'list', 'remove');
    const { status, body } = await peer.submit({ schema_version: '1.1.0', origin: 'list' });
    assert.equal([status, body.code], [422, 'unknown_origin']);
    const again = await ask(node.url, '/api/v1/events/batch', { key: peer.key, json: { events } });
    assert.equal([again.body.duplicates, again.body.results[0].status], [1, 409], 'a stored event stays a duplicate');
  });
});

test('three peers that import one list under one origin move its players as far as one peer does', async () => {
  const scores: unknown[] = [];
  for (const importers of [1, 3]) {
    await withNode(async (node) => {
      await declare(node, 'list');
      const peers = await Promise.all(Array.from({ length: importers }, () => registerPeer(node.url)));
      const timestamp = new Date(Date.now() - 60_000).toISOString();
      for (const peer of peers) {
        const events = Array.from({ length: 20 }, (_, i) =>
          peer.event({ schema_version: '1.1.0', origin: 'list', player_id: `listed-${i}`, severity: 1, timestamp }),
        );
        const { body } = await ask(node.url, '/api/v1/events/batch', { key: peer.key, json: { events } });
        assert.is(body.accepted, 20);
      }
      await weightsSettled(node);
      const { body } = await ask(node.url, '/api/v1/players/listed-3/trust-score?explain=true');
      assert.is(body.event_count, importers);
      scores.push([
        Math.round(body.score * 10),
        Math.round(body.confidence * 100),
        body.verdict,
        body.explain.witnesses,
      ]);
      const [origin] = node.group.origins();
      assert.is(origin!.carriers.length, importers);
    });
  }
  assert.equal(scores[0], scores[1]);
  assert.ok((scores[0] as number[])[0]! < 500, 'the list counts');
});

test('a peer lists its own events and those that it carries, newest first, page by page', async () => {
  await withNode(async (node) => {
    await declare(node, 'a');
    await declare(node, 'b');
    const [peer, other] = [await registerPeer(node.url), await registerPeer(node.url)];
    const player_id = newPlayer();
    const sent: string[] = [];
    for (let i = 0; i < 9; i++) {
      const labels = [{}, { origin: 'a', reference: `case ${i}` }, { origin: 'b' }][i % 3];
      const { status, body } = await peer.submit({
        schema_version: '1.1.0',
        player_id,
        event_id: `mine-${i}`,
        ...labels,
      });
      assert.is(status, 201);
      sent.unshift(body.event_id);
      await other.submit({ schema_version: '1.1.0', player_id, origin: 'a', reference: `theirs-${i}` });
    }
    const seen: { event_id: string; origin?: string; reference?: string }[] = [];
    let cursor: string | null = null;
    do {
      const query = `limit=2${cursor === null ? '' : `&cursor=${cursor}`}`;
      const { status, body, text } = await ask(node.url, `/api/v1/players/${player_id}/events?${query}`, {
        key: peer.key,
      });
      assert.is(status, 200);
      assert.not(text.includes('theirs-'));
      seen.push(...body.data);
      cursor = body.next_cursor;
    } while (cursor !== null);
    assert.equal(
      seen.map(({ event_id }) => event_id),
      sent,
    );
    assert.equal(seen.map(({ origin }) => origin ?? 'own').slice(0, 3), ['b', 'a', 'own']);
    assert.is(seen[1]!.reference, 'case 7');
    const open = await ask(node.url, `/api/v1/players/${player_id}/events`);
    assert.not(open.text.includes('case 7'));
    assert.is(open.body.total, 18);
    assert.equal(open.body.summary, [{ event_type: 'other', count: 18 }], 'two peers, whatever they carry');
    const wrong = await ask(node.url, `/api/v1/players/${newPlayer()}x/events?cursor=${cursor ?? 'MTpldmVudHM6MQ'}`, {
      key: peer.key,
    });
    assert.is(wrong.status, 404);
  });
});

test('a reference leaves log and snapshots with its event: by withdrawal, and by an erasure', async () => {
  await withNode(async (node) => {
    await declare(node, 'list');
    const peer = await registerPeer(node.url);
    const [withdrawn, erased, kept] = [newPlayer(), newPlayer(), newPlayer()];
    const labels = { schema_version: '1.1.0', origin: 'list' };
    await peer.submit({ ...labels, player_id: withdrawn, event_id: 'ref-withdrawn', reference: 'TICKET-OF-WITHDRAWN' });
    await peer.submit({ ...labels, player_id: erased, reference: 'TICKET-OF-ERASED' });
    await peer.submit({ ...labels, player_id: kept, reference: 'TICKET-OF-KEPT' });
    const fillers = Array.from({ length: 40 }, () => peer.event({ player_id: newPlayer() }));
    await ask(node.url, '/api/v1/events/batch', { key: peer.key, json: { events: fillers } });
    for (const one of ['WITHDRAWN', 'ERASED', 'KEPT'])
      assert.ok(bytesOfLiving(node.dir).includes(`TICKET-OF-${one}`), one);
    const withdrawal = await ask(node.url, '/api/v1/events/ref-withdrawn', { method: 'DELETE', key: peer.key });
    assert.is(withdrawal.status, 200);
    const subject = hash('sha256', erased + salt, 'hex');
    assert.is((await ask(node.url, `/api/v1/subjects/${subject}`, { method: 'DELETE', key: peer.key })).status, 200);
    const bytes = bytesOfLiving(node.dir);
    for (const one of ['WITHDRAWN', 'ERASED']) assert.not(bytes.includes(`TICKET-OF-${one}`), one);
    assert.ok(bytes.includes('TICKET-OF-KEPT'));
  });
});

test.run();

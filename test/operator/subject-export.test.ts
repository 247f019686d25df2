/** The document of `ptf subject export`: its published schema, and that it holds every kind of record of a player. */
import { hash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { eventTypeNames } from '../../src/core/evidence/event-types.js';
import { disputeStatuses, verdicts } from '../../src/core/vocabulary.js';
import { limits } from '../../src/limits.js';
import { asksOf } from '../../src/operations/table.js';
import { ask } from '../http/exchange.js';
import { newPlayer, registerPeer } from '../http/peer-client.js';
import { startTestNode } from '../support/node.js';

const salt = 'a salt of sixteen bytes';

const schema = JSON.parse(
  readFileSync(new URL('../../../docs/operating/subject-export.schema.json', import.meta.url), 'utf8'),
);

test('the published schema names every event type, verdict and status of a dispute', () => {
  const { events, score, disputes } = schema.properties;
  assert.equal(events.items.properties.event_type.enum, eventTypeNames);
  assert.equal(score.anyOf[0].properties.verdict.enum, verdicts);
  assert.equal(disputes.items.properties.status.enum, disputeStatuses);
});

test('an export has every kind of record of a player, fits the schema, and is audited without a name', async () => {
  await using node = await startTestNode({ GROUP_SALT: salt, ERASURE_MODE: 'operator' });
  const askOperator = asksOf({ group: node.group, version: 'test', pseudonymise: () => null });
  const [reporter, other] = [await registerPeer(node.url), await registerPeer(node.url)];
  const player_id = newPlayer();
  const subject_hash = hash('sha256', player_id + salt, 'hex');
  assert.ok((await node.group.changeOrigin('add', 'list', 'test')).ok);
  await reporter.submit({ player_id, schema_version: '1.1.0', reference: 'ticket 1' });
  await other.submit({ player_id, schema_version: '1.1.0', origin: 'list' });
  const path = `/api/v1/subjects/${subject_hash}`;
  const opened = await ask(node.url, `${path}/disputes`, { key: other.key, json: { text: 'not so' } });
  const decided = await node.group.decideDispute('uphold', opened.body.dispute_id, [reporter.peerId], 'test');
  assert.ok(decided.ok);
  const untilMs = Date.now() + 3_600_000;
  const subject = Buffer.from(subject_hash, 'hex');
  for (const note of ['first', 'second']) assert.ok((await node.group.allowPlayer(subject, untilMs, note, 'test')).ok);
  assert.is((await ask(node.url, path, { method: 'DELETE', key: other.key })).status, 202);
  const unknown = await askOperator('subject-export', { subject_hash: 'ab'.repeat(32) });
  assert.is(unknown.ok ? 'exported' : unknown.code, 'subject_not_found');
  const answer = await askOperator('subject-export', { subject_hash, by: 'alice' });
  assert.ok(answer.ok);
  const { value } = answer;
  const validate = new Ajv2020({ allowUnionTypes: true, validateFormats: false }).compile(schema);
  assert.ok(validate(JSON.parse(JSON.stringify(value))), JSON.stringify(validate.errors));
  const ofOrigins = (rows: readonly { origin: string | null; void: boolean }[]) =>
    rows.map((row) => `${row.origin} ${row.void ? 'void' : 'counts'}`);
  assert.equal(ofOrigins(value.events), ['list counts', 'null void']);
  assert.equal([value.events[0]?.reference, value.events[1]?.reference], [null, 'ticket 1']);
  assert.equal(ofOrigins(value.sums), ['null void', 'list counts']);
  assert.equal([value.sums[0]?.events, value.sums[1]?.events], [1, 1]);
  // The player is the first of the group.
  assert.ok(value.sums.every(({ lowering }) => lowering > 0));
  assert.equal([value.disputes.length, value.disputes[0]?.text, value.disputes[0]?.status], [1, 'not so', 'upheld']);
  assert.equal([value.erasure_requests.length, value.erasure_requests[0]?.peer_id], [1, other.peerId]);
  assert.is(value.score!.event_count, 2);
  assert.equal([value.allow_list?.note, value.past_allow_list.map(({ note }) => note)], ['second', ['first']]);
  const actions = value.audit.map(({ action }) => action);
  const allowed = ['player_allowed', 'player_allowed'];
  assert.equal(actions, ['dispute_opened', 'dispute_upheld', ...allowed, 'erasure_requested', 'subject_exported']);
  const { actor, target } = value.audit.at(-1)!;
  assert.equal([actor, target], ['operator:alice', hash('sha256', value.receipt + subject_hash, 'hex')]);
});

test('an export holds the text of a rejected dispute that is in the log alone, and its decision', async () => {
  const before = limits.disputesRejectedMax;
  const node = await startTestNode({ GROUP_SALT: salt });
  Object.assign(limits, { disputesRejectedMax: 1 });
  try {
    const peer = await registerPeer(node.url);
    const player_id = newPlayer();
    const subject_hash = hash('sha256', player_id + salt, 'hex');
    await peer.submit({ player_id });
    for (const text of ['first', 'second']) {
      const json = { text };
      const opened = await ask(node.url, `/api/v1/subjects/${subject_hash}/disputes`, { key: peer.key, json });
      assert.ok((await node.group.decideDispute('reject', opened.body.dispute_id, [], 'test')).ok);
    }
    const answer = await asksOf({ group: node.group, version: 'test', pseudonymise: () => null })('subject-export', {
      subject_hash,
    });
    assert.ok(answer.ok);
    const textsOf = (disputes: readonly { text: string }[]) => disputes.map(({ text }) => text);
    assert.equal([textsOf(answer.value.disputes), textsOf(answer.value.past_disputes)], [['second'], ['first']]);
    const rejections = answer.value.audit.filter(({ action }) => action === 'dispute_rejected');
    assert.equal(
      rejections.map(({ target }) => target),
      [answer.value.past_disputes[0]!.dispute_id, answer.value.disputes[0]!.dispute_id],
    );
  } finally {
    Object.assign(limits, { disputesRejectedMax: before });
    await node.close();
  }
});

test.run();

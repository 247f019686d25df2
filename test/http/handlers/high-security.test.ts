/** Ids of players in a group of high-security mode, which takes subject hashes alone. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { bytesOf } from '../../../src/core/tables/event-columns.js';
import { type Answer, ask } from '../exchange.js';
import { startFace } from '../face.js';
import { activeKey } from '../group-double.js';
import { eventBody } from '../samples.js';

test('in high-security mode an id of a player in a path or a query must be a subject hash', async () => {
  await using face = await startFace({ highSecurity: true });
  const hashed = 'Ab'.repeat(32);
  for (const read of ['trust-score', 'verdict', 'events']) {
    const raw = await ask(face.url, `/api/v1/players/passport-1/${read}`);
    assert.equal([raw.status, raw.body.code], [422, 'subject_hash_required']);
    assert.is((await ask(face.url, `/api/v1/players/${hashed}/${read}`)).status, 404);
  }
  const match = await ask(face.url, `/api/v1/trust-scores?ids=${hashed},passport-1`);
  assert.equal([match.status, match.body.code], [422, 'subject_hash_required']);
  assert.is((await ask(face.url, `/api/v1/trust-scores?ids=${hashed}`)).status, 200);
});

test('an id that the identity mode forbids reaches the group as no subject', async () => {
  const subjects: (string | null)[] = [];
  await using face = await startFace({
    highSecurity: true,
    group: {
      submit: async (_caller, events) => {
        for (const { subject } of events)
          subjects.push(subject === null ? null : Buffer.from(bytesOf(subject)).toString('hex'));
        return events.map(() => ({ ok: true, value: { receivedAt: 0 } }));
      },
    },
  });
  const send = (player_id: string): Promise<Answer> =>
    ask(face.url, '/api/v1/events', { key: activeKey, json: eventBody({ player_id }) });
  await send('passport-1');
  const { body } = await send('AB'.repeat(32));
  assert.equal(subjects, [null, 'ab'.repeat(32)]);
  assert.is(body.player_id, 'AB'.repeat(32));
  const players = ['passport-1', 'cd'.repeat(32), 'passport-2', 'EF'.repeat(32)];
  const events = players.map((player_id, i) => eventBody({ player_id, event_id: `e${i}` }));
  await ask(face.url, '/api/v1/events/batch', { key: activeKey, json: { events } });
  assert.equal(subjects.slice(2), [null, 'cd'.repeat(32), null, 'ef'.repeat(32)]);
});

test.run();

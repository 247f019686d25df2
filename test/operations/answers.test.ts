/** Requests of the operator as the group gets them, and pages of its lists. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { granted } from '../../src/errors.js';
import type { OperatorApi } from '../../src/group/api.js';
import { asksOf, type OperationName, type Values } from '../../src/operations/table.js';
import { peerView, recordedGroup } from '../operator/recorded-group.js';

const hash = '5f'.repeat(32);
const subject = Buffer.from(hash, 'hex');
const epoch = '1970-01-01T00:00:00.000Z';

function asking(peers: number, replaced: Partial<OperatorApi> = {}) {
  const { group, calls } = recordedGroup(peers, replaced);
  const ask = asksOf({ group, version: '1', pseudonymise: () => null });
  const answered = async <N extends OperationName>(name: N, request: object): Promise<Values[N]> => {
    const answer = await ask(name, request);
    if (!answer.ok) throw new Error(answer.code);
    return answer.value;
  };
  return { answered, calls };
}

test('the group gets each change with the name of the operator, the bytes of a hash, and times in ms', async () => {
  const [peer_id, second] = ['peer-0', '1970-01-01T00:00:01Z'];
  const halfLives = { halfLifeDays: null, banHalfLifeDays: null };
  for (const [name, request, call] of [
    ['allow-add', { subject_hash: hash, until: second, note: 'n' }, ['allowPlayer', subject, 1_000, 'n']],
    ['allow-remove', { subject_hash: hash.toUpperCase() }, ['disallowPlayer', subject]],
    ['erase-refuse', { subject_hash: hash.toUpperCase(), reason: 'no' }, ['refuseErasure', subject, 'no']],
    ['erase', { subject_hash: hash.toUpperCase() }, ['confirmErasure', subject]],
    ['subject-export', { subject_hash: hash.toUpperCase() }, ['exportSubject', subject]],
    ['peers-set-key', { peer_id, public_key: null }, ['changePeer', 'public_key', peer_id, { publicKey: null }]],
    ['peers-note', { peer_id, note: 'n' }, ['changePeer', 'note', peer_id, { note: 'n' }]],
    ['peers-purge', { idle_ms: 5 }, ['purgePeers', 5]],
    ['origins-change', { change: 'remove', name: 'a' }, ['changeOrigin', 'remove', 'a']],
    ['pretrust-change', { change: 'add', peer_id }, ['preTrust', 'add', peer_id]],
  ] as const) {
    const { answered, calls } = asking(1);
    const value = await answered(name, { ...request, by: 'alice' });
    assert.equal(
      calls.filter(([method]) => method === call[0]),
      [[...call, 'operator:alice']],
      name,
    );
    const { subject_hash } = value as { subject_hash?: string };
    assert.is(subject_hash, 'subject_hash' in request ? hash : undefined, name);
  }
  const { answered, calls } = asking(2);
  await answered('peers-add', { peer_name: 'a', game_ids: ['g'], contact_email: 'a@b.de', by: 'alice' });
  const registration = { peerName: 'a', gameIds: ['g'], contactEmail: 'a@b.de' };
  assert.equal(calls.at(-1), ['register', registration, 'operator:alice', true]);
  const simulated = async (request: object) => {
    await answered('simulate', { rows: 1, ...request });
    return calls.at(-1)![1];
  };
  const query = { preTrusted: null, without: [], ...halfLives, rowsMax: 1 };
  assert.equal(await simulated({ without: ['peer-1'] }), { ...query, without: ['peer-1'] });
  assert.equal(await simulated({ pre_trusted: [] }), { ...query, preTrusted: [] });
  assert.equal(await simulated({ half_life_days: 0 }), { ...query, halfLifeDays: 0 });
  assert.equal(await simulated({ ban_half_life_days: 9 }), { ...query, banHalfLifeDays: 9 });
});

test('a page of peers is filtered by status and weight, and the next page begins behind what was read', async () => {
  const all = [
    { ...peerView(0), weight: 0.1 },
    { ...peerView(1), status: 'suspended' as const },
    { ...peerView(2), weight: 0.3 },
  ];
  const { answered } = asking(0, { peers: (from, limit) => all.slice(from, from + limit) });
  const page = async (request: object) => {
    const { data, next_from } = await answered('peers-list', { from: 0, limit: 2, ...request });
    return [data.map(({ peer_id }) => peer_id).join(), next_from];
  };
  assert.equal(await page({}), ['peer-0,peer-1', 2]);
  assert.equal(await page({ from: 2 }), ['peer-2', null]);
  assert.equal(await page({ limit: 3 }), ['peer-0,peer-1,peer-2', null]);
  assert.equal(await page({ status: 'suspended' }), ['peer-1', 2]);
  assert.equal(await page({ limit: 3, weight_below: 0.3 }), ['peer-0', null]);
  assert.equal(await page({ limit: 3, weight_below: 0.3, status: 'suspended' }), ['', null]);
});

test('a page of disputes, of allowed players and of erasures names where the next begins', async () => {
  const [dispute] = recordedGroup(0).group.disputes(undefined, 0, 1);
  const disputes = Array.from({ length: 3 }, (_, i) => ({ ...dispute!, openedAt: i * 1_000 }));
  const allowed = ['a', 'b', 'c'].map((one) => ({ subject: one, entryId: 'e', until: 0, note: 'n' }));
  const { answered } = asking(0, {
    disputes: (_, from, end) => disputes.slice(from, end),
    allowedPlayers: () => allowed,
  });
  const listed = async (from: number, limit: number, since?: string) => {
    const { data, next_from } = await answered('disputes-list', { from, limit, ...(since && { since }) });
    return [data.map(({ opened_at }) => Date.parse(opened_at) / 1_000), next_from];
  };
  assert.equal(await listed(0, 2), [[0, 1], 2]);
  assert.equal(await listed(1, 2), [[1, 2], null]);
  assert.equal(await listed(0, 3, '1970-01-01T00:00:01Z'), [[1, 2], null]);
  const allowedIn = async (from: number, limit: number) => {
    const { data, next_from } = await answered('allow-list', { from, limit });
    return [data.map((one) => one.subject_hash).join(), next_from];
  };
  assert.equal(await allowedIn(0, 2), ['a,b', 2]);
  assert.equal(await allowedIn(1, 2), ['b,c', null]);
  assert.equal(await allowedIn(2, 2), ['c', null]);
});

test('players are listed by verdict from the position on that the group names', async () => {
  const read = { verdict: 'neutral', score: 50, confidence: 0.5 } as const;
  const player = { ...read, subject: hash, eventCount: 2, updatedAt: 0 };
  const { answered, calls } = asking(0, { playersBy: () => ({ players: [player], next: 9 }) });
  const { data, next_from } = await answered('players-list', { verdicts: ['neutral'], from: 4, limit: 2 });
  assert.equal(calls, [['playersBy', ['neutral'], 4, 2]]);
  assert.equal([data, next_from], [[{ subject_hash: hash, ...read, event_count: 2, updated_at: epoch }], 9]);
});

test('a listed peer has its signals, and the events that were too old to count', async () => {
  const { answered } = asking(1, {
    signals: () => ({
      players: 9,
      sharedPlayers: 4,
      discountedWith: [{ peerId: 'peer-2', sharedPlayers: 3, agreement: 0.5 }],
      oneWitnessWith: [{ peerId: 'peer-3', reason: 'clones' }],
    }),
    tooOld: () => ({ events: 2, newest: 0 }),
    sharedErasures: () => 5,
  });
  const { signals, too_old, shared_erasures } = await answered('peers-show', { peer_id: 'peer-0' });
  assert.equal([too_old, shared_erasures], [{ events: 2, newest: epoch }, 5]);
  assert.equal(signals, {
    players: 9,
    shared_players: 4,
    discounted_with: [{ peer_id: 'peer-2', shared_players: 3, agreement: 0.5 }],
    one_witness_with: [{ peer_id: 'peer-3', reason: 'clones' }],
  });
});

test('a simulation counts the verdicts that change, and rounds its figures as those of a player', async () => {
  const { answered } = asking(2);
  const { changed_count, changed, peers } = await answered('simulate', { rows: 1, without: ['peer-1'] });
  assert.equal([changed_count, changed[0]!.subject_hash, changed[0]!.event_count], [1, hash, 4]);
  assert.equal(peers, [{ peer_id: 'peer-0', peer_name: 'Peer 0', weight_before: 0.7, weight_after: 0 }]);
  const { before, after } = changed[0]!;
  assert.equal(before, { score: 12.35, confidence: 0.6123, verdict: 'untrusted' });
  // Few peers speak.
  assert.equal(after, { score: 31, confidence: 0.4, verdict: 'suspicious' });
});

test('the dashboard is unlocked, also on a node without one', async () => {
  let unlocked = 0;
  const { group } = recordedGroup(0);
  const node = { group, version: '1', pseudonymise: () => null };
  assert.equal(
    await asksOf({ ...node, unlockDashboard: () => void unlocked++ })('dashboard-unlock', {}),
    granted({ ok: true }),
  );
  assert.equal(await asksOf(node)('dashboard-unlock', {}), granted({ ok: true }));
  assert.is(unlocked, 1);
});

test.run();

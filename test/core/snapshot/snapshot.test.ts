import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { FOLLOWS, FOLLOWS_CLAIM } from '../../../src/core/evidence/evidence.js';
import type { GroupFormed } from '../../../src/core/records/records.js';
import { decideDispute, decideDisputeOpened } from '../../../src/core/rules/decide-dispute.js';
import { decideErasure } from '../../../src/core/rules/decide-removal.js';
import { decideHalfLife, decideSetting } from '../../../src/core/rules/decide-setting.js';
import { loadSnapshot, type SnapshotBlock, snapshotBlocks } from '../../../src/core/snapshot/snapshot.js';
import { stateDigest } from '../../../src/core/snapshot/state-digest.js';
import { GroupState } from '../../../src/core/state.js';
import type { PeerEntries } from '../../../src/core/tables/peer-entries.js';
import { messageOf } from '../../../src/errors.js';
import { limits } from '../../../src/limits.js';
import { withBounds } from '../../sim/profile.js';
import { bounds, Given, hourMs, salt, subjectOf, t0 } from '../../support/given.js';
import { Random } from '../../support/random.js';
import { actAtRandom } from '../random-act.js';

/** A life of a group: events of many peers, withdrawals, erasures, a new half-life. */
function lived(seed: number, steps: number): Given {
  const random = new Random(seed);
  const given = new Given(3).peers(8);
  for (let step = 0; step < steps; step++) {
    const now = t0 + step * hourMs;
    const seqs = given.records.flatMap(({ record }, i) => (record.type === 'event_accepted' ? [i + 1] : []));
    if (random.below(40) > 0 || seqs.length === 0) actAtRandom(given, random, now, 50, 40);
    else given.withdraw(null, random.pick(seqs), now);
  }
  return given;
}

function replayed(given: Given, upTo = given.records.length): GroupState {
  const state = new GroupState(given.records[0]!.record as GroupFormed, salt);
  for (const { record, at } of given.records.slice(0, upTo)) state.apply(record, at);
  return state;
}

/** The state from the records of events that are sorted before they go into the tables. */
function sorted({ records, state: { formed } }: Given): GroupState {
  const state = new GroupState(formed, salt);
  state.sortEvents(10_000);
  for (const { record, at } of records) state.apply(record, at);
  state.settle();
  return state;
}

/** The other contents of a snapshot: how each comes into a state, and where it is seen there. */
const contents: Readonly<Record<string, readonly [act: (given: Given) => void, seen: (state: GroupState) => unknown]>> =
  {
    'carriers of an origin': [
      (given) => void given.origin('list').event(0, 'a', { schemaVersion: '1.1.0', origin: 'list' }),
      ({ origins }) => [origins.list, origins.carriers],
    ],
    'void evidence': [
      (given) => {
        const dispute = { disputeId: 'd', caller: 1, subject: subjectOf('a'), text: 'no', by: 't' };
        given.done(decideDisputeOpened(given.state, dispute, t0));
        const decision = { disputeId: 'd', decision: 'uphold', peerIds: ['peer-0'], by: 't' } as const;
        given.done(decideDispute(given.state, decision, t0));
      },
      ({ subjects }) => [0, 1].map((i) => subjects.entries.isVoid(subjects.firstEntry(0) + i)),
    ],
    'the half-life of measures': [
      (given) => void given.done(decideHalfLife(given.state, 'measures', 15, t0 + hourMs), t0 + hourMs),
      ({ measureScale }) => measureScale,
    ],
    'settings of the group': [
      (given) => void given.done(decideSetting(given.state, { name: 'PEERS_MAX', value: 7, by: 't' }, t0)),
      ({ settings }) => settings,
    ],
    'counts of an hour': [
      (given) => void given.event(0, 'b', {}, t0 + 3 * hourMs),
      ({ hourlyCounts }) => hourlyCounts.all,
    ],
    'the filter of repeats': [(given) => void given.event(0, 'c'), ({ repeats }) => [...repeats.held()]],
    'erased events': [
      (given) => given.apply([{ type: 'events_erased', peer: 1, events: [given.state.lastSeq] }], t0),
      ({ erasedEvents }) => [...erasedEvents.all()],
    ],
    'erasures that wait for the operator': [
      (given) => {
        const command = { caller: 1, subject: subjectOf('a'), commitment: 'c', by: 'peer-1' };
        given.done(decideErasure(given.state, { ...bounds, erasureMode: 'operator' }, command, t0));
      },
      ({ erasureRequests }) => erasureRequests.all(),
    ],
  };

for (const [what, [act, seen]] of Object.entries(contents)) {
  test(`the records, sorted or not, and a snapshot restore ${what}`, () => {
    const given = new Given(30).peers(2);
    for (const peer of [0, 1]) given.event(peer, 'a', { eventType: 'ban_applied' });
    const [digest, before] = [stateDigest(given.state), JSON.stringify(seen(given.state))];
    act(given);
    assert.is.not(stateDigest(given.state), digest);
    assert.is.not(JSON.stringify(seen(given.state)), before);
    for (const state of [replayed(given), sorted(given), loadSnapshot(snapshotBlocks(given.state), salt)]) {
      assert.equal([seen(state), stateDigest(state)], [seen(given.state), stateDigest(given.state)]);
    }
  });
}

test('a snapshot and the tail behind it equal the full replay, bit for bit, at every cut', () => {
  const given = lived(7, 400);
  const digest = stateDigest(given.state);
  assert.is(stateDigest(replayed(given)), digest);
  for (let cut = 1; cut <= given.records.length; cut += 7) {
    const state = loadSnapshot(snapshotBlocks(replayed(given, cut)), salt);
    assert.is(state.lastSeq, cut);
    for (const { record, at } of given.records.slice(cut)) state.apply(record, at);
    assert.is(stateDigest(state), digest);
  }
});

test('the blocks of a table lie in one memory, whatever its length', () => {
  const given = new Given().peers(2);
  for (let i = 0; i < 20_000; i++) given.event(i % 2, `p${i}`, { eventId: `e${i}` });
  const blocks = new Map<string, number>();
  const memory = new Set<ArrayBufferLike>();
  for (const { key, bytes } of snapshotBlocks(given.state)) {
    const table = key.slice(0, key.indexOf('/'));
    blocks.set(table, (blocks.get(table) ?? 0) + 1);
    if (table === 'players') memory.add(bytes.buffer);
  }
  assert.ok(blocks.get('players')! > 3, `${blocks.get('players')} blocks`);
  assert.is(memory.size, 1);
  assert.is(stateDigest(loadSnapshot(snapshotBlocks(given.state), salt)), stateDigest(given.state));
});

test('the digest does not depend on the order of rows, and does on every value', () => {
  const one = new Given().peers(2);
  const other = new Given().peers(2);
  one.event(0, 'a', { eventId: 'x' });
  one.event(1, 'b', { eventId: 'y' });
  other.event(1, 'b', { eventId: 'y' });
  other.event(0, 'a', { eventId: 'x' });
  assert.is.not(stateDigest(one.state), stateDigest(other.state), 'the heads of chains differ');
  one.event(1, 'a', { eventType: 'ban_applied' });
  for (const change of [
    (entries: PeerEntries) => entries.scale(1 - Number.EPSILON, 1),
    (entries: PeerEntries) => entries.scale(1, 1 - Number.EPSILON),
    (entries: PeerEntries, entry: number) => entries.setFollows(entry, FOLLOWS),
    (entries: PeerEntries, entry: number) => entries.setFollows(entry, FOLLOWS_CLAIM),
  ]) {
    const copy = loadSnapshot(snapshotBlocks(one.state), salt);
    assert.is(stateDigest(copy), stateDigest(one.state));
    const entry = copy.subjects.findEntry(copy.subjects.find(subjectOf('a')), 1);
    assert.is(copy.subjects.entries.measure(entry), 1);
    change(copy.subjects.entries, entry);
    assert.is.not(stateDigest(copy), stateDigest(one.state));
  }
});

test('the digest of a state stays what it is, however many items come to be hashed side by side', () => {
  const given = new Given().peers(3);
  const digests = Array.from({ length: 6 }, (_, i) => {
    const eventType = i % 2 === 0 ? 'report_cheating' : 'ban_applied';
    given.event(i % 3, i < 3 ? 'a' : `p${i}`, { eventId: `e${i}`, eventType });
    return stateDigest(given.state).slice(0, 8);
  });
  assert.is(digests.join(), '35489119,8579f825,123b39c6,76fbc99a,69914eef,073f2d59');
});

function copied(state: GroupState): SnapshotBlock[] {
  return Array.from(snapshotBlocks(state), ({ key, bytes }) => ({ key, bytes: bytes.slice() }));
}

test('a player with more peers than fit in a block has a larger block of its own', () =>
  withBounds({ snapshotBlockBytes: 100 }, async () => {
    const given = new Given().peers(4);
    for (let peer = 0; peer < 4; peer++) given.event(peer, 'a');
    given.event(0, 'b');
    assert.is(stateDigest(loadSnapshot(snapshotBlocks(given.state), salt)), stateDigest(given.state));
  }));

test('the refusal of a snapshot says what is wrong with it', () => {
  const blocks = copied(lived(3, 100).state);
  const refused = (wrong: SnapshotBlock[]) => {
    try {
      loadSnapshot(wrong, salt);
      return 'loaded';
    } catch (error) {
      return messageOf(error);
    }
  };
  assert.is(refused(blocks), 'loaded');
  assert.is(refused([]), 'snapshot: no meta block');
  const unknown = { key: 'rows/00000000', bytes: new Uint8Array(8) };
  assert.is(refused([...blocks, unknown]), 'snapshot: unknown block rows/00000000');
  const withoutPlayers = blocks.filter(({ key }) => !key.startsWith('players/'));
  assert.is(refused(withoutPlayers), 'snapshot: a ban belongs to no pair');
  for (const head of [-1, 0.5, Number.NaN, limits.seqMax + 1]) {
    const damaged = blocks.map(({ key, bytes }) => {
      const other = Buffer.from(bytes);
      // The head of the first pair lies behind 50 bytes of its player and 22 of other columns.
      if (key.startsWith('players/')) other.writeDoubleLE(head, 72);
      return { key, bytes: other };
    });
    assert.is(refused(damaged), 'snapshot: the head of a pair is not a record of the log');
  }
});

test('a snapshot with a block missing is refused', () => {
  const blocks = copied(lived(3, 100).state);
  for (const key of ['meta', 'ids/00000000', 'audit/00000000', 'bans/00000000', 'repeats/00000000']) {
    assert.throws(() =>
      loadSnapshot(
        blocks.filter((block) => block.key !== key),
        salt,
      ),
    );
  }
});

test.run();

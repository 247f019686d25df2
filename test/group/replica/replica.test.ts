/** A replica publishes changes per generation, and computes with the settings that are in force. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { SettingName } from '../../../src/core/settings.js';
import type { FeedPiece, FeedWork } from '../../../src/group/ports/pool.js';
import { Replica, type ScoringSettings } from '../../../src/group/replica/replica.js';
import { salt, subjectOf } from '../../support/given.js';
import { MemoryLog } from '../../support/memory-log.js';
import { MemorySnapshotStore } from '../../support/memory-snapshots.js';
import { type Act, Life } from '../life.js';

const event = (id: string): Act => ({ type: 'event', peer: 0, id, player: `player of ${id}`, severity: 1 });

test('changes begin anew with each generation and after their end, and only the newest can be walked', async () => {
  const life = await Life.begin();
  const { machine } = life;
  await life.act(event('a'));
  const replica = new Replica(machine.log, new MemorySnapshotStore(), salt);
  const publish = (generation: string, more: Partial<FeedWork> = {}) => {
    const upTo = machine.actor.durableSeq;
    return replica.publishChanges({ generation, upTo, at: machine.now, asOf: machine.now, erasedOnly: false, ...more });
  };
  const walk = (generation: string) => {
    const walked = replica.walkChanges({ generation, from: 0, since: 0 });
    return walked === null || walked === 'forgotten' ? walked : walked.players.scores.length;
  };
  assert.is(walk('one'), null);
  assert.equal([publish('one').isFirst, publish('one').isFirst, publish('two').isFirst], [true, false, true]);
  assert.equal([walk('one'), walk('two')], [null, 1]);
  await life.act(event('b'));
  const subjectsOf = ({ rows }: FeedPiece) => rows.map(({ subject }) => subject);
  assert.equal(subjectsOf(publish('two', { erasedOnly: true })), []);
  assert.equal(subjectsOf(publish('two')), [subjectOf('player of b').toString('hex')]);
  replica.endFeed();
  assert.equal([walk('two'), publish('two').isFirst], [null, true]);
});

test('the settings of the log are in force in a cluster, and those of the node where it serves alone', async () => {
  const life = await Life.begin();
  const { machine } = life;
  await life.act(event('a'));
  const piOf = (scoring: ScoringSettings) => {
    const replica = new Replica(machine.log, new MemorySnapshotStore(), salt, scoring);
    return replica.weights(machine.actor.durableSeq, machine.now).pi;
  };
  const [low, high] = [piOf({ badSharePrior: 0.01 }), piOf({ badSharePrior: 0.2 })];
  assert.ok(low < high);
  assert.is(piOf({ badSharePrior: 0.2, isLogged: true }), high, 'the log has no value yet');
  const name: SettingName = 'PRIOR_BAD_SHARE';
  await machine.ask('set', { type: 'setting', name, value: 0.01, by: 'op' });
  assert.equal([piOf({ badSharePrior: 0.2, isLogged: true }), piOf({ badSharePrior: 0.2 })], [low, high]);
});

test('a replica of an empty log fails, and one that lacks a batch is damaged until the log is whole again', async () => {
  const empty = new Replica(new MemoryLog(), new MemorySnapshotStore(), salt);
  assert.throws(() => empty.follow(1), /the log is empty/);
  const life = await Life.begin();
  const replica = new Replica(life.machine.log, new MemorySnapshotStore(), salt);
  const { durableSeq } = life.machine.actor;
  assert.throws(() => replica.follow(durableSeq + 1), /ends at record/);
  await life.act(event('a'));
  assert.is(replica.follow(durableSeq + 1).state.lastSeq, durableSeq + 1);
});

test.run();

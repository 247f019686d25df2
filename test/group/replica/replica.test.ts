/** A replica publishes changes per generation, and computes with the settings that are in force. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { trustConstants } from '../../../src/core/evidence/trust-constants.js';
import { ScenarioHalfLife } from '../../../src/core/scoring/scenario-half-life.js';
import { type Scenario, simulate } from '../../../src/core/scoring/simulation.js';
import type { SettingName } from '../../../src/core/settings.js';
import type { FeedPiece, FeedWork } from '../../../src/group/ports/pool.js';
import { DamagedError, type LogReader } from '../../../src/group/ports/storage.js';
import { Replica, type ScoringSettings } from '../../../src/group/replica/replica.js';
import { playersIn, type ResumeFrom } from '../../../src/group/verdict-changes.js';
import { dayMs, salt, subjectOf } from '../../support/given.js';
import { MemoryLog } from '../../support/memory-log.js';
import { MemorySnapshotStore } from '../../support/memory-snapshots.js';
import { event as eventAct, inPieces, Life } from '../life.js';
import { recordsOf } from '../removal/lived.js';

const event = (id: string) => eventAct(id, `player of ${id}`);
/** A replica of a machine's log without snapshots. */
const replicaOf = (log: LogReader, scoring?: ScoringSettings) =>
  new Replica(log, new MemorySnapshotStore(), salt, scoring);

test('changes begin anew with each generation and after their end, and only the newest can be walked', async () => {
  const life = await Life.begin();
  const { machine } = life;
  await life.act(event('a'));
  const replica = replicaOf(machine.log);
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
    const replica = replicaOf(machine.log, scoring);
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
  const empty = replicaOf(new MemoryLog());
  assert.throws(() => empty.follow(1), /the log is empty/);
  const life = await Life.begin();
  const replica = replicaOf(life.machine.log);
  const { durableSeq } = life.machine.actor;
  assert.throws(() => replica.follow(durableSeq + 1), /ends at record/);
  await life.act(event('a'));
  assert.is(replica.follow(durableSeq + 1).state.lastSeq, durableSeq + 1);
});

test('weights of which one is no number are not handed on', async () => {
  const { machine } = await Life.begin();
  const replica = replicaOf(machine.log, { badSharePrior: Number.NaN });
  assert.throws(() => replica.weights(machine.actor.durableSeq, machine.now), /a weight is not a number/);
});

const halfLives = { claims: 1, measures: null };
const scenario: Scenario = { preTrusted: null, without: [], halfLives };

test('a simulated half-life decays what the log holds up to the record of the state, read in pieces', async () => {
  const life = await Life.reporting(27);
  const { machine } = life;
  const upTo = machine.actor.durableSeq;
  const at = machine.now + 5 * dayMs;
  const replica = replicaOf(inPieces(machine.log, 5));
  const { state } = replica.follow(upTo);
  const decayed = new ScenarioHalfLife(state, halfLives, at);
  for (const [i, { record, at: stamped }] of recordsOf(machine.log).entries()) decayed.apply(record, i + 1, stamped);
  const expected = simulate(state, at, scenario, decayed, 9, trustConstants);
  assert.is.not(expected.weightsAfter.join(), expected.weightsBefore.join());
  await life.report(27, 30);
  const progress: number[][] = [];
  const simulation = replica.simulate({ upTo, at, scenario, rowsMax: 9 }, (...step) => progress.push(step));
  assert.equal(simulation, expected);
  assert.equal(
    progress,
    [6, 11, 16, 21, 26, 31, 31].map((done) => [done, 31]),
  );
});

test('a log that ends before the state while a half-life is simulated is damaged', async () => {
  const { machine } = await Life.reporting(4);
  let end = Number.POSITIVE_INFINITY;
  const from: LogReader['from'] = (...range) => machine.log.from(...range).filter(({ firstSeq }) => firstSeq <= end);
  const replica = replicaOf({ ...inPieces(machine.log, 100), from });
  const upTo = machine.actor.durableSeq;
  replica.follow(upTo);
  end = upTo - 2;
  assert.throws(
    () => replica.simulate({ upTo, at: machine.now, scenario, rowsMax: 9 }, () => undefined),
    (error: unknown) => error instanceof DamagedError && error.message === `the log ends at record ${end}, not ${upTo}`,
  );
});

test('the pieces of a walk for a reader of another node read the log once, and the next walk reads it anew', async () => {
  const life = await Life.begin();
  const { machine } = life;
  let reads = 0;
  const from: LogReader['from'] = (...range) => {
    reads++;
    return machine.log.from(...range);
  };
  const replica = replicaOf({ ...inPieces(machine.log, 100), from });
  const published = async (id: string) => {
    await life.act(event(id));
    const [upTo, at] = [machine.actor.durableSeq, machine.now];
    const work = { generation: 'one', upTo, at, asOf: at, erasedOnly: false };
    while (replica.publishChanges(work).more);
    reads = 0;
    return { seq: upTo, asOf: at };
  };
  /** The players that a piece from row `row` on sends, and how often the log has been read. */
  const walked = (row: number, since: ResumeFrom) => {
    const walk = replica.walkChanges({ generation: 'one', from: row, since });
    const players = walk === null || walk === 'forgotten' ? [] : playersIn(walk.players);
    return `${players.map(({ subject }) => names.get(subject)).join(' ')}, read ${reads}`;
  };
  const names = new Map(['a', 'b', 'c'].map((id) => [subjectOf(`player of ${id}`).toString('hex'), id]));
  const first = await published('a');
  const second = await published('b');
  assert.equal([walked(0, first), walked(1, first)], ['b, read 1', 'b, read 1']);
  await published('c');
  assert.equal(walked(0, first), 'b c, read 1');
  assert.equal([walked(1, second), walked(1, first)], ['c, read 2', 'b c, read 3']);
});

test.run();

/**
 * Events that are too old leave the log; what they said of players stays, whatever else happens and wherever a crash
 * falls.
 */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { stateDigest } from '../../../src/core/snapshot/state-digest.js';
import { hourMs, subjectOf } from '../../support/given.js';
import { Random } from '../../support/random.js';
import { drawAct, everyByte, Life, PLAYERS, stateOf } from '../life.js';
import { Crash } from '../machine.js';
import { assertHolds, event, lived, recordsOf } from './lived.js';

test('a group that retires at random is the same as one that never does', async () => {
  let retired = 0;
  for (let seed = 0; seed < 25; seed++) {
    const random = new Random(seed);
    const life = await Life.begin();
    const model = await Life.begin();
    for (let i = 0, events = 0; i < 90; i++) {
      if (random.below(6) === 0) {
        const before = life.machine.now - random.below(30) * hourMs;
        if (random.below(2) === 0) await life.machine.retire(before);
        else await life.retireBatchwise(before);
        for (const { record, at } of recordsOf(life.machine.log)) {
          if (record.type === 'event_accepted') assert.ok(at >= before, `seed ${seed}`);
        }
      }
      let act = drawAct(random, events);
      if (act.type === 'event') events++;
      // Expired events cannot be withdrawn; the model does not withdraw them either.
      if (act.type === 'withdraw' && !everyByte(life.machine.log).includes(act.id)) act = event(`no-${i}`, 'player 0');
      await life.act(act);
      await model.act(act);
      assert.equal(life.sums(), model.sums(), `seed ${seed}`);
      if (random.below(10) === 0) await life.machine.snapshot();
      if (random.below(10) === 0) life.machine.restart();
    }
    retired += life.machine.actor.state.retired.seq;
    assert.is(stateDigest(stateOf(life.machine.log)), stateDigest(life.machine.actor.state), `seed ${seed}`);
    assertHolds(life.machine.log, `seed ${seed}`);
    for (let player = 0; player < PLAYERS; player++) await life.act({ type: 'erase', player: `player ${player}` });
    for (let player = 0; player < PLAYERS; player++) {
      const subject = subjectOf(`player ${player}`);
      const isThere =
        life.machine.stored().includes(subject) || life.machine.stored().includes(subject.toString('hex'));
      assert.not.ok(isThere, `seed ${seed}, player ${player}`);
    }
  }
  assert.ok(retired > 25 * 40, `${retired} records`);
});

test('a crash between any two effects of retention loses nothing, and the next start continues it', async () => {
  for (let effects = 1; ; effects++) {
    const life = await lived(12);
    const { machine } = life;
    await life.act({ type: 'withdraw', id: 'id-4-' });
    const sums = life.sums();
    const before = machine.now - 3 * hourMs;
    machine.life = effects;
    const isOver = !((await machine.retire(before).catch((error: unknown) => error)) instanceof Crash);
    machine.life = Number.POSITIVE_INFINITY;
    machine.restart();
    assert.equal(life.sums(), sums, `after ${effects} effects`);
    await machine.retire(before);
    assert.equal(life.sums(), sums, `after ${effects} effects`);
    assert.not.ok(machine.stored().includes('id-2-'), `after ${effects} effects`);
    assert.ok(machine.stored().includes('id-11-'));
    assert.is(machine.actor.state.retired.open, false);
    assert.is(stateDigest(stateOf(machine.log)), stateDigest(machine.actor.state));
    assertHolds(machine.log, `after ${effects} effects`);
    if (isOver) {
      assert.ok(effects >= 4, `${effects} effects`);
      return;
    }
  }
});

test.run();

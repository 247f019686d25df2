/** A restore brings back the backup, except what the replaced log removed since. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { hourMs } from '../../support/given.js';
import { Random } from '../../support/random.js';
import { backupOf, drawn, everyByte, Life, stateOf } from '../life.js';
import { assertRestored, playersIn, restored } from './restored.js';

test('a restore applies exactly the erasures and withdrawals after the backup', async () => {
  let erasures = 0;
  let withdrawals = 0;
  for (let seed = 0; seed < 80; seed++) {
    const random = new Random(seed);
    const life = await Life.begin();
    const draw = drawn(random);
    const [retiresBefore, retiresAfter] = [seed % 4 >= 2, seed % 2 === 1];
    for (let i = 0; i < 50; i++) {
      await life.act(draw());
      if (retiresBefore && i % 9 === 8) await life.retireBatchwise(life.machine.now - 20 * hourMs);
    }
    const backup = await backupOf(life.machine.log);
    // The same is taken back from a group that stopped at the backup: what the restored one must be.
    const model = Life.on(await backupOf(backup));
    for (let i = 0; i < 30; i++) {
      const act = draw();
      // Expired events cannot be withdrawn.
      const isRefused = act.type === 'withdraw' && !everyByte(life.machine.log).includes(act.id);
      await life.act(act);
      model.machine.now = life.machine.now - 3_600_000;
      if (act.type !== 'event' && !isRefused) await model.act(act);
      // Events that expire meanwhile concern the backup's players as much as before.
      if (retiresAfter && i % 7 === 6) await life.retireBatchwise(life.machine.now - 10 * hourMs);
    }
    const back = await restored(backup, life.machine.log);
    erasures += back.erasures;
    withdrawals += back.withdrawals;
    assertRestored(back.log, back, `seed ${seed}`);
    const node = Life.on(back.log);
    assert.equal(node.sums(), model.sums(), `seed ${seed}`);
    // The bytes are gone before any node runs on them, and stay gone.
    assert.equal(playersIn(back.log), playersIn(model.machine.log), `seed ${seed}`);
    await node.machine.work();
    assert.equal(node.sums(), model.sums(), `seed ${seed}`);
    const { erasures: openErasures, withdrawals: openWithdrawals } = stateOf(back.log);
    assert.equal([openErasures.size, openWithdrawals.size], [0, 0]);
    assertRestored(back.log, { ...back, lastSeq: 0 }, `seed ${seed}`);
  }
  assert.ok(erasures > 80 && withdrawals > 60, `${erasures} erasures, ${withdrawals} withdrawals`);
});

test.run();

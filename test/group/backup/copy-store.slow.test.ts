/** A copy of a log that goes on meanwhile: it is the log as of one record, whatever is erased while it is made. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { stateDigest } from '../../../src/core/snapshot/state-digest.js';
import { DamagedError } from '../../../src/group/ports/storage.js';
import { rejection } from '../../store/log-contract.js';
import { subjectOf } from '../../support/given.js';
import { logOf } from '../../support/log-of.js';
import { MemoryLog } from '../../support/memory-log.js';
import { MemorySnapshotStore } from '../../support/memory-snapshots.js';
import { Random } from '../../support/random.js';
import { verifyStore } from '../../support/verify-store.js';
import { copyLog, drawAct, everyByte, inPieces, Life, sinkInto, stateOf } from '../life.js';

const SEEDS = 60;

test('a copy made during events, withdrawals and erasures verifies, with the state of its last record', async () => {
  let rewritten = 0;
  for (let seed = 0; seed < SEEDS; seed++) {
    const random = new Random(seed);
    const life = await Life.begin();
    let events = 0;
    const digests = new Map<number, string>();
    const step = async () => {
      const act = drawAct(random, events);
      if (act.type === 'event') events++;
      await life.act(act);
      digests.set(life.machine.actor.durableSeq, stateDigest(life.machine.actor.state));
    };
    for (let i = 0; i < 40; i++) await step();
    let meanwhile = 30;
    const copy = new MemoryLog();
    const sink = sinkInto(copy, async () => {
      for (let i = random.below(4); i > 0 && meanwhile > 0; i--, meanwhile--) await step();
    });
    const replace = sink.replace.bind(sink);
    sink.replace = async (batches) => {
      rewritten += batches.length;
      await replace(batches);
    };
    const pieces = inPieces(life.machine.log, 1 + random.below(8));
    const { lastSeq, chain } = await copyLog(pieces, sink, () => undefined);
    const head = { lastSeq, chain: Buffer.from(chain).toString('hex') };
    assert.equal(verifyStore(copy, new MemorySnapshotStore(), head, 'full').faults, [], `seed ${seed}`);
    assert.is(stateDigest(stateOf(copy)), digests.get(lastSeq), `seed ${seed}`);
  }
  assert.ok(rewritten > SEEDS, `only ${rewritten} batches were rewritten under a copy`);
});

test('a player who is erased while a copy is made is not in it, where the copy reaches so far', async () => {
  const life = await Life.begin();
  for (let i = 0; i < 30; i++)
    await life.act({ type: 'event', peer: 0, id: `id-${i}`, player: `player ${i % 2}`, severity: 1 });
  let isErased = false;
  const copy = new MemoryLog();
  const sink = sinkInto(copy, async () => {
    if (isErased) return;
    isErased = true;
    await life.act({ type: 'erase', player: 'player 1' });
  });
  const { erasedSeq } = await copyLog(inPieces(life.machine.log, 20), sink, () => undefined);
  assert.ok(erasedSeq > 0);
  const bytes = everyByte(copy);
  assert.not.ok(bytes.includes(subjectOf('player 1')));
  assert.not.ok(bytes.includes('id-29'));
  assert.ok(bytes.includes(subjectOf('player 0')) && bytes.includes('id-28'));
});

test('a copy of an inconsistent log is refused, and the place is named', async () => {
  const life = await Life.begin();
  for (let i = 0; i < 5; i++)
    await life.act({ type: 'event', peer: 0, id: `id-${i}`, player: 'player 0', severity: 1 });
  const { log } = life.machine;
  const stored = log.from(0, 100, 1e9);
  const without = (seq: number) => logOf(stored.filter(({ firstSeq }) => firstSeq !== seq));
  const error = await rejection(copyLog(without(6), sinkInto(new MemoryLog()), () => undefined));
  assert.instance(error, DamagedError);
  assert.match(String(error), 'log batch at record 6: does not follow the batch before it');
});

test('rewritten content that no record states is damage, not the middle of an erasure', async () => {
  const life = await Life.begin();
  for (let i = 0; i < 5; i++)
    await life.act({ type: 'event', peer: 0, id: `id-${i}`, player: 'player 0', severity: 1 });
  const before = life.machine.log.from(0, 100, 1e9);
  await life.act({ type: 'erase', player: 'player 0' });
  // Tombstones in their places, and none of the records behind them.
  const stored = before.map(({ firstSeq }) => life.machine.log.at(firstSeq)!);
  const error = await rejection(copyLog(logOf(stored), sinkInto(new MemoryLog()), () => undefined));
  assert.match(String(error), 'no record accounts for its rewritten content');
});

test('a progress callback ends a copy by throwing', async () => {
  const life = await Life.begin();
  const ended = copyLog(life.machine.log, sinkInto(new MemoryLog()), () => {
    throw new Error('enough');
  });
  assert.match(String(await rejection(ended)), 'enough');
});

test.run();

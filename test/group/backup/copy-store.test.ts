/** A copy of a log that goes on meanwhile, and of a log that is damaged. */
import { setImmediate as turnOfLoop } from 'node:timers/promises';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { copyFrom, type LogSink, sourceOf } from '../../../src/group/backup/copy-store.js';
import { DamagedError, type LogReader } from '../../../src/group/ports/storage.js';
import { lastSeqOf } from '../../../src/group/recovery/recovery.js';
import { limits } from '../../../src/limits.js';
import { withBounds } from '../../sim/profile.js';
import { rejection, rejectionAs } from '../../store/log-contract.js';
import { subjectOf } from '../../support/given.js';
import { logOf } from '../../support/log-of.js';
import { MemoryLog } from '../../support/memory-log.js';
import { copyLog, event, everyByte, inPieces, Life, sinkInto } from '../life.js';

/** A group whose first peer sent so many events, about so many players in turn. */
async function lived(events: number, players: number): Promise<Life> {
  const life = await Life.begin();
  for (let i = 0; i < events; i++) await life.act(event(`id-${i}`, `player ${i % players}`));
  return life;
}

const copied = (log: LogReader) => copyLog(log, sinkInto(new MemoryLog()), () => undefined);

test('a player who is erased while a copy is made is not in it, where the copy reaches so far', async () => {
  const life = await lived(30, 2);
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

test('rewritten batches are replaced in transactions of bounded size, one at a time', async () => {
  const life = await lived(30, 2);
  const end = lastSeqOf(life.machine.log);
  const copy = new MemoryLog();
  const sink = sinkInto(copy, async () => {
    if (lastSeqOf(copy) !== end) return;
    await life.act({ type: 'erase', player: 'player 1' });
    Object.assign(limits, { catchUpBytes: 300 });
  });
  const sizes: number[] = [];
  let isReplacing = false;
  const replace: LogSink['replace'] = async (batches) => {
    assert.not.ok(isReplacing);
    isReplacing = true;
    await turnOfLoop();
    await sink.replace(batches);
    isReplacing = false;
    sizes.push(batches.reduce((sum, { bytes }) => sum + bytes.length, 0));
  };
  // Restores the bound that is lowered amid the copy.
  await withBounds({}, () => copyLog(inPieces(life.machine.log, 20), { ...sink, replace }, () => undefined));
  assert.ok(sizes.length > 2 && Math.max(...sizes) < 800, `bytes of each transaction: ${sizes}`);
  assert.ok(everyByte(copy).equals(everyByte(life.machine.log)));
});

test('a copy of an inconsistent log is refused, and the place is named', async () => {
  const life = await lived(5, 1);
  const { log } = life.machine;
  const stored = log.from(0, 100, 1e9);
  const without = (seq: number) => logOf(stored.filter(({ firstSeq }) => firstSeq !== seq));
  const error = await rejectionAs(DamagedError, copied(without(6)));
  assert.match(error.message, 'log batch at record 6: does not follow the batch before it');
});

test('rewritten content that no record states is damage, not the middle of an erasure', async () => {
  const life = await lived(5, 1);
  const before = life.machine.log.from(0, 100, 1e9);
  await life.act({ type: 'erase', player: 'player 0' });
  // Tombstones in their places, and none of the records behind them.
  const stored = before.map(({ firstSeq }) => life.machine.log.at(firstSeq)!);
  const error = await rejection(copied(logOf(stored)));
  assert.match(String(error), 'no record accounts for its rewritten content');
});

test('a progress callback ends a copy by throwing', async () => {
  const life = await Life.begin();
  const ended = copyLog(life.machine.log, sinkInto(new MemoryLog()), () => {
    throw new Error('enough');
  });
  assert.match(String(await rejection(ended)), 'enough');
});

test('a copy of a log that grows all the time ends after its second stretch', async () => {
  const life = await Life.begin();
  const ends: number[] = [];
  const progress: (readonly [done: number, total: number])[] = [];
  const grows = async () => {
    if (ends.length < 5) await life.act(event(`id-${ends.length}`, 'p'));
  };
  const source = {
    ...sourceOf(inPieces(life.machine.log, 1)),
    lastSeq: () => ends.push(lastSeqOf(life.machine.log)) && ends.at(-1)!,
  };
  const copied = await copyFrom(source, sinkInto(new MemoryLog(), grows), (...step) => progress.push(step));
  assert.is(ends.length, 2);
  assert.equal(progress.at(-1), [copied.lastSeq, copied.lastSeq]);
  assert.is(copied.lastSeq, ends[1]);
});

test.run();

/** How many batches are parsed in one turn of the event loop, and of whom. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { ParseScheduler } from '../../../src/http/room/parse-scheduler.js';
import { limits } from '../../../src/limits.js';

const full = limits.batchEventsMax;

/** Turns of an event loop that stands still until `turn`. */
function loopOf() {
  let next: (() => void)[] = [];
  let accepted = 0;
  const parsed: string[] = [];
  let nowMs = 0;
  const turns = new ParseScheduler(
    () => accepted,
    (run) => next.push(run),
    () => nowMs,
  );
  return {
    turns,
    parsed,
    accept: () => (accepted += 1),
    pass: (ms: number) => (nowMs += ms),
    /** Queues a batch, or parses it at once. */
    batch(holder: string, events: number = full): void {
      const waits = turns.next(holder, events);
      if (waits === undefined) parsed.push(holder);
      else void waits.then(() => parsed.push(holder));
    },
    async turn(): Promise<void> {
      const due = next;
      next = [];
      for (const run of due) run();
      await Promise.resolve();
    },
    rests: () => next.length === 0,
  };
}

test('one full batch is parsed in a turn, and each holder has its turn', async () => {
  const { turns, parsed, batch, turn, rests } = loopOf();
  for (let n = 0; n < 3; n++) batch('flood');
  batch('other');
  assert.equal(parsed, ['flood'], 'the first one at once');
  assert.is(turns.eventsBefore('third', 10), 20);
  await turn();
  await turn();
  await turn();
  assert.equal(parsed.toSorted(), ['flood', 'flood', 'flood', 'other']);
  assert.is(turns.eventsBefore('third', 10), 0);
  await turn();
  assert.ok(rests());
  batch('flood');
  assert.is(parsed.length, 5);
});

test('several small batches are parsed in a turn, and before the large ones of others', async () => {
  const { parsed, batch, turn } = loopOf();
  batch('flood');
  batch('flood');
  const small = limits.fairShareEvents / 2;
  for (let n = 0; n < 4; n++) batch('small', small);
  await turn();
  assert.equal(parsed, ['flood', 'small', 'small', 'small', 'small']);
  await turn();
  assert.is(parsed.at(-1), 'flood');
});

test('while connections arrive, they and batches alternate', async () => {
  const { parsed, batch, turn, accept, pass } = loopOf();
  accept();
  batch('one');
  assert.equal(parsed, []);
  await turn();
  assert.equal(parsed, [], 'a connection was accepted since the last turn');
  await turn();
  assert.equal(parsed, ['one']);
  for (let n = 0; n < 6; n++) batch('two');
  const passes = async (count: number): Promise<void> => {
    for (let loops = 0; loops < count; loops++) {
      accept();
      await turn();
    }
  };
  for (let period = 0; period < 3; period++) {
    await passes(5);
    assert.equal(parsed, ['one']);
    pass(limits.acceptPeriodMs);
  }
  // As many as a turn of the loop of 25 ms is followed by.
  await passes(1);
  assert.equal(parsed, ['one', 'two', 'two', 'two']);
  pass(limits.acceptPeriodMs);
  await passes(3);
  assert.is(parsed.length, 4);
});

test.run();

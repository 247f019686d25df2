/** When bodies are parsed and long reads answered, of whom, and how long a peer is throttled after a slow body. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { Holder } from '../../../src/group/ports/pool.js';
import { WorkTurns } from '../../../src/http/room/work-turns.js';
import { limits } from '../../../src/limits.js';

const full = limits.batchEventsMax;
const names = ['first', 'flood', 'other', 'small', 'one', 'two', 'bad', 'good', 'a', 'b', 'c', 'd'];

/** Peers are numbers, and addresses texts. */
const holderOf = (name: string): Holder => (names.includes(name) ? names.indexOf(name) : name);

interface Body {
  readonly holder: string;
  readonly events?: number;
  /** Time that it takes, and the valid events in it; null: it is not even valid JSON. */
  readonly ms?: number;
  readonly valid?: number | null;
}

/** An event loop with a clock that only the work in it moves. */
function loopOf() {
  const due: { readonly atMs: number; readonly run: () => void }[] = [];
  const soon: (() => void)[] = [];
  let loopTurns: (() => void)[] = [];
  let nowMs = 0;
  let accepted = 0;
  const parsed: string[] = [];
  const turns = new WorkTurns(() => accepted, {
    now: () => nowMs,
    soon: (run) => soon.push(run),
    nextTurn: (run) => loopTurns.push(run),
    after: (ms, run) => due.push({ atMs: nowMs + ms, run }),
  });
  const settle = async (): Promise<void> => {
    await Promise.resolve();
    for (let run = soon.shift(); run !== undefined; run = soon.shift()) {
      run();
      await Promise.resolve();
    }
  };
  const inTurn = async (waits: Promise<void> | undefined, run: () => void): Promise<void> => {
    if (waits === undefined) run();
    else void waits.then(run);
    await settle();
  };
  return {
    turns,
    parsed,
    accept: () => (accepted += 1),
    pass: (ms: number) => (nowMs += ms),
    async body({ holder, events = full, ms = 0, valid = events }: Body): Promise<void> {
      await inTurn(turns.nextBody(holderOf(holder), events), () => {
        parsed.push(holder);
        nowMs += ms;
        if (valid !== null) turns.parsed(valid);
      });
    },
    async read(holder: string, ms = 0): Promise<void> {
      await inTurn(turns.nextRead(holderOf(holder)), () => {
        parsed.push(`read of ${holder}`);
        nowMs += ms;
      });
    },
    settle,
    /** Runs what is due, and the next turns. */
    async turn(times = 1): Promise<void> {
      for (let n = 0; n < times; n++) {
        const now = due.filter(({ atMs }) => atMs <= nowMs);
        for (const one of now) due.splice(due.indexOf(one), 1);
        for (const { run } of now) run();
        const next = loopTurns;
        loopTurns = [];
        for (const run of next) run();
        await settle();
      }
    },
    isIdle: () => loopTurns.length === 0,
  };
}

test('requests behind others of their connection share the time of a turn, and the next has its own', async () => {
  const loop = loopOf();
  assert.not(loop.turns.isTurnOver);
  loop.pass(limits.workTurnMs - 1);
  assert.not(loop.turns.isTurnOver);
  loop.pass(1);
  assert.ok(loop.turns.isTurnOver);
  await loop.turn();
  assert.not(loop.turns.isTurnOver);
});

test('bodies are parsed at once for a while, then the others wait for the next turns, by holder', async () => {
  const { parsed, body, turn, isIdle } = loopOf();
  const slow = { ms: limits.workTurnMs / 2 };
  for (let n = 0; n < 5; n++) await body({ holder: 'flood', ...slow });
  assert.equal(parsed, ['flood', 'flood'], 'the time of a turn');
  await body({ holder: 'other', ...slow });
  await turn(2);
  assert.equal(parsed.slice(2).toSorted(), ['flood', 'flood', 'flood', 'other']);
  assert.ok(parsed.indexOf('other') < 5, parsed.join(' '));
  await turn();
  assert.ok(isIdle());
  await body({ holder: 'flood' });
  assert.is(parsed.length, 7);
});

test('while connections arrive, they and batches alternate, and small bodies are parsed', async () => {
  const { parsed, body, turn, accept, pass } = loopOf();
  accept();
  await body({ holder: 'small', events: limits.fairShareEvents - 1 });
  await body({ holder: 'one', ms: limits.workTurnMs });
  assert.equal(parsed, ['small']);
  await turn();
  assert.equal(parsed, ['small'], 'a connection was accepted since the last turn');
  await turn();
  assert.equal(parsed, ['small', 'one']);
  await turn();
  accept();
  for (let n = 0; n < 6; n++) await body({ holder: 'two', ms: limits.workTurnMs / 2 });
  for (let period = 0; period < 3; period++) {
    for (let loops = 0; loops < 5; loops++) {
      accept();
      await turn();
    }
    assert.is(parsed.length, 2);
    pass(limits.acceptPeriodMs);
  }
  accept();
  await body({ holder: 'small', events: 1 });
  await turn();
  assert.equal(parsed.slice(2), ['small', 'two', 'two'], 'the time of a turn in every fourth period');
  pass(limits.acceptPeriodMs - limits.workTurnMs);
  accept();
  await turn();
  await body({ holder: 'small', events: 1 });
  accept();
  await turn();
  assert.is(parsed.at(-1), 'small', 'large bodies that wait hold up no small one');
});

test('a peer is throttled after a body without valid events in proportion to its time, and nobody else', async () => {
  const { parsed, body, turn, pass } = loopOf();
  await body({ holder: 'bad', ms: 100, valid: null });
  await body({ holder: 'bad', ms: 100, valid: null });
  await body({ holder: 'good' });
  await turn();
  await body({ holder: 'good' });
  assert.equal(parsed, ['bad', 'good', 'good']);
  pass(100 * limits.throttleFactor - 1);
  await turn();
  assert.equal(parsed.length, 3);
  pass(1);
  await turn();
  assert.is(parsed.at(-1), 'bad');
  await body({ holder: 'bad' });
  assert.is(parsed.length, 4);
});

test('bodies that wait when their peer is throttled wait as long, and keep their order', async () => {
  const { turns, parsed, body, turn, pass } = loopOf();
  await body({ holder: 'first', ms: limits.workTurnMs });
  for (let n = 0; n < 3; n++) await body({ holder: 'bad', ms: 10, valid: 0 });
  assert.is(turns.eventsOf(holderOf('bad')), 3 * full);
  await turn(2);
  assert.equal(parsed, ['first', 'bad']);
  assert.is(turns.eventsOf(holderOf('bad')), 2 * full);
  await body({ holder: 'bad' });
  pass(10 * limits.throttleFactor);
  await turn();
  assert.equal(parsed, ['first', 'bad', 'bad']);
  assert.is(turns.eventsOf(holderOf('bad')), 2 * full);
});

test('long reads take turns too, and their time throttles nobody', async () => {
  const { parsed, body, read, turn } = loopOf();
  for (let n = 0; n < 10; n++) await read('flood', limits.workTurnMs / 2);
  assert.is(parsed.length, 2);
  await body({ holder: 'flood', events: 1 });
  await read('other');
  await turn(3);
  assert.ok(parsed.includes('read of other'), parsed.join(', '));
  await turn(3);
  assert.is(parsed.filter((name) => name === 'flood').length, 1);
  await body({ holder: 'bad', ms: 10, valid: null });
  await turn();
  await read('bad');
  assert.is(parsed.at(-1), 'read of bad');
});

test('reads of one holder wait for no other holder more than once', async () => {
  const { parsed, read, turn } = loopOf();
  for (let n = 0; n < 50; n++) await read('flood', limits.workTurnMs);
  await read('other');
  await turn(6);
  assert.ok(parsed.includes('read of other'), parsed.join(', '));
});

test('a body is not parsed between another one and its check, whose time would be its own', async () => {
  const { turns, parsed, body, pass, settle } = loopOf();
  // It is parsed at once, and checked later, as after the end of a body that node:http has read.
  assert.is(turns.nextBody(holderOf('good'), 1), undefined);
  pass(limits.parseUsualMs);
  const waits = turns.nextBody(holderOf('bad'), 1);
  assert.ok(waits !== undefined);
  turns.parsed(1);
  void waits.then(() => parsed.push('bad'));
  await settle();
  await body({ holder: 'good' });
  assert.equal(parsed.includes('good') || turns.eventsOf(holderOf('good')) > 0, true);
  assert.ok(turns.hasRoomFor(holderOf('good'), limits.parsingEventsMax * limits.throttledShare + 1), 'not throttled');
});

test('a body whose check does not report is closed before the next one', async () => {
  const { turns, parsed, body, pass, settle } = loopOf();
  assert.is(turns.nextBody(holderOf('bad'), 1), undefined);
  pass(1);
  await settle();
  await body({ holder: 'bad' });
  assert.equal(parsed, []);
  await body({ holder: 'good' });
  assert.equal(parsed, ['good']);
});

test('at the end of a node nobody is throttled', async () => {
  const { turns, parsed, body, turn } = loopOf();
  for (let n = 0; n < 3; n++) await body({ holder: 'bad', ms: 10, valid: null });
  turns.endThrottling();
  await turn(2);
  await body({ holder: 'bad' });
  assert.is(parsed.length, 4);
});

test('peers that are throttled at the same time are so for longer, up to a bound', async () => {
  const { parsed, body, turn, pass } = loopOf();
  for (const holder of ['a', 'b', 'c']) {
    await body({ holder, ms: 20, valid: null });
    await turn();
  }
  await body({ holder: 'c' });
  pass(20 * limits.throttleFactor);
  await turn();
  assert.equal(parsed, ['a', 'b', 'c']);
  pass(2 * 20 * limits.throttleFactor);
  await turn();
  assert.equal(parsed, ['a', 'b', 'c', 'c']);
  await body({ holder: 'd', ms: 100 * limits.throttleMsMax, valid: null });
  await body({ holder: 'd' });
  pass(limits.throttleMsMax);
  await turn();
  assert.is(parsed.at(-1), 'd');
});

test('the usual time of valid events throttles nobody, and a multiple of it does', async () => {
  const usualMs = limits.parseUsualMs + full * limits.parseUsualMsPerEvent;
  const cases: readonly (readonly [Omit<Body, 'holder'>, isThrottled: boolean])[] = [
    [{ ms: usualMs }, false],
    [{ ms: usualMs + 2 * limits.parseExcessMs }, true],
    [{ ms: limits.parseUsualMs, valid: 1 }, false],
    [{ ms: limits.parseUsualMs, valid: 0 }, true],
    [{ ms: limits.parseExcessMs, valid: null }, false],
  ];
  for (const [one, isThrottled] of cases) {
    const { parsed, body, turn } = loopOf();
    await body({ holder: 'one', ...one });
    await turn();
    await body({ holder: 'one' });
    assert.is(parsed.length, isThrottled ? 1 : 2, JSON.stringify(one));
  }
});

test('a holder has room as far as the bodies before its own leave it, and less while it is throttled', async () => {
  const { turns, body } = loopOf();
  await body({ holder: 'first', ms: limits.workTurnMs });
  const most = Math.floor(limits.parsingEventsMax / full);
  for (let n = 0; n < most; n++) {
    assert.ok(turns.hasRoomFor(holderOf('flood'), full), String(n));
    await body({ holder: 'flood' });
  }
  assert.not(turns.hasRoomFor(holderOf('flood'), full));
  assert.ok(turns.hasRoomFor(holderOf('other'), full), 'whoever has less waits for less');
  for (let n = 0; n < most; n++) await body({ holder: 'other' });
  const left = 2 * limits.parsingEventsMax - 2 * most * full;
  assert.ok(turns.hasRoomFor(holderOf('good'), left));
  assert.not(turns.hasRoomFor(holderOf('good'), left + 1), 'all together have twice the room of one');
  const { turns: later, body: send } = loopOf();
  await send({ holder: 'bad', ms: 10, valid: null });
  const room = limits.parsingEventsMax * limits.throttledShare;
  assert.ok(later.hasRoomFor(holderOf('bad'), room));
  assert.not(later.hasRoomFor(holderOf('bad'), room + 1));
});

test.run();

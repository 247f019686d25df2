import { setImmediate as turn } from 'node:timers/promises';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { type Holder, PoolBusyError } from '../../../src/group/ports/pool.js';
import { limits } from '../../../src/limits.js';
import { type ReadClass, ReadQueue } from '../../../src/workers/pool/read-queue.js';
import { rejection } from '../../store/log-contract.js';

const longMs = 60_000;

/** A queue, for one thread unless stated, whose reads end when the test says so, and what has begun. */
function controlled(waitMs = longMs, threads = 1) {
  const clock = { ms: 0 };
  const queue = new ReadQueue(threads, waitMs, () => clock.ms);
  const begun: string[] = [];
  const ends = new Map<string, (error?: Error) => void>();
  const ask = (readClass: ReadClass, name: string, holder: Holder | null = null): Promise<string> =>
    queue.run(readClass, holder, () => {
      begun.push(name);
      return new Promise((resolve, reject) => ends.set(name, (error) => (error ? reject(error) : resolve(name))));
    });
  const end = async (name: string, error?: Error): Promise<void> => {
    ends.get(name)!(error);
    await turn();
  };
  return { queue, begun, ask, end, clock };
}

test('single records go before listings, and listings with a key before those without', async () => {
  const { begun, ask, end } = controlled();
  const all = [ask('public', 'first'), ask('public', 'p'), ask('own', 'o1'), ask('own', 'o2'), ask('records', 'r')];
  await turn();
  for (const name of ['first', 'r', 'o1', 'o2', 'p']) await end(name);
  assert.equal(begun, ['first', 'r', 'o1', 'o2', 'p']);
  assert.equal(await Promise.all(all), ['first', 'p', 'o1', 'o2', 'r']);
});

test('a read that fails lets the next one begin', async () => {
  const { begun, ask, end } = controlled();
  const [failing, next] = [rejection(ask('own', 'fails')), ask('own', 'next')];
  await turn();
  await end('fails', new Error('damaged'));
  assert.is(((await failing) as Error).message, 'damaged');
  await end('next');
  assert.is(await next, 'next');
  assert.equal(begun, ['fails', 'next']);
});

test('a read that has waited for too long is refused and never begins', async () => {
  const { begun, ask, end } = controlled(1);
  const running = ask('public', 'runs');
  assert.instance(await rejection(ask('public', 'late')), PoolBusyError);
  await end('runs');
  await running;
  assert.equal(begun, ['runs']);
  const next = ask('public', 'next');
  await turn();
  await end('next');
  assert.is(await next, 'next', 'the refused read takes no turn');
});

test('a full queue of one kind refuses at once, and blocks no other kind', async () => {
  const { queue, begun, ask, end } = controlled();
  const running = ask('public', 'runs');
  const waiting = Array.from({ length: limits.readersQueueMax }, (_, n) => rejection(ask('public', `p${n}`)));
  assert.instance(await rejection(ask('public', 'one more')), PoolBusyError);
  const own = ask('own', 'own');
  await end('runs');
  await end('own');
  assert.equal([await running, await own, begun[1]], ['runs', 'own', 'own']);
  await turn();
  queue.refuseAll();
  const refused = (await Promise.race([Promise.all(waiting.slice(1)), turn(['nothing'])])) as unknown[];
  assert.ok(refused.length === limits.readersQueueMax - 1 && refused.every((one) => one instanceof PoolBusyError));
});

test('a holder is charged with the time of its reads: others have their turns between its long ones', async () => {
  const { begun, ask, end, clock } = controlled();
  const long = Array.from({ length: 5 }, (_, n) => ask('records', `long ${n}`, 1));
  await turn();
  const short = Array.from({ length: 6 }, (_, n) => ask(n % 2 === 0 ? 'own' : 'public', `short ${n}`, 2));
  for (let ended = 0; ended < begun.length; ended++) {
    const name = begun[ended]!;
    clock.ms += name.startsWith('long') ? 200 : 50;
    await end(name);
  }
  await Promise.all([...long, ...short]);
  assert.equal(
    begun.map((name) => name.slice(0, 5)),
    ['long ', 'short', 'short', 'short', 'short', 'long ', 'short', 'short', 'long ', 'long ', 'long '],
  );
});

test('the holders whose reads are long ago are forgotten, so that many callers take no memory', async () => {
  const { queue, ask, end, clock } = controlled();
  // One waits at all times, so that the queue is never idle.
  let before = ask('own', 'read 0', '0');
  await turn();
  for (let i = 1; i <= 3_000; i++) {
    const next = ask('own', `read ${i}`, `${i}`);
    clock.ms += 1;
    await end(`read ${i - 1}`);
    await before;
    before = next;
  }
  assert.is(queue.holders, 1_024);
  await end('read 3000');
  await before;
});

test('a holder that fills the queue loses its newest read to one that has fewer', async () => {
  const { queue, begun, ask, end, clock } = controlled();
  const running = ask('records', 'runs', 1);
  const all = Array.from({ length: limits.readersQueueMax }, (_, n) => rejection(ask('records', `w${n}`, 1)));
  const other = ask('records', 'other', 2);
  assert.instance(await all.at(-1), PoolBusyError);
  clock.ms += 1;
  await end('runs');
  await running;
  assert.is(begun[1], 'other');
  queue.refuseAll();
  await end('other');
  await other;
});

test('of those that wait in a full queue, the holder with the most reads loses one', async () => {
  for (const smallerAt of [0, 3]) {
    const { queue, ask, end } = controlled();
    const running = ask('records', 'runs', 3);
    const refused: Holder[] = [];
    const all = Array.from({ length: limits.readersQueueMax }, (_, n) => {
      const holder = n % 4 === smallerAt ? 2 : 1;
      return ask('records', `w${n}`, holder).catch(() => void refused.push(holder));
    });
    const other = rejection(ask('records', 'other', 4));
    await turn();
    assert.equal(refused, [1]);
    queue.refuseAll();
    await end('runs');
    await Promise.all([running, other, ...all]);
  }
});

test('a holder that would have as many reads as the largest one takes no place from it in a full queue', async () => {
  const { queue, ask, end } = controlled();
  const running = ask('records', 'runs', 0);
  const refused: Holder[] = [];
  const waiting = [1, 1, ...Array.from({ length: limits.readersQueueMax - 2 }, (_, n) => n + 2)];
  const all = waiting.map((holder, n) => ask('records', `w${n}`, holder).catch(() => void refused.push(holder)));
  assert.instance(await rejection(ask('records', 'other', 2)), PoolBusyError);
  assert.equal(refused, []);
  queue.refuseAll();
  await end('runs');
  await Promise.all([running, ...all]);
});

test('the time of a holder’s reads counts for as long as any read runs', async () => {
  const { queue, begun, ask, end, clock } = controlled(longMs, 2);
  const long = ask('own', 'long', 1);
  const short = ask('own', 'short', 2);
  await turn();
  clock.ms += 5;
  await end('short');
  assert.is(queue.holders, 1, 'the other read still runs');
  const all = [ask('own', 'runs', 3), ask('own', 'again', 2), ask('own', 'first', 4)];
  await turn();
  await end('long');
  assert.equal(begun, ['long', 'short', 'runs', 'first']);
  for (const name of ['runs', 'first', 'again']) await end(name);
  await Promise.all([long, short, ...all]);
  assert.is(queue.holders, 0);
});

test.run();

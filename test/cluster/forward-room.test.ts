/** Room on the link to the leader, which the holders of commands share. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { ForwardRoom } from '../../src/cluster/forwarding.js';
import { LinkError } from '../../src/cluster/link-client.js';
import { limits } from '../../src/limits.js';
import { rejection } from '../store/log-contract.js';
import { VirtualTime } from '../support/virtual-time.js';

/** A room whose commands run until the test ends them. */
function roomOf() {
  const time = new VirtualTime();
  const room = new ForwardRoom(time);
  const running: string[] = [];
  const ends = new Map<string, (() => void)[]>();
  const send = (holder: string, waitMs = 60_000): Promise<void> =>
    room.run(holder, waitMs, () => {
      running.push(holder);
      return new Promise((resolve) => ends.set(holder, [...(ends.get(holder) ?? []), resolve]));
    });
  const sendTimes = (holder: string, count: number) => {
    for (let i = 0; i < count; i++) void send(holder);
  };
  const end = async (holder: string): Promise<void> => {
    ends.get(holder)!.pop()!();
    await turn();
  };
  const countOf = (holder: string) => running.filter((other) => other === holder).length;
  return { time, room, send, sendTimes, end, countOf };
}

/** Lets every command begin that has room. */
const turn = () => new Promise((resolve) => setImmediate(resolve));

test('a holder with many slow commands leaves room for others, and they for the next', async () => {
  const { sendTimes, countOf } = roomOf();
  sendTimes('flood', 200);
  await turn();
  assert.is(countOf('flood'), (2 / 3) * limits.linkForwardsMax);
  for (const victim of ['second', 'third', 'fourth']) {
    sendTimes(victim, 1);
    await turn();
    assert.is(countOf(victim), 1, victim);
  }
});

test('places that become free go to the other holders in turn, not to the one whose command has ended', async () => {
  const { sendTimes, end, countOf } = roomOf();
  for (const holder of ['one', 'two', 'three', 'four', 'five', 'six']) {
    sendTimes(holder, 200);
    await turn();
  }
  const before = countOf('one');
  for (let ended = 0; ended < 4; ended++) await end('one');
  assert.equal([countOf('one'), countOf('five'), countOf('six')], [before, 2, 2]);
});

test('a holder has a place of its own however many others hold all of them, and one at a time', async () => {
  const { sendTimes, end, countOf } = roomOf();
  const holders = Array.from({ length: 12 }, (_, i) => `holder ${i}`);
  for (const holder of holders) {
    sendTimes(holder, 200);
    await turn();
  }
  assert.ok(holders.every((holder) => countOf(holder) > 0));
  sendTimes('last', 2);
  await turn();
  assert.is(countOf('last'), 1);
  await end('last');
  assert.is(countOf('last'), 2, 'its next command takes its place');
  const more = Array.from({ length: limits.linkFirstForwardsMax }, (_, i) => `further ${i}`);
  for (const holder of more) sendTimes(holder, 1);
  await turn();
  const all = [...holders, ...more].reduce((sum, holder) => sum + countOf(holder), countOf('last') - 1);
  assert.is(all, limits.linkForwardsMax + limits.linkFirstForwardsMax, 'as many as the link bears');
});

test('a command that gets no room in time fails as unsent, and leaves nothing behind', async () => {
  const { time, send, sendTimes, end, countOf } = roomOf();
  sendTimes('flood', (2 / 3) * limits.linkForwardsMax);
  await turn();
  const error = await time.wait(rejection(send('flood', 100)));
  assert.ok(error instanceof LinkError && error.isUnsent);
  assert.is(time.elapsed(), 100);
  const before = countOf('flood');
  await end('flood');
  assert.is(countOf('flood'), before, 'it is not sent later');
  sendTimes('flood', 1);
  await turn();
  assert.is(countOf('flood'), before + 1);
});

test('a holder whose commands have ended has its whole room again, also after one that failed', async () => {
  const { room, sendTimes, end, countOf } = roomOf();
  const share = (2 / 3) * limits.linkForwardsMax;
  sendTimes('one', share);
  await turn();
  assert.match(String(await rejection(room.run('two', 1, () => Promise.reject(new Error('sent'))))), 'sent');
  for (let ended = 0; ended < share; ended++) await end('one');
  sendTimes('one', share);
  await turn();
  assert.is(countOf('one'), 2 * share);
});

test.run();

/** The thread that hands the core back, as a real one. */
import { setTimeout as delay } from 'node:timers/promises';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { Partner } from '../../src/workers/partner.js';
import { Rests, restsByPartner } from '../../src/workers/rests.js';

async function loaded(giveUpMs?: number): Promise<Partner> {
  const partner = new Partner(giveUpMs);
  while (!partner.handOver()) await delay(1);
  return partner;
}

test('the core is handed back each time, and the thread ends when it is told to', async () => {
  const partner = await loaded();
  for (let time = 0; time < 1_000; time++) assert.ok(partner.handOver(), `the ${time + 1}th time`);
  await partner.end();
});

test('whoever is not answered waits once, and never again', async () => {
  const giveUpMs = 1_000;
  const partner = await loaded(giveUpMs);
  await partner.end();
  const started = performance.now();
  assert.not(partner.handOver());
  const waitedMs = performance.now() - started;
  assert.ok(waitedMs >= giveUpMs - 1, `${waitedMs} ms`);
  for (let time = 0; time < 1_000; time++) assert.not(partner.handOver());
  assert.ok(performance.now() - started < waitedMs + giveUpMs, 'it waited again');
});

test('a computation goes on by the clock of the system, with its partner and without', async () => {
  const partner = await loaded(1_000);
  const compute = () => {
    let paused = 0;
    for (; paused < 100_000; paused++) rests.pause();
    return paused;
  };
  const rests = new Rests(restsByPartner(partner));
  assert.is(rests.during(compute), 100_000);
  await partner.end();
  assert.is(rests.during(compute), 100_000);
});

test.run();

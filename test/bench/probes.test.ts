/** How soon a change is heard, over a clock of the test. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { at } from '../../bench/load/latency.js';
import { probe } from '../../bench/load/probes.js';

const tickMs = 250;
const answerMs = 2;

/** Probes a server that reports what it has stored at every tick: when it sent, and the summaries of both delays. */
async function runProbe(seed: number) {
  let nowMs = 0;
  const sent: number[] = [];
  const { sinceSent, sinceStored } = await probe({
    count: 400,
    seed,
    pauseMaxMs: tickMs,
    now: () => nowMs,
    pause: async (ms) => {
      nowMs += ms;
    },
    send: async () => {
      sent.push(nowMs);
      nowMs += answerMs;
    },
    // Settles once the send has moved the clock.
    hears: async () => {
      await new Promise((resolve) => setImmediate(resolve));
      nowMs = (Math.floor(nowMs / tickMs) + 1) * tickMs;
    },
  });
  return { sent, sinceSent: sinceSent.summary(), sinceStored: sinceStored.summary() };
}

test('changes reach a server that sends in ticks at any time of its tick', async () => {
  const { sinceSent, sinceStored } = await runProbe(1);
  // Uniform over a tick: the mean is half of one, and a tenth wait for less than a tenth of one.
  assert.ok(Math.abs(at(sinceStored, 50) / 1000 - tickMs / 2) < tickMs / 10, `${at(sinceStored, 50)} us`);
  assert.ok(at(sinceStored, 5) / 1000 < tickMs / 10, `${at(sinceStored, 5)} us`);
  assert.ok(at(sinceStored, 95) / 1000 > tickMs * 0.9, `${at(sinceStored, 95)} us`);
  assert.ok(Math.abs(sinceSent.meanUs - sinceStored.meanUs - answerMs * 1000) < 200);
});

test('the same seed pauses alike, another seed otherwise', async () => {
  const [one, again, other] = [await runProbe(1), await runProbe(1), await runProbe(2)];
  assert.equal(again.sent, one.sent);
  assert.not.equal(other.sent, one.sent);
});

test.run();

/** Samples of event loops: those that belong to a window, and the stalls of a node beside an idle server. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { ownStalls } from '../../bench/soak/samples.js';
import type { LoopSample } from '../../bench/target.js';
import { samplesWithin } from '../../bench/windows.js';

const sample = (at: number, max = 0): LoopSample => ({ at, p99: max, max });

test('a window includes every sample of its time, however late the server reports it', () => {
  const within = (times: readonly number[]) =>
    samplesWithin(
      times.map((at) => sample(at)),
      1_000,
      1_200,
    ).map(({ at }) => at);
  assert.equal(within([900, 1_000, 1_100, 1_200, 1_300, 1_400]), [1_100, 1_200]);
  // The loop stood still from 1,150 on.
  assert.equal(within([1_050, 1_150, 1_600, 1_700]), [1_050, 1_150, 1_600]);
  assert.equal(within([1_250]), [1_250]);
});

test("a stall is the node's own where no idle server was half as late within a quarter of a second", () => {
  const idle = [sample(100, 1), sample(1000, 30), sample(2000, 29), sample(3000, 80), sample(4000, 80)];
  const node = [
    sample(100, 50), // Not above the bound.
    sample(1000, 60), // Half of it.
    sample(2000, 60),
    sample(2750, 60),
    sample(3251, 60),
    sample(4200, 51),
    sample(9000, 51),
  ];
  const own = ownStalls(node, idle, 50).map(({ at }) => at);
  assert.equal(own, [2000, 3251, 9000]);
});

test('two hours of stalls look at each sample of the idle server a few times only', () => {
  let looks = 0;
  const times = Array.from({ length: 72_000 }, (_, i) => i * 100);
  const idle = times.map((ms) => ({
    get at() {
      looks++;
      return ms;
    },
    p99: 0,
    max: 0,
  }));
  const node = times.map((at) => sample(at, 60));
  assert.is(ownStalls(node, idle, 50).length, node.length);
  assert.ok(looks < 10 * idle.length, `${looks} looks`);
});

test.run();

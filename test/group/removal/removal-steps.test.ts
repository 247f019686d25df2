/** How the steps of a removal are carried out, repeated and reported. */
import { setImmediate as turnOfLoop } from 'node:timers/promises';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { RemovalProcess } from '../../../src/group/removal/removal-process.js';
import { type RemovalDeps, RemovalSteps } from '../../../src/group/removal/removal-steps.js';
import { limits } from '../../../src/limits.js';

/** Steps whose redactions fail; `done` names what is removed and reported, `waits` are the delays of repetitions. */
function stepsOf(isEnded: boolean) {
  const done: string[] = [];
  const waits: number[] = [];
  const deps: RemovalDeps = {
    pool: { follow: async () => {}, redact: () => Promise.reject(new Error('damaged')) },
    log: { scrub: async () => {} },
    timers: { elapsed: () => 0 },
    observer: { workDone: () => {} },
    publishErasures: async () => {},
    onFailure: () => {},
  };
  const removal = { failed: () => [], snapshotsDropped: () => done.push('reported') };
  const steps = new RemovalSteps(deps, {
    removal: removal as unknown as RemovalProcess<null>,
    durableSeq: () => 1,
    dropSnapshots: async () => void done.push('removed'),
    report: () => {},
    ended: () => isEnded,
    closed: () => false,
    later: (_, ms) => waits.push(ms),
    fail: () => {},
  });
  return { steps, done, waits };
}

const work = { type: 'removal', events: [], chains: [], erasures: [1] } as const;

test('a redaction that keeps failing is repeated ever more seldom, up to a longest delay', async () => {
  const { steps, waits } = stepsOf(false);
  for (let attempt = 0; attempt < 8; attempt++) {
    steps.begin({ type: 'redact', work });
    await turnOfLoop();
  }
  const { workRetryMs: first, redactionRetryMaxMs: longest } = limits;
  assert.equal(waits, [...[1, 2, 4, 8, 16, 32].map((times) => times * first), longest, longest]);
});

test('snapshots are reported as dropped only once they are removed, and stay if the node ends', async () => {
  for (const isEnded of [false, true]) {
    const { steps, done } = stepsOf(isEnded);
    steps.begin({ type: 'drop_snapshots' });
    await turnOfLoop();
    assert.equal(done, isEnded ? [] : ['removed', 'reported']);
  }
});

test.run();

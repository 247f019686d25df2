/** Repeated work comes at once, never overlaps itself, and is over when its end says so. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { repeatedly } from '../../../src/store/ownership/owner.js';

// Repeated work keeps no process alive, so this does.
const awake = setInterval(() => undefined, 1_000);
test.after(() => clearInterval(awake));

/** Resolves once other work of 1 ms has come ten times. */
async function tenIntervals(): Promise<void> {
  const passed = gate();
  let begun = 0;
  const stop = repeatedly(async () => {
    begun += 1;
    if (begun === 10) passed.open();
  }, 1);
  await passed.opened;
  await stop();
}

/** A promise with its resolver. */
function gate(): { readonly opened: Promise<void>; open(): void } {
  let open = (): void => undefined;
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { opened, open: () => open() };
}

test('work that lasts longer than its interval is not begun a second time meanwhile', async () => {
  const first = gate();
  const second = gate();
  let begun = 0;
  const stop = repeatedly(async () => {
    begun += 1;
    if (begun === 2) second.open();
    await first.opened;
  }, 1);
  assert.is(begun, 1);
  await tenIntervals();
  assert.is(begun, 1);
  first.open();
  await second.opened;
  await stop();
});

test('the end waits for running work, and no work begins after it', async () => {
  const working = gate();
  let begun = 0;
  let isOver = false;
  const stop = repeatedly(async () => {
    begun += 1;
    await working.opened;
    isOver = true;
  }, 1);
  const stopped = stop();
  working.open();
  await stopped;
  assert.ok(isOver);
  await tenIntervals();
  assert.is(begun, 1);
});

test.run();

/** The system's time as the client uses it. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { systemRuntime } from '../../../src/client/transport/time.js';

test('a wait longer than a timer can represent, as after a strange Retry-After, is not shortened', async () => {
  let isOver = false;
  const cancel = systemRuntime.after(2 ** 31, () => {
    isOver = true;
  });
  // The platform would make 1 ms of it, and timers of one duration end in the order of their start.
  await new Promise<void>((resolve) => systemRuntime.after(1, resolve));
  assert.not.ok(isOver);
  cancel();
});

test.run();

/** The system's time as the client uses it. */
import { setTimeout as delay } from 'node:timers/promises';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { systemRuntime } from '../../../src/client/transport/time.js';

test('a wait longer than a timer can represent, as after a strange Retry-After, is not shortened', async () => {
  let isOver = false;
  const cancel = systemRuntime.after(2 ** 31, () => {
    isOver = true;
  });
  // The platform would make 1 ms of it, which ends before this.
  await delay(20);
  assert.not.ok(isOver);
  cancel();
});

test.run();

/**
 * Collects the errors that the game's listeners throw: they are uncaught exceptions, and each is the error that was
 * given.
 */
import { setImmediate as turn } from 'node:timers/promises';
import * as assert from 'uvu/assert';

export async function thrownBy(work: (fault: Error) => Promise<void>): Promise<readonly unknown[]> {
  const fault = new Error('a fault of the game');
  const thrown: unknown[] = [];
  const onThrown = (error: unknown) => thrown.push(error);
  process.on('uncaughtException', onThrown);
  try {
    await work(fault);
    await turn();
  } finally {
    process.off('uncaughtException', onThrown);
  }
  assert.ok(thrown.every((error) => error === fault));
  return thrown;
}

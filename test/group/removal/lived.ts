/** Groups that lived for some hours, and the records of their logs. */
import * as assert from 'uvu/assert';
import { Batch } from '../../../src/core/records/batch.js';
import type { LogRecord } from '../../../src/core/records/records.js';
import type { LogReader } from '../../../src/group/ports/storage.js';
import type { ExpectedHead } from '../../../src/group/recovery/verification.js';
import { MemorySnapshotStore } from '../../support/memory-snapshots.js';
import { verifyStore } from '../../support/verify-store.js';
import { event, Life } from '../life.js';
import type { Machine } from '../machine.js';

export function recordsOf(log: LogReader): { readonly record: LogRecord; readonly at: number }[] {
  return log
    .from(0, Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY)
    .map(({ bytes }) => new Batch(bytes))
    .flatMap((batch) => [...batch].map((record) => ({ record, at: batch.at })));
}

/** Asserts that a log is intact, and reaches the expected head if there is one. */
export function assertHolds(log: LogReader, why = '', expected: ExpectedHead | null = null): void {
  assert.equal(verifyStore(log, new MemorySnapshotStore(), expected, 'full').faults, [], why);
}

/** A group of which two peers sent events `id-0-`, `id-1-`, … about the players 0 to 2, one an hour. */
export async function lived(events: number): Promise<{ readonly life: Life; readonly machine: Machine }> {
  const life = await Life.begin();
  for (let i = 0; i < events; i++) await life.act(event(`id-${i}-`, `player ${i % 3}`, i % 2));
  return { life, machine: life.machine };
}

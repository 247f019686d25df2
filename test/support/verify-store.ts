/** Verifies a store in one call, as the verifying process does step by step. */
import type { OnProgress, VerifyReport } from '../../src/group/api.js';
import type { LogReader, SnapshotStore } from '../../src/group/ports/storage.js';
import { type ExpectedHead, type VerifyMode, verifySteps } from '../../src/group/recovery/verification.js';

export function verifyStore(
  log: LogReader,
  snapshots: SnapshotStore,
  expected: ExpectedHead | null,
  mode: VerifyMode,
  onProgress: OnProgress = () => {},
): VerifyReport {
  const steps = verifySteps(log, snapshots, expected, mode);
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
    onProgress(...step.value);
  }
}

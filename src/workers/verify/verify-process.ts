/** Entry of the verifying process: verifies the folder in its arguments, sends one report, and exits. */
import { constants, setPriority } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import type { VerifyMode } from '../../group/recovery/verification.js';
import { limits } from '../../limits.js';
import { verifyFolder, verifyForStart } from './verify-folder.js';
import type { VerifyMessage } from './verify-runner.js';

function send(message: VerifyMessage, sent: () => void = () => {}): void {
  process.send?.(message, sent);
}

const [dir, mode] = process.argv.slice(2) as [string, VerifyMode];
const isInBackground = mode === 'background';
if (isInBackground) setPriority(constants.priority.PRIORITY_LOW);
// Without a parent, no process reads the report.
process.once('disconnect', () => process.exit());

let since = performance.now();

/** Throttles a background check, which sleeps most of the time, so that the disk and a core stay free for the node. */
async function onProgress(done: number, total: number): Promise<void> {
  send({ progress: [done, total] });
  if (!isInBackground) return;
  await delay((performance.now() - since) * limits.checkRestFactor);
  since = performance.now();
}

const report = await (mode === 'start' ? verifyForStart(dir) : verifyFolder(dir, mode, onProgress));
send({ report }, () => process.disconnect());

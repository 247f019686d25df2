/** Entry of the verifying process: verifies the folder in its arguments, sends one report, and ends. */
import type { VerifyMode } from '../group/verification.js';
import type { VerifyMessage } from './verification.js';
import { verifyFolder } from './verify-folder.js';

function send(message: VerifyMessage, sent: () => void = () => {}): void {
  process.send?.(message, sent);
}

const [dir, mode] = process.argv.slice(2) as [string, VerifyMode];
const report = await verifyFolder(dir, mode, (done, total) => send({ progress: [done, total] }));
send({ report }, () => process.disconnect());

/**
 * Opens the log of a data folder in another process. LMDB in this process then sees the newest commit again, if another
 * process had hidden it.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { execPath } from 'node:process';
import { fileURLToPath } from 'node:url';

const entry = fileURLToPath(new URL('./open-log.js', import.meta.url));

/** Rejects if the log of the data folder `dir` could not be opened. */
export async function openElsewhere(dir: string): Promise<void> {
  // Ctrl-C is meant for the node, but it also reaches a child that does not have its own process group yet.
  const child = spawn(execPath, [entry, dir], { stdio: 'ignore', detached: true });
  const [code, signal] = await once(child, 'exit');
  if (signal === 'SIGINT') return openElsewhere(dir);
  if (code !== 0) throw new Error(`another process could not open the log of ${dir}: ${signal ?? `exit code ${code}`}`);
}

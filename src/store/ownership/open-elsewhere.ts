/**
 * Has the log of a data folder opened by a process of its own, by which LMDB knows the newest commit again where
 * another process hid it.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { execPath } from 'node:process';
import { fileURLToPath } from 'node:url';

const entry = fileURLToPath(new URL('./open-log.js', import.meta.url));

/** Rejects where the log of the data folder `dir` could not be opened. */
export async function openElsewhere(dir: string): Promise<void> {
  // Ctrl-C is for the node, but reaches a process that was made this moment and has no group of its own yet.
  const child = spawn(execPath, [entry, dir], { stdio: 'ignore', detached: true });
  const [code, signal] = await once(child, 'exit');
  if (signal === 'SIGINT') return openElsewhere(dir);
  if (code !== 0) throw new Error(`another process could not open the log of ${dir}: ${signal ?? `exit code ${code}`}`);
}

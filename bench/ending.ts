/**
 * Cleans up when the bench ends for any reason: kills processes and removes folders. All work runs from one listener,
 * so that a failure does not prevent the rest.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const removeTries = 20;
const removePauseMs = 50;

/**
 * Never notified. A wait on this cell is a synchronous pause, for the exit handler, where nothing asynchronous runs.
 */
const nobody = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));

const pending = new Set<() => void>();

process.on('exit', endAll);

/**
 * Registers work for the end, and returns a function that cancels it. The newest work runs first, so that a server is
 * killed before its folder is removed.
 */
export function atEnd(work: () => void): () => void {
  // A new function each time, because the same work may be registered twice.
  const own = (): void => work();
  pending.add(own);
  return () => {
    pending.delete(own);
  };
}

/**
 * Lets Ctrl-C, SIGTERM and a closing terminal end this process with all its children. A terminal sends the signal to
 * every process, and npm and the script that started this process forward it. The listeners stay, so that a later
 * signal does not cut the cleanup short.
 */
export function endBySignals(): void {
  process.on('SIGHUP', () => process.exit(129));
  process.on('SIGINT', () => process.exit(130));
  process.on('SIGTERM', () => process.exit(143));
}

/** Creates a folder that is removed by `remove`, or at the end of the bench. */
export function temporaryFolder(prefix: string): { readonly path: string; remove(): void } {
  const path = mkdtempSync(join(tmpdir(), prefix));
  const forget = atEnd(() => removeFolder(path));
  return {
    path,
    remove() {
      removeFolder(path);
      forget();
    },
  };
}

/** Blocks the thread for `ms`. For the exit handler, which cannot await. */
export function pause(ms: number): void {
  Atomics.wait(nobody, 0, 0, ms);
}

function endAll(): void {
  for (const work of [...pending].reverse()) {
    pending.delete(work);
    try {
      work();
    } catch (error) {
      console.error(`bench: ${error instanceof Error ? error.message : String(error)}`);
    }
  }
}

/**
 * Retries, because a server that was just killed may have written one more file. `maxRetries` of `rmSync` does not
 * cover this.
 */
function removeFolder(path: string): void {
  for (let tries = 1; ; tries++) {
    try {
      rmSync(path, { recursive: true, force: true });
      return;
    } catch (error) {
      if (tries === removeTries) throw error;
      pause(removePauseMs);
    }
  }
}

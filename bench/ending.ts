/**
 * What is left to undo when the bench ends, however it ends: processes to kill, folders to remove. All of it hangs on
 * one listener, so that one that fails keeps no other from its turn.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const removeTries = 20;
const removePauseMs = 50;

/** Never notified: waits on it are pauses, for the time in which nothing asynchronous runs any more. */
const nobody = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));

const pending = new Set<() => void>();

process.on('exit', endAll);

/**
 * Does the work at the end, the newest first, so that a server is killed before its folder goes. The answer takes it
 * back.
 */
export function atEnd(work: () => void): () => void {
  // A function of its own: the same work may be given twice.
  const own = (): void => work();
  pending.add(own);
  return () => {
    pending.delete(own);
  };
}

/**
 * From here on Ctrl-C, SIGTERM and a terminal that closes end this process with all that it started. A terminal sends
 * the signal to every process, and npm and the script that started this one send it on: what comes after the first
 * must not cut the end short, so the listeners stay.
 */
export function endBySignals(): void {
  process.on('SIGHUP', () => process.exit(129));
  process.on('SIGINT', () => process.exit(130));
  process.on('SIGTERM', () => process.exit(143));
}

/** A folder that goes with the bench, and by `remove` before. */
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

/** Stops everything for so long: for the end, which cannot wait otherwise. */
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
 * Tries again where a server that was killed a moment ago wrote one more file; `maxRetries` of `rmSync` would not
 * look for it.
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

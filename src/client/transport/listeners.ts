/** Calls listeners of the game, warns where there is none, and runs callbacks when a signal is aborted. */
import type { TrustError } from '../trust-error.js';

/** Calls a listener once the running code has ended: its exception is an uncaught one and disturbs no client. */
export function notify<T>(listener: ((value: T) => void) | undefined, value: T): void {
  if (listener !== undefined) queueMicrotask(() => listener(value));
}

/** The statuses, or the codes of errors without one, of which the process was warned. */
const warned = new Set<string | number>();

/** Warns of a refusal that no listener of the game learns of: on stderr, once per process and kind. */
export function warnOnce({ code, status, message }: TrustError): void {
  const kind = status ?? code;
  if (!warned.has(kind)) process.emitWarning(message, { type: 'TrustWarning', code });
  warned.add(kind);
}

/** The callbacks that wait for a signal, and the one listener that serves them all. */
interface Waiting {
  readonly runs: Set<() => void>;
  readonly listener: () => void;
}

const waitingFor = new WeakMap<AbortSignal, Waiting>();

/**
 * Calls `run` once the signal is aborted, unless the returned function is called before. The signal has one listener
 * however many callbacks wait, because the platform reports more than ten listeners as a leak. The listener is removed
 * with the last callback, since it would keep the signal in memory.
 */
export function onAbort(signal: AbortSignal, run: () => void): () => void {
  const { runs, listener } = waitingFor.get(signal) ?? listenTo(signal);
  runs.add(run);
  return () => {
    runs.delete(run);
    if (runs.size > 0) return;
    waitingFor.delete(signal);
    signal.removeEventListener('abort', listener);
  };
}

function listenTo(signal: AbortSignal): Waiting {
  const runs = new Set<() => void>();
  const listener = () => {
    for (const run of runs) run();
  };
  waitingFor.set(signal, { runs, listener });
  signal.addEventListener('abort', listener, { once: true });
  return { runs, listener };
}

/** Settles like the promise, or rejects with the signal's reason if the signal is aborted first. */
export function abortable<T>(promise: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return promise;
  // The promise may be awaited by another caller or by none.
  promise.catch(() => undefined);
  return new Promise((resolve, reject) => {
    signal.throwIfAborted();
    const release = onAbort(signal, () => reject(signal.reason));
    promise.then(resolve, reject).finally(release);
  });
}

/** Returns a controller that is also aborted by `signal`, until `release` is called. */
export function linked(signal: AbortSignal | undefined): { controller: AbortController; release: () => void } {
  const controller = new AbortController();
  const follow = () => controller.abort(signal?.reason);
  if (signal?.aborted) follow();
  const release = signal === undefined || signal.aborted ? () => undefined : onAbort(signal, follow);
  return { controller, release };
}

/** A promise that other code settles. An unobserved rejection does not count as an unhandled one. */
export function withResolve() {
  let resolve: () => void = () => undefined;
  let reject: (error: unknown) => void = () => undefined;
  const promise = new Promise<void>((onResolve, onReject) => {
    resolve = onResolve;
    reject = onReject;
  });
  promise.catch(() => undefined);
  return { promise, resolve, reject };
}

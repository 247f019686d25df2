/** Declares clock, timers and random source as ports, so that a simulation can control them. */

export interface Clock {
  /** ms since 1970. */
  now(): number;
}

export interface Timers {
  /** ms since an arbitrary time, by a monotonic clock. */
  elapsed(): number;
  /** Calls `act` once the running code is done and waiting input was read. */
  soon(act: () => void): void;
  /** Calls `act` after `ms` without keeping the process alive. The returned function cancels the call. */
  later(act: () => void, ms: number): () => void;
}

export function every(timers: Pick<Timers, 'later'>, ms: number, act: () => void): () => void {
  let cancel = timers.later(tick, ms);
  function tick(): void {
    cancel = timers.later(tick, ms);
    act();
  }
  return () => cancel();
}

/** A wait of `ms`, which `end` ends early. */
export function waitOf(timers: Pick<Timers, 'later'>, ms: number): { readonly over: Promise<void>; end(): void } {
  let end = () => {};
  const over = new Promise<void>((resolve) => {
    const cancel = timers.later(resolve, ms);
    end = () => {
      cancel();
      resolve();
    };
  });
  return { over, end };
}

export interface RandomSource {
  bytes(count: number): Uint8Array;
  uuid(): string;
}

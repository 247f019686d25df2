/** A promise that is settled from outside. A rejection that nobody awaits is no unhandled rejection. */
export interface PromiseWithResolve {
  readonly promise: Promise<void>;
  resolve(): void;
  reject(error: unknown): void;
}

export function withResolve(): PromiseWithResolve {
  let resolve: () => void = () => undefined;
  let reject: (error: unknown) => void = () => undefined;
  const promise = new Promise<void>((onResolve, onReject) => {
    resolve = onResolve;
    reject = onReject;
  });
  // Each waiter sees the rejection; without one it must not end the process.
  promise.catch(() => undefined);
  return { promise, resolve, reject };
}

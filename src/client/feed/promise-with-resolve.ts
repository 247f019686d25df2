/**
 * A promise that other code settles by calling `resolve` or `reject`. An unobserved rejection does not count as an
 * unhandled rejection.
 */
export type PromiseWithResolve = ReturnType<typeof withResolve>;

export function withResolve() {
  let resolve: () => void = () => undefined;
  let reject: (error: unknown) => void = () => undefined;
  const promise = new Promise<void>((onResolve, onReject) => {
    resolve = onResolve;
    reject = onReject;
  });
  // Every waiter sees the rejection; without a waiter it must not end the process.
  promise.catch(() => undefined);
  return { promise, resolve, reject };
}

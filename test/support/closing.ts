/** Lets `await using` close an object that has a `close` alone. */
export function closing<T extends { close(): unknown }>(closable: T): T & AsyncDisposable {
  return Object.assign(closable, {
    async [Symbol.asyncDispose]() {
      await closable.close();
    },
  });
}

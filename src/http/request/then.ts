/**
 * Calls `next` with a value immediately, or with the result of a promise once it resolves. Most requests wait for
 * nothing, and a promise costs time.
 */
export function then<T, R>(value: T | Promise<T>, next: (value: T) => R | Promise<R>): R | Promise<R> {
  return value instanceof Promise ? value.then(next) : next(value);
}

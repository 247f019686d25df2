/** A value, or the promise of one. Most requests wait for nothing, and a promise costs time. */
export type MaybeAsync<T> = T | Promise<T>;

/** Calls `next` with a value immediately, or with the result of a promise once it resolves. */
export function then<T, R>(value: MaybeAsync<T>, next: (value: T) => MaybeAsync<R>): MaybeAsync<R> {
  return value instanceof Promise ? value.then(next) : next(value);
}

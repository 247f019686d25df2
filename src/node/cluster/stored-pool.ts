/** Wraps the pool of a node of a cluster, whose files follow the shared log some ms later. */
import type { LogWriter } from '../../group/ports/log.js';
import type { GroupPool } from '../../group/ports/pool.js';

/** Returns a pool whose tasks start once the files hold every acknowledged batch, because the workers read files. */
export function storedPool(pool: GroupPool, log: Pick<LogWriter, 'stored'>): GroupPool {
  const stored =
    <A extends readonly unknown[], R>(task: (...args: A) => Promise<R>) =>
    async (...args: A): Promise<R> => {
      await log.stored();
      return task.apply(pool, args as never);
    };
  return {
    snapshot: stored(pool.snapshot),
    follow: stored(pool.follow),
    redact: stored(pool.redact),
    weights: stored(pool.weights),
    verdicts: stored(pool.verdicts),
    simulate: stored(pool.simulate),
    publishChanges: stored(pool.publishChanges),
    walkChanges: stored(pool.walkChanges),
    endFeed: stored(pool.endFeed),
    list: stored(pool.list),
    publishedWeights: stored(pool.publishedWeights),
    pairEvents: stored(pool.pairEvents),
    records: stored(pool.records),
    chain: stored(pool.chain),
    repeats: stored(pool.repeats),
    logPiece: stored(pool.logPiece),
    verify: (onProgress) => pool.verify(onProgress),
    check: (onProgress, signal) => pool.check(onProgress, signal),
  };
}

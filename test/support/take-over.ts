/** Takes the data folder of a node that runs, as another machine does of one that is paused. */
import type { LmdbLogWriter } from '../../src/store/log/lmdb-log-writer.js';
import { claimFolder } from '../../src/store/ownership/owner.js';
import { thisProcess } from '../../src/store/ownership/process-identity.js';
import { until } from './until.js';

/** From where the node's process cannot be looked up, and patient for less than a heartbeat. */
const elsewhere = { ...thisProcess(), pid: 1, pidNamespace: 'pid:[1]' };
const impatient = { heartbeatMs: 100, ownerSilentMs: 200 };

export async function takeOver(dir: string): Promise<LmdbLogWriter> {
  let taken: LmdbLogWriter | undefined;
  // Where a beat of the node falls into so short a silence it lives, and the next try comes.
  await until(async () => {
    taken = await claimFolder(dir, elsewhere, impatient).catch(() => undefined);
    return taken !== undefined;
  });
  return taken!;
}

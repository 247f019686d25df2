/** Takes over the data folder of a running node, as another machine does when the node is paused. */
import type { LmdbLogWriter } from '../../src/store/log/lmdb-log.js';
import { acquireFolder } from '../../src/store/ownership/owner.js';
import { thisProcess } from '../../src/store/ownership/owner-record.js';
import { until } from './until.js';

/** The node's process cannot be identified from this namespace. The times are shorter than a heartbeat. */
const elsewhere = { ...thisProcess(), pid: 1, pidNamespace: 'pid:[1]' };
const impatient = { heartbeatMs: 100, ownerSilentMs: 200 };

export async function takeOver(dir: string): Promise<LmdbLogWriter> {
  let taken: LmdbLogWriter | undefined;
  // A heartbeat within this short silence shows that the node is alive; try again.
  await until(async () => {
    taken = await acquireFolder(dir, elsewhere, impatient).catch(() => undefined);
    return taken !== undefined;
  });
  return taken!;
}

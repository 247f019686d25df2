/** Makes the members of etcd begin new files of their write-ahead logs and delete the old ones, for a scrub. */
import { randomBytes } from 'node:crypto';
import type { OnProgress } from '../../group/api.js';
import type { WalSettings } from '../../group/ports/shared-log.js';
import { limits } from '../../limits.js';
import type { EtcdLog } from './etcd-log.js';

/**
 * Writes entries until every member has made a snapshot and begun more files of its write-ahead log than it keeps.
 * Compacts repeatedly, so that the entries do not fill the database. Resolves to the marker as hex, random bytes that
 * were written before the entries: members delete their oldest files first, so once no file contains the marker, no
 * file contains anything older. Reports the number of written entries to `onProgress`.
 */
export async function pushWal(
  { client, keys }: Pick<EtcdLog, 'client' | 'keys'>,
  { snapshotEntries, files }: WalSettings,
  onProgress: OnProgress,
): Promise<string> {
  const marker = randomBytes(limits.walMarkerBytes);
  await client.put({ key: keys.marker, value: marker });
  // If members make snapshots often, the entries are few and long: the files then need more bytes than entries.
  const bytes = Math.ceil((files * limits.walFileBytes) / snapshotEntries);
  const value = randomBytes(Math.min(limits.walFillBytesMax, Math.max(limits.walFillBytes, bytes)));
  const fileEntries = Math.ceil(limits.walFileBytes / value.length);
  const step = Math.ceil(limits.walCompactBytes / value.length);
  const entries = Math.max(snapshotEntries + 2 * fileEntries, (files + 2) * fileEntries);
  let before: string | null = null;
  let atOnce: number = limits.walAtOnceFirst;
  for (let done = 0; done < entries; done += step) {
    onProgress(done, entries);
    const count = Math.min(step, entries - done);
    let left = count;
    const startedAt = performance.now();
    const fill = async (): Promise<void> => {
      while (left > 0) {
        left -= 1;
        await client.put({ key: keys.filler, value }, limits.walPutMs, limits.walPutMs / 2);
      }
    };
    await Promise.all(Array.from({ length: atOnce }, fill));
    const entryMs = ((performance.now() - startedAt) * atOnce) / count;
    if (entryMs > limits.walSlowMs) atOnce = Math.max(limits.walAtOnceMin, atOnce / 2);
    else if (entryMs < limits.walFastMs) atOnce = Math.min(limits.walAtOnceMax, atOnce * 2);
    // Compacts one step behind, so that no watch loses changes that it has not read yet.
    const { header } = await client.range({ key: keys.filler, keys_only: true });
    if (before !== null) await client.compact(before);
    before = header.revision;
  }
  const { header } = await client.txn({
    compare: [],
    success: [keys.filler, keys.marker].map((key) => ({ request_delete_range: { key } })),
  });
  await client.compact(header.revision);
  return marker.toString('hex');
}

/**
 * Acquires the data folder it is given, says `owner <epoch>` or `refused`, and as owner writes one batch keyed by its
 * epoch and stays until it is ended.
 */
import { acquireFolder, FolderOwnedError } from '../../src/store/ownership/owner.js';
import { batchOf } from './log-contract.js';

try {
  const writer = await acquireFolder(process.argv[2] ?? '');
  await writer.append(batchOf(writer.epoch), []);
  process.stdout.write(`owner ${writer.epoch}\n`);
  process.stdin.resume();
} catch (error) {
  if (!(error instanceof FolderOwnedError)) throw error;
  process.stdout.write('refused\n');
}

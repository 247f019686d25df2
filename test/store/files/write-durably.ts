/** Entry of a process that writes, each in its folder below the argument, what must survive a power cut. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { BackupManifest, RestoreReport } from '../../../src/group/backup/backup-tasks.js';
import { markScrubDue } from '../../../src/node/cluster/local-scrub.js';
import { replaceSmallFile } from '../../../src/peer/config/peer-file.js';
import { NewBackup } from '../../../src/store/backup/backup-folder.js';
import { Restoring } from '../../../src/store/backup/restore-folder.js';
import { writeMark } from '../../../src/store/files/folder-files.js';
import { writeCopiedHead } from '../../../src/workers/backup/copy-folder.js';

const folder = (name: string): string => {
  const dir = join(process.argv[2]!, name);
  mkdirSync(dir);
  return dir;
};

const backup = new NewBackup(folder('backup'));
mkdirSync(join(backup.store, 'log'));
writeFileSync(join(backup.store, 'log', 'data.mdb'), 'x');
await backup.finish({ format: 1 } as BackupManifest);

const restoring = await Restoring.begin(folder('restore'), false);
await restoring.finish({} as RestoreReport, null);

const replaced = folder('replace');
writeFileSync(join(replaced, 'group-salt'), 'x');
await (await Restoring.begin(replaced, true)).finish({} as RestoreReport, 'replaced-1');

await writeMark(folder('mark'), { cluster_id: 'c', node_id: 'n' });
await writeCopiedHead(folder('head'), { lastSeq: 1, chain: Buffer.alloc(32) });
await replaceSmallFile(join(folder('secret'), 'secret'), 'x');
markScrubDue(folder('scrub'));

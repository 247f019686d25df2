/** A disk that refuses writes, as a full one or one of another user does: the tests may run as root. */
import fs, { type FileHandle } from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import { fileURLToPath } from 'node:url';

/** Runs `work` while no new folder is made and no byte is written; an empty file still is, as on a full disk. */
export async function onFailingDisk<T>(code: 'ENOSPC' | 'EACCES', work: () => Promise<T>): Promise<T> {
  const refusal = (path?: unknown) =>
    Object.assign(new Error(`${code}: refused`), { code, syscall: 'write' }, path === undefined ? {} : { path });
  const probe = await fs.open(fileURLToPath(import.meta.url));
  await probe.close();
  const handles: Pick<FileHandle, 'write'> = Object.getPrototypeOf(probe);
  const { write } = handles;
  const { mkdir, writeFile } = fs;
  handles.write = () => Promise.reject(refusal());
  const refusing = {
    mkdir: async (path: string) => {
      if ((await fs.stat(path).catch(() => null)) === null) throw refusal(path);
    },
    writeFile: async (path: string, text: string, options?: object) => {
      await writeFile(path, '', options);
      if (text !== '') throw refusal();
    },
  };
  Object.assign(fs, refusing);
  syncBuiltinESMExports();
  try {
    return await work();
  } finally {
    handles.write = write;
    Object.assign(fs, { mkdir, writeFile });
    syncBuiltinESMExports();
  }
}

/** Reads the version of this package from the nearest package.json above the built files. */
import { existsSync, readFileSync } from 'node:fs';

function packageFile(): URL {
  let folder = new URL('.', import.meta.url);
  for (;;) {
    const file = new URL('package.json', folder);
    if (existsSync(file)) return file;
    const parent = new URL('..', folder);
    if (parent.href === folder.href) throw new Error('package.json is missing');
    folder = parent;
  }
}

export const version = (JSON.parse(readFileSync(packageFile(), 'utf8')) as { version: string }).version;

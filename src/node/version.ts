/** Reads the version of this package from the nearest package.json above the built files. */
import { existsSync, readFileSync } from 'node:fs';

function packageFile(folder = new URL('.', import.meta.url)): URL {
  const file = new URL('package.json', folder);
  if (existsSync(file)) return file;
  const parent = new URL('..', folder);
  if (parent.href === folder.href) throw new Error('package.json is missing');
  return packageFile(parent);
}

export const version = (JSON.parse(readFileSync(packageFile(), 'utf8')) as { version: string }).version;

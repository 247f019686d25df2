/** Reads the files of the dashboard's page once: its own modules and style, and preact, htm and uPlot. */
import { hash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, extname, join } from 'node:path';

export interface Asset {
  readonly type: string;
  readonly bytes: Buffer;
  readonly etag: string;
}

const types: Readonly<Record<string, string>> = {
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
};

const installed = [
  ['preact', 'preact.min.umd.js'],
  ['htm', 'htm.umd.js'],
  ['uplot', 'uPlot.iife.min.js'],
  ['uplot', 'uPlot.min.css'],
] as const;

/** Returns the files by their paths in the page. Throws if the page was not built. */
export function readAssets(): ReadonlyMap<string, Asset> {
  const folder = new URL('./page/', import.meta.url);
  const require = createRequire(import.meta.url);
  const assets = new Map<string, Asset>();
  const add = (name: string, path: URL | string): void => {
    const type = types[extname(name)];
    if (type === undefined) return;
    const bytes = readFileSync(path);
    assets.set(name, { type, bytes, etag: `"${hash('sha256', bytes, 'hex').slice(0, 32)}"` });
  };
  for (const name of readdirSync(folder, { recursive: true, encoding: 'utf8' })) add(name, new URL(name, folder));
  for (const [name, file] of installed) add(file, join(dirname(require.resolve(name)), file));
  return assets;
}

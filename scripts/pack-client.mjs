/**
 * `npm run pack:client`: makes the package `peer-trust-client` in `out/peer-trust-client` and its tarball beside it.
 * `--to FOLDER` writes elsewhere.
 */
import './lib/require-node.mjs';
import { spawnSync } from 'node:child_process';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { compile, projects, root } from './lib/compile.mjs';

const { values } = parseArgs({ options: { to: { type: 'string', default: 'out' } } });
const target = resolve(root, values.to);
const folder = join(target, 'peer-trust-client');

if (!compile(projects.main, { ifStale: true })) process.exit(1);
// Loads packages, which are installed now.
const { makeClientPackage } = await import('./lib/client-package.mjs');
try {
  await makeClientPackage(folder);
} catch (error) {
  console.error(error.message);
  process.exit(1);
}
const packed = spawnSync('npm', ['pack', '--json', '--ignore-scripts', '--pack-destination', target], {
  cwd: folder,
  encoding: 'utf8',
});
if (packed.status !== 0) {
  console.error(packed.stderr);
  process.exit(1);
}
const [{ filename, size, unpackedSize, entryCount }] = JSON.parse(packed.stdout);
const kB = (bytes) => `${Math.round(bytes / 1000)} kB`;
console.log(`${join(values.to, filename)}: ${entryCount} files, ${kB(size)} packed, ${kB(unpackedSize)} unpacked`);

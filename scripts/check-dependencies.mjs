/**
 * `npm run check:dependencies`: holds the lock file to what was reviewed, which needs no network, and then asks the
 * registry for known vulnerabilities of what a release runs. Exits with 1 where either finds something; a registry that
 * cannot be reached is said, and is no fault.
 */
import './lib/require-node.mjs';
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './lib/compile.mjs';
import { dependencyFaults } from './lib/dependencies.mjs';

const read = (name) => JSON.parse(readFileSync(join(root, name), 'utf8'));
const manifest = read('package.json');
const lock = read('package-lock.json');
const oldest = /^>=(\d+)\.(\d+)$/.exec(manifest.engines.node).slice(1).map(Number);

const faults = dependencyFaults(manifest, lock, oldest);
for (const fault of faults) console.error(fault);
console.log(`${Object.keys(lock.packages).length - 1} packages of the lock file, ${faults.length} faults`);

/** The number of known vulnerabilities by severity, or null where nobody could be asked. */
function audited() {
  const run = spawnSync('npm', ['audit', '--omit=dev', '--json', '--fetch-retries=0', '--fetch-timeout=15000'], {
    cwd: root,
    encoding: 'utf8',
    timeout: 60_000,
  });
  try {
    return JSON.parse(run.stdout).metadata.vulnerabilities;
  } catch {
    return null;
  }
}

const known = audited();
if (known === null) console.log('npm audit could not be asked: known vulnerabilities were NOT looked for');
else console.log(`npm audit: ${known.total} known vulnerabilities in what a release runs`);
process.exitCode = faults.length > 0 || (known?.total ?? 0) > 0 ? 1 : 0;

/**
 * Ends a script whose Node is too old with one sentence and exit code 2. Imported first; works before anything was
 * built.
 */
import { readFileSync } from 'node:fs';

const { engines } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'));
const oldest = engines.node.replace('>=', '').split('.').map(Number);
const [major, minor] = process.versions.node.split('.').map(Number);
if (major < oldest[0] || (major === oldest[0] && minor < oldest[1])) {
  console.error(`peer-trust-federation needs Node ${oldest.join('.')} or later; this is ${process.versions.node}`);
  process.exit(2);
}

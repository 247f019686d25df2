/**
 * `npm run docs:configuration` writes the table of `docs/CONFIGURATION.md` from the variables that the node reads;
 * what stands above the table stays.
 */
import './lib/require-node.mjs';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { compile, projects, root } from './lib/compile.mjs';

if (!compile(projects.main, { ifStale: true, quick: true })) process.exit(1);
const { variables } = await import('../dist/node/variables.js');

const path = join(root, 'docs/CONFIGURATION.md');
const head = '| Variable | Default | Meaning |\n|---|---|---|\n';
const [text] = readFileSync(path, 'utf8').split(head);
const rows = Object.values(variables).map(({ name, fallback, meaning, secret }) => {
  const names = secret ? `\`${name}\` or \`${name}_FILE\`` : `\`${name}\``;
  const byDefault = fallback === null || fallback === '' ? '' : `\`${fallback}\``;
  return `| ${names} | ${byDefault} | ${meaning} |\n`;
});
writeFileSync(path, `${text}${head}${rows.join('')}`);

/**
 * `npm run docs:commands` writes `docs/operating/commands.md` from the help of every command of `ptf`. `--to FILE`
 * writes elsewhere.
 */
import './lib/require-node.mjs';
import { readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { compile, projects, root } from './lib/compile.mjs';

if (!compile(projects.main, { ifStale: true, quick: true })) process.exit(1);
const { programOf } = await import('../dist/operator/cli/command.js');

const { values } = parseArgs({ options: { to: { type: 'string', default: 'docs/operating/commands.md' } } });

let text = `# The commands of ptf

Generated from the help of each command by \`npm run docs:commands\`; change the rows in \`src/operations/\`, not this page. Every command also takes the global options.
`;
const terminal = { width: 100, out: () => {}, err: () => {} };
const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
const program = programOf({ terminal, runtime: { version } }, false, () => {});
describe(program, 'ptf');
writeFileSync(resolve(root, values.to), text);

/** Adds the help of a command, and then that of its own commands. */
function describe(command, name) {
  const help = { ...command.configureHelp(), showGlobalOptions: false };
  let page = '';
  command.configureHelp(help).configureOutput({ ...command.configureOutput(), writeOut: (part) => (page += part) });
  command.outputHelp();
  text += `\n## ${name}\n\n\`\`\`text\n${page.trim().replaceAll(/\n\n+/g, '\n\n')}\n\`\`\`\n`;
  const own = command.createHelp().visibleCommands(command);
  for (const one of own.filter((sub) => sub.name() !== 'help')) describe(one, `${name} ${one.name()}`);
}

/** An older Node, a missing build and missing packages are told by one sentence, at every entry. */
import { cpSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { execute, type Ran } from './support/child-process.js';
import { temporaryFolder } from './support/process.js';

const root = fileURLToPath(new URL('../../', import.meta.url));
/** The path of a Node 18, where there is one. */
const old = process.env.NODE_18 ?? '';

const run = (args: readonly string[], cwd = root, node = process.execPath): Promise<Ran> =>
  execute(node, args, { cwd, timeout: 60_000 });

const asOld = ['--import', 'data:text/javascript,Object.defineProperty(process.versions,"node",{value:"18.20.0"})'];

/** Runs a Node 18, or this Node with the version of an older one. */
function runOld(args: readonly string[], cwd?: string): Promise<Ran> {
  return old === '' ? run([...asOld, ...args], cwd) : run(args, cwd, old);
}

/** The scripts and commands alone, as in a clone before `npm ci`. */
const clone = temporaryFolder();
for (const name of ['bin', 'scripts', 'package.json']) cpSync(join(root, name), join(clone, name), { recursive: true });
for (const name of ['tsconfig.json', 'tsconfig.test.json', 'tsconfig.page.json'])
  cpSync(join(root, name), join(clone, name));
for (const name of ['src', 'test', 'bench']) mkdirSync(join(clone, name));
const scripts = readdirSync(join(clone, 'scripts')).filter((name) => name.endsWith('.mjs'));

const refusal = /^peer-trust-federation needs Node 20\.19 or later; this is 18\.[\d.]+\n$/;

const commands = [['dist/main.js'], ['bin/ptf.mjs', 'status'], ['bin/ptf-peer.mjs', 'doctor']];
for (const [cwd, args] of [
  // Before anything is installed.
  ...scripts.map((name) => [clone, [`scripts/${name}`]] as const),
  ...commands.map((command) => [root, command] as const),
]) {
  test(`on Node 18 ${args.join(' ')} states the required version, and exits with 2`, async () => {
    const { code, err } = await runOld(args, cwd);
    assert.match(err, refusal);
    assert.is(code, 2);
  });
}

for (const entry of ['client/entry.js', 'testing/test-node.js']) {
  test(`on Node 18 an import of ${entry} rejects with the required version`, async () => {
    const script = `import('./dist/${entry}').catch(({ code, message }) => console.log(code, message))`;
    const { out } = await runOld(['-e', script]);
    assert.match(out, /^ERR_NODE_TOO_OLD the peer trust client needs Node 20\.19 or later; this is 18\.[\d.]+\n$/);
  });
}

// This one needs no package.
for (const name of scripts.filter((one) => one !== 'check-dependencies.mjs')) {
  test(`before npm ci scripts/${name} says what to run`, async () => {
    const { code, err } = await run([`scripts/${name}`], clone);
    assert.match(err, /dependencies are not installed \(.+\): run "npm ci" first/);
    assert.is(code, 1);
  });
}

for (const name of ['ptf', 'ptf-peer']) {
  test(`${name} without its build or without its packages says what to run`, async () => {
    const before = await run([`bin/${name}.mjs`], clone);
    assert.equal([before.code, before.err], [1, `${name}: not built yet; run \`npm run build\` first\n`]);
    mkdirSync(join(clone, 'dist'), { recursive: true });
    writeFileSync(join(clone, 'dist/require-node.js'), '');
    writeFileSync(join(clone, `dist/${name}.js`), "import 'commander';");
    const { code, err } = await run([`bin/${name}.mjs`], clone);
    assert.match(err, new RegExp(`^${name}: Cannot find package 'commander' .*; run \`npm ci\` first\n$`));
    assert.is(code, 1);
  });
}

test.run();

/** `ptf completion` in the shells themselves: what each offers, and that nothing that was typed is ever run. */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { temporaryFolder } from '../../support/process.js';
import { runHere } from '../run-here.js';

const folder = temporaryFolder();

mkdirSync(join(folder, 'inner'));
const trap = join(folder, 'was-run');

/** The typed words, with the last one under the cursor, and the completions in any order. */
const cases: readonly (readonly [typed: readonly string[], offered: readonly string[]])[] = [
  [['peers', ''], 'add independent list note purge reinstate revoke rotate-key same set-key show suspend'.split(' ')],
  [['peers', 'sus'], ['suspend']],
  [['audit', 'tail', '--cou'], ['--count']],
  [['--json', 'audit', 'v'], ['verify']],
  // A value is no command.
  [['--data-dir', 'peers', 'stat'], ['status']],
  [['completion', ''], 'bash zsh'.split(' ')],
  [['status', ''], []],
  // Folders, where one is meant, and an option is still one.
  [['backup', `${folder}/in`], [`${folder}/inner`]],
  [['restore', '--erasures-from', `${folder}/in`], [`${folder}/inner`]],
  [['restore', '--rep'], ['--replace']],
  [[`$(touch ${trap})`, 'stat'], ['status']],
  [['peers', 'suspend', `$(touch ${trap})`], []],
];

/** As bash hands over `--data-dir=…`. */
const equals = [['--data-dir', '=', `${folder}/in`], [`${folder}/inner`]] as const;

/** Runs `driver` in the shell after the script; it prints one line of words for each case. */
async function offeredBy(shell: string, options: readonly string[], driver: string): Promise<string[][]> {
  const script = await runHere(['completion', shell], folder);
  assert.is(script.code, 0);
  const file = join(folder, `drive.${shell}`);
  writeFileSync(file, `${driver.replaceAll('SCRIPT', () => script.out)}\n`);
  const { stdout, stderr, status } = spawnSync(shell, [...options, file], { encoding: 'utf8' });
  assert.is(status, 0, stderr);
  assert.is(stderr, '');
  return stdout
    .split('\n')
    .slice(0, -1)
    .map((line) => line.split(' ').filter(Boolean).sort());
}

const quoted = (words: readonly string[]) => words.map((word) => `'${word}'`).join(' ');

const drivers: Readonly<Record<string, { readonly options: readonly string[]; readonly driver: string }>> = {
  bash: {
    options: ['--norc', '--noprofile'],
    driver: `SCRIPT
SCRIPT
try() { COMP_WORDS=(ptf "$@"); COMP_CWORD=$#; _ptf; echo "\${COMPREPLY[*]}"; }
${[...cases, equals].map(([typed]) => `try ${quoted(typed)}`).join('\n')}`,
  },
  // Its own completion system needs a terminal: what would be handed to it is printed, as it narrows by prefix itself.
  zsh: {
    options: ['-f'],
    driver: `compdef() { :; }
_files() { print -r -- \${(@M)$(print -r -- \${words[CURRENT]}*(N/))}; }
_describe() { local -a all; all=("\${(@P)2%%:*}"); print -r -- \${(M)all:#\${words[CURRENT]}*}; }
SCRIPT
try() { words=(ptf "$@"); CURRENT=$#words; _ptf; }
${cases.map(([typed]) => `try ${quoted(typed)}`).join('\n')}`,
  },
};

for (const [shell, { options, driver }] of Object.entries(drivers)) {
  const isThere = spawnSync(shell, ['--version']).status === 0;
  if (!isThere) process.stdout.write(`SKIPPED: ${shell} is not installed, so its completion cannot be tried\n`);
  if (isThere)
    test(`${shell} offers commands and options where they belong, and runs nothing`, async () => {
      const offered = await offeredBy(shell, options, driver);
      const all = shell === 'bash' ? [...cases, equals] : cases;
      assert.is(offered.length, all.length);
      for (const [i, [typed, expected]] of all.entries()) assert.equal(offered[i], expected, typed.join(' '));
      assert.not(existsSync(trap));
    });
}

test('the script for zsh has each command and option with its text, and folders where one is meant', async () => {
  const lines = (await runHere(['completion', 'zsh'], folder)).out.split('\n');
  const caseOf = (path: string) => lines.find((line) => line.startsWith(`    '${path}') found=`))!;
  assert.is(lines[0], '#compdef ptf');
  assert.match(caseOf(''), "'status:show what the node serves and its state'");
  assert.match(caseOf(''), "'pretrust:manage the group'\\''s set of pre-trusted peers, 1 to 3 as a rule'");
  assert.match(caseOf('completion'), "found=('bash' 'zsh') flags=('--help:");
  assert.match(caseOf('status'), "'--json:print one JSON document'");
  assert.equal(
    ['backup', 'restore', 'status'].map((path) => caseOf(path).includes(' folders=1 ;;')),
    [true, true, false],
  );
  const valued = lines.find((line) => line.endsWith(') ((i++)); continue ;;'))!;
  assert.ok(['--data-dir', '--erasures-from', '--idle'].every((flag) => valued.includes(flag)));
  assert.not(['--json', '--replace'].some((flag) => valued.includes(flag)));
  assert.equal(
    lines
      .filter((line) => /_files -\/; return|return 1/.test(line))
      .map((line) => [/--data-dir/, /--idle/].map((flag) => flag.test(line))),
    [
      [true, false],
      [false, true],
    ],
  );
});

test('an unknown shell is wrong usage, and --json holds the script', async () => {
  assert.is((await runHere(['completion', 'tcsh'], folder)).code, 2);
  const { out } = await runHere(['completion', 'bash', '--json'], folder);
  assert.match((JSON.parse(out) as { script: string }).script, /^complete -F _ptf ptf$/m);
});

test.run();

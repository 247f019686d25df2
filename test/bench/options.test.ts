/** The options of the bench refuse before a run what would fail after it. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Command } from 'commander';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { fileToWrite, folderToWrite, type Measurement } from '../../bench/measurement.js';
import { foldersOf, quality } from '../../bench/quality/run.js';
import { replay } from '../../bench/replay.js';
import { type Result, writeFile } from '../../bench/result.js';
import { measured } from '../../bench/run.js';
import { messageOf } from '../../src/errors.js';
import { temporaryFolder } from '../support/process.js';

const folder = temporaryFolder();

test('a writable file is accepted, whether it exists or not', () => {
  const there = join(folder, 'there.json');
  writeFileSync(there, '');
  for (const path of [there, join(folder, 'new.json'), 'new.json']) assert.is(fileToWrite(path), path);
});

test('a file in no folder, or one that is a folder, is refused', () => {
  for (const path of [join(folder, 'missing', 'new.json'), join(folder, 'there.json', 'new.json')]) {
    assert.throws(() => fileToWrite(path), 'does not exist');
  }
  assert.throws(() => fileToWrite(folder), 'expected a file, found a folder');
});

test('a folder to write into is there, or can be made in one that is', () => {
  for (const path of [folder, join(folder, 'profiles')]) assert.is(folderToWrite(path), path);
  for (const path of ['/dev/null/x', join(folder, 'there.json'), join(folder, 'missing', 'profiles')]) {
    assert.throws(() => folderToWrite(path), 'does not exist');
  }
});

function measurementOf(measure: () => Promise<void>): Measurement {
  return measured({ name: 'some', summary: '', players: 1, measure });
}

const some = measurementOf(() => Promise.reject(new Error('it began')));

/** Returns the exit code and the message with which commander ends the process. */
async function refusalOf(measurement: Measurement, ...args: readonly string[]): Promise<[code: number, text: string]> {
  let text = '';
  const command = new Command(measurement.name)
    .exitOverride()
    .configureOutput({ writeErr: (words) => (text += words) });
  measurement.define(command);
  try {
    await command.parseAsync(args, { from: 'user' });
  } catch (error) {
    return [(error as { exitCode: number }).exitCode, text];
  }
  throw new Error(`${measurement.name} ran`);
}

test('a run whose result cannot be written does not begin, and ends as for any other wrong option', async () => {
  const missing = join(folder, 'missing', 'result');
  const fault = `argument '${missing}' is invalid. the folder .* does not exist`;
  for (const measurement of [some, quality, replay]) {
    const [wrongSeed] = await refusalOf(measurement, '--seed', 'x');
    for (const option of measurement === replay ? ['--json'] : ['--json', '--html']) {
      const [code, text] = await refusalOf(measurement, option, missing);
      assert.match(text, new RegExp(`option '${option} .*${fault}`), measurement.name);
      assert.is(code, wrongSeed);
    }
  }
});

test('one file for the result and its page is refused, however it is named', async () => {
  for (const measurement of [some, quality]) {
    const [code, text] = await refusalOf(measurement, '--json', join(folder, 'both'), '--html', `${folder}/./both`);
    assert.match(text, /--json and --html name the same file/);
    assert.is(code, 1);
  }
});

const anyRate = 'expected a number above 0 and up to 1000000.';
const anyPath = 'expected a path, got an empty text.';

for (const [measurement, option, value, expected] of [
  [some, '--json', '', anyPath],
  [some, '--html', '', anyPath],
  [some, '--profile', '', anyPath],
  [some, '--seed', '', 'expected a whole number of at least 0.'],
  [some, '--seed', ' ', 'expected a whole number of at least 0.'],
  [some, '--seconds', '0', 'expected a number above 0.'],
  [some, '--rate', '2e7', anyRate],
  [some, '--rate', '0', anyRate],
  [some, '--connections', '30000', 'expected a whole number from 1 to 10000.'],
  [some, '--peers', '65536', 'expected a whole number from 1 to 65535.'],
  [quality, '--groups', 'basic,old', 'expected names out of basic, new, more, attempts, life; got old.'],
  [quality, '--kinds', 'nobody', /expected names out of none, invert1, .*; got nobody/],
] as const) {
  test(`${measurement.name} ${option} ${JSON.stringify(value)} is refused with what is possible`, async () => {
    const [, text] = await refusalOf(measurement, option, value);
    assert.match(text, new RegExp(`option '${option} .*is invalid`));
    assert.match(text, expected);
  });
}

test('data sets come from the folders asked for, or from those that the environment names, or from none', () => {
  const [first, second, third] = ['', '-2', '-3'].map((end) => join(folder, `trust-quality${end}`));
  assert.equal(foldersOf(undefined, first), [first]);
  mkdirSync(second!);
  assert.equal(foldersOf(undefined, first), [first, second]);
  mkdirSync(third!);
  assert.equal(foldersOf(undefined, first), [first, second, third]);
  assert.equal(foldersOf(['elsewhere'], first), ['elsewhere']);
  assert.equal([foldersOf(false, first), foldersOf(undefined, undefined), foldersOf(undefined, '')], [[], [], []]);
});

test('a folder of life groups is refused unless they are asked for', async () => {
  const lives = join(folder, 'lives');
  mkdirSync(lives);
  writeFileSync(join(lives, 'life_meta.json'), '{}');
  const command = new Command('quality');
  quality.define(command);
  const refusal = await command.parseAsync(['--data', lives], { from: 'user' }).then(() => 'none', messageOf);
  assert.is(refusal, `${lives} has groups of the set life: add --groups life`);
});

test('a file that cannot be written is named', () => {
  // A write into it finds the disk full, on every Linux.
  if (!existsSync('/dev/full')) return;
  assert.throws(() => writeFile('/dev/full', 'text'), /^\/dev\/full cannot be written: ENOSPC/);
});

test('a result says where server profiles were written, and says nothing without profiles', async () => {
  const optionsOf = async (...args: readonly string[]) => {
    const json = join(folder, 'profiled.json');
    const command = new Command('some');
    measurementOf(async () => undefined).define(command);
    await command.parseAsync(['--no-pin', '--json', json, ...args], { from: 'user' });
    return (JSON.parse(readFileSync(json, 'utf8')) as Result).options;
  };
  const plain = await optionsOf();
  assert.is('profile' in plain, false);
  assert.equal(await optionsOf('--profile', join(folder, 'profiles')), { ...plain, profile: true });
});

test.run();

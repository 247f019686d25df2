/** The options of the bench refuse before a run what would fail after it. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Command } from 'commander';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { fileToWrite, folderToWrite, type Measurement } from '../../bench/measurement.js';
import { soak } from '../../bench/measurements/soak.js';
import { foldersOf, quality } from '../../bench/quality/run.js';
import { replay } from '../../bench/replay.js';
import { Report } from '../../bench/report.js';
import { type Result, writeFile } from '../../bench/result.js';
import { measured } from '../../bench/run.js';
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
  const run = () => Promise.reject(new Error('it began'));
  const given = [measurementOf(run), soak, quality];
  const missing = join(folder, 'missing', 'result');
  for (const [measurement, option] of [
    ...given.flatMap((measurement) => [[measurement, '--json'] as const, [measurement, '--html'] as const]),
    [replay, '--json'] as const,
  ]) {
    const [code, text] = await refusalOf(measurement, option, missing);
    assert.match(
      text,
      new RegExp(`option '${option} .*argument '${missing}' is invalid. the folder .* does not exist`),
    );
    assert.is(code, (await refusalOf(measurement, '--seed', 'x'))[0]);
  }
});

test('an empty value, as of an unset variable, is refused', async () => {
  const run = () => Promise.reject(new Error('it began'));
  const some = measurementOf(run);
  for (const [option, value] of [
    ['--json', ''],
    ['--html', ''],
    ['--profile', ''],
    ['--seed', ''],
    ['--seed', ' '],
  ] as const) {
    assert.match((await refusalOf(some, option, value))[1], new RegExp(`option '${option} .*is invalid`), option);
  }
});

test('one file for the result and its page is refused, however it is named', async () => {
  const run = () => Promise.reject(new Error('it began'));
  const file = join(folder, 'both');
  for (const measurement of [measurementOf(run), soak, quality]) {
    const [code, text] = await refusalOf(measurement, '--json', file, '--html', `${folder}/./both`);
    assert.match(text, /--json and --html name the same file/);
    assert.is(code, 1);
  }
});

test('a load that no generator and no machine can make is refused with the possible range', async () => {
  const run = () => Promise.reject(new Error('it began'));
  for (const measurement of [measurementOf(run), soak]) {
    assert.match((await refusalOf(measurement, '--rate', '2e7'))[1], 'expected a number above 0 and up to 1000000.');
    assert.match((await refusalOf(measurement, '--rate', '0'))[1], 'expected a number above 0 and up to 1000000.');
    assert.match(
      (await refusalOf(measurement, '--connections', '30000'))[1],
      'expected a whole number from 1 to 10000.',
    );
  }
});

test('more peers than a group can have are refused', async () => {
  const run = () => Promise.reject(new Error('it began'));
  for (const measurement of [measurementOf(run), soak]) {
    const [, text] = await refusalOf(measurement, '--peers', '65536');
    assert.match(text, 'expected a whole number from 1 to 65535.');
  }
});

test('an unknown set or kind of groups is refused, with those that there are', async () => {
  assert.match(
    (await refusalOf(quality, '--groups', 'basic,old'))[1],
    'expected names out of basic, new, more, attempts, life; got old.',
  );
  assert.match(
    (await refusalOf(quality, '--kinds', 'nobody'))[1],
    /expected names out of none, invert1, .*; got nobody/,
  );
});

test('data sets come from the folders asked for, or from those that the environment names, or from none', () => {
  const [first, second, third] = ['trust-quality', 'trust-quality-2', 'trust-quality-3'].map((name) =>
    join(folder, name),
  );
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
  const refusal = await command.parseAsync(['--data', lives], { from: 'user' }).then(
    () => 'none',
    (error: Error) => error.message,
  );
  assert.is(refusal, `${lives} has groups of the set life: add --groups life`);
});

test('a file that cannot be written is named', () => {
  // A write into it finds the disk full, on every Linux.
  if (!existsSync('/dev/full')) return;
  assert.throws(() => writeFile('/dev/full', 'text'), /^\/dev\/full cannot be written: ENOSPC/);
});

test("goals are judged at the load that is a measurement's own", () => {
  const verdictAt = (rate: number | null) => {
    const report = new Report('soak', { rate, connections: null });
    report.goal('a', 1, 'at most', 2, '');
    return report.result().goals[0]!.met;
  };
  assert.equal([verdictAt(null), verdictAt(400)], [true, null]);
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

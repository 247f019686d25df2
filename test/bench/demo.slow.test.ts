/** The demo, shortened: what it shows is so, it ends by itself, and it leaves nothing on the disk. */
import { spawn } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { type Ran, type Running, watched } from '../support/child-process.js';
import { temporaryFolder } from '../support/process.js';
import { until } from '../support/until.js';

const demo = fileURLToPath(new URL('../../bench/demo/main.js', import.meta.url));
/** Bounds a hanging test, not a slow one. */
const limitMs = 300_000;

const folder = temporaryFolder();

/** Starts the demo with a folder of its own for temporary files. */
function start(...args: readonly string[]): Running {
  const child = spawn(process.execPath, ['--enable-source-maps', demo, ...args], {
    env: { ...process.env, TMPDIR: folder },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const running = watched(child);
  return { ...running, out: () => running.out() + running.err() };
}

async function end({ child, ended }: Running): Promise<Ran['code']> {
  const late = setTimeout(() => child.kill('SIGTERM'), limitMs);
  const { code } = await ended;
  clearTimeout(late);
  return code;
}

function lastLine(out: string, start: string): string {
  return out.split('\n').findLast((line) => line.startsWith(`${start} `)) ?? '';
}

const addressesIn = (text: string): string[] => [...new Set(text.match(/http:\/\/127\.0\.0\.1:\d+/g))];

const isAnswered = (url: string) =>
  fetch(url).then(
    () => true,
    () => false,
  );

test('the demo shows verdicts staying right where a count of bans errs, ends, and leaves nothing', async () => {
  const running = start('--seconds', '10');
  const code = await end(running);
  const out = running.out();
  assert.is(code, 0, out);
  const weightOf = (name: string): number => Number(new RegExp(`^${name} +[█░]+ ([\\d.]+) `, 'm').exec(out)?.[1]);
  for (const honest of ['Arena US', 'Skyfall', 'Ironfield', 'Nightwatch', 'Harbor', 'Old Forest', 'Redshift']) {
    assert.ok(weightOf(honest) > 0.7, out);
  }
  for (const hostile of ['Echo', 'Copycat', 'Twin A', 'Twin B']) assert.ok(weightOf(hostile) < 0.9, out);
  for (const liar of ['Twin A', 'Twin B']) assert.ok(weightOf(liar) < 0.7, out);
  assert.match(out, /^Twin A .*(?:Twin B|…)/m);
  const counts = (rule: string): number[] => /(\d+) +(\d+) +(\d+)$/.exec(lastLine(out, rule))!.slice(1).map(Number);
  // Bans follow from the seed alone. Verdicts also follow from the scoring, so they have bounds.
  assert.equal(counts('three bans or more'), [17, 19, 15]);
  assert.equal(counts('two bans or more'), [22, 29, 18]);
  for (const [rule, caughtMin] of [
    ['untrusted', 15],
    ['suspicious or worse', 18],
  ] as const) {
    const [cheaters, good, victims] = counts(rule);
    assert.ok(cheaters! >= caughtMin && good! <= 2 && victims! <= good!, out);
  }
  const said = out.replaceAll(/\s+/g, ' ');
  assert.match(said, 'Acting on three bans would remove 17 of 24 cheaters and 19 good players');
  assert.match(said, /good players removed: three bans 26, "untrusted" \d+; two bans 31, "suspicious or worse" \d+\./);
  assert.match(out, 'docs/GAME-SERVERS.md');
  assert.equal(readdirSync(folder), []);
  for (const url of addressesIn(out)) assert.not(await isAnswered(url));
});

test('Ctrl-C ends the demo at once, its node with it, and leaves nothing', async () => {
  const running = start();
  await until(() => running.out().includes('all fair'));
  const urls = addressesIn(running.out());
  assert.is(urls.length, 2);
  for (const url of urls) assert.ok(await isAnswered(url), url);
  running.child.kill('SIGINT');
  assert.is(await end(running), 130);
  assert.equal(readdirSync(folder), []);
  for (const url of urls) assert.not(await isAnswered(url), url);
});

test('an invalid option is refused with a text that names the expected one', async () => {
  const running = start('--seconds', '2');
  assert.is(await end(running), 1);
  assert.match(running.out(), 'expected a whole number from 5 to 3600');
});

test.run();

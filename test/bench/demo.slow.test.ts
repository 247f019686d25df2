/** The demo, shortened: what it shows is so, it ends by itself, and it leaves nothing on the disk. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { until } from '../support/until.js';

const demo = fileURLToPath(new URL('../../bench/demo/main.js', import.meta.url));
/** Bounds a hanging test, not a slow one. */
const limitMs = 300_000;

const folder = mkdtempSync(join(tmpdir(), 'ptf-demo-test-'));
test.after(() => rmSync(folder, { recursive: true, force: true }));

interface Running {
  readonly child: ChildProcess;
  output(): string;
}

/** Starts the demo with a folder of its own for temporary files. */
function start(...args: readonly string[]): Running {
  const child = spawn(process.execPath, ['--enable-source-maps', demo, ...args], {
    env: { ...process.env, TMPDIR: folder },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
  }
  return { child, output: () => output };
}

async function ended({ child }: Running): Promise<number | null> {
  const late = setTimeout(() => child.kill('SIGTERM'), limitMs);
  const [code] = (await once(child, 'close')) as [number | null];
  clearTimeout(late);
  return code;
}

function addressesIn(text: string): string[] {
  return [...new Set(text.match(/http:\/\/127\.0\.0\.1:\d+/g))];
}

async function isAnswered(url: string): Promise<boolean> {
  return fetch(url).then(
    () => true,
    () => false,
  );
}

test('the demo shows weights falling and verdicts staying right, ends, and leaves nothing', async () => {
  const running = start('--seconds', '10');
  const code = await ended(running);
  const output = running.output();
  assert.is(code, 0, output);
  const weightOf = (name: string): number => Number(new RegExp(`^${name} +[█░]+ ([\\d.]+) `, 'm').exec(output)?.[1]);
  for (const honest of ['Arena US', 'Skyfall', 'Ironfield', 'Nightwatch', 'Harbor', 'Old Forest', 'Redshift']) {
    assert.ok(weightOf(honest) > 0.7, output);
  }
  assert.ok(weightOf('Mirror') < 0.1, output);
  for (const colluder of ['Twin A', 'Twin B']) assert.ok(weightOf(colluder) < 0.6, output);
  assert.match(output, /^Copycat .* Arena EU \(copied list\)$/m);
  const [, untrusted, suspicious] = /^18 cheaters +(\d+) +(\d+)/m.exec(output)!;
  assert.ok(Number(untrusted) + Number(suspicious) >= 15, output);
  assert.match(output, /^222 good players +0 +0 /m);
  const plain = /A plain count of reports would condemn (\d+) good players/.exec(output)?.[1];
  assert.ok(Number(plain) >= 15, output);
  assert.match(output, 'docs/GAME-SERVERS.md');
  assert.equal(readdirSync(folder), []);
  for (const url of addressesIn(output)) assert.not(await isAnswered(url));
});

test('Ctrl-C ends the demo at once, its node with it, and leaves nothing', async () => {
  const running = start();
  await until(() => running.output().includes('all fair'));
  const urls = addressesIn(running.output());
  assert.is(urls.length, 2);
  for (const url of urls) assert.ok(await isAnswered(url), url);
  running.child.kill('SIGINT');
  assert.is(await ended(running), 130);
  assert.equal(readdirSync(folder), []);
  for (const url of urls) assert.not(await isAnswered(url), url);
});

test('an invalid option is refused with a text that names the expected one', async () => {
  const running = start('--seconds', '2');
  assert.is(await ended(running), 1);
  assert.match(running.output(), 'must be a whole number from 5 to 3600');
});

test.run();

/** The width of a command's output, the lines that a command asks for, and its progress. */
import { PassThrough } from 'node:stream';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { terminalOf } from '../src/terminal.js';

function terminal({ isTTY = true, columns = 80 } = {}) {
  const streams = { stdin: new PassThrough(), stdout: new PassThrough(), stderr: new PassThrough() };
  for (const stream of Object.values(streams)) Object.assign(stream, { isTTY, columns });
  return { ...streams, ...terminalOf(streams as unknown as NodeJS.Process) };
}

test('a terminal of 0 columns has no width to fit, like a pipe', () => {
  assert.is(terminal().width, 80);
  assert.is(terminal({ columns: 0 }).width, Number.POSITIVE_INFINITY);
  assert.is(terminal({ isTTY: false }).width, Number.POSITIVE_INFINITY);
});

test('a secret is asked for on the error output, without an echo, and is empty if the input ends', async () => {
  for (const [typed, answer] of [
    ['se cret\r', 'se cret'],
    ['', ''],
  ]) {
    const { stdin, stderr, askSecret } = terminal();
    const asked = askSecret!('Password');
    stdin.end(typed);
    assert.is(await asked, answer);
    assert.is(String(stderr.read()), 'Password: \n');
  }
  assert.is(terminal({ isTTY: false }).askSecret, null);
});

test('progress is drawn over its own line, its end at once, and leaves nothing; a pipe gets none', () => {
  const { stderr, progress } = terminal();
  const bar = progress('verifying');
  bar.to(1, 3);
  bar.to(3, 3);
  bar.end();
  const lines = String(stderr.read()).split('\x1b[1G\x1b[0K');
  assert.equal(lines, [
    '',
    'verifying [########----------------] 33%, 1 of 3',
    'verifying [########################] 100%, 3 of 3',
    '',
  ]);
  progress('nothing').to(0, 0);
  assert.match(String(stderr.read()), '100%, 0 of 0');
  progress('what grew meanwhile').to(3, 2);
  assert.match(String(stderr.read()), '[########################] 100%, 3 of 2');
  const often = progress('verifying');
  for (let done = 0; done < 10_000; done++) often.to(done, 10_000);
  assert.ok(String(stderr.read()).length < 10_000, 'no more than the eye can follow');
  const pipe = terminal({ isTTY: false });
  pipe.progress('verifying').to(1, 1);
  assert.is(pipe.stderr.read(), null);
});

test.run();

/** The width of a command's output, and the lines that a command asks for. */
import { PassThrough } from 'node:stream';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { askSecret, terminalWidth } from '../src/terminal.js';

test('a terminal of 0 columns has no width to fit, like a pipe', () => {
  assert.is(terminalWidth({ isTTY: true, columns: 80 }), 80);
  assert.is(terminalWidth({ isTTY: true, columns: 0 }), Number.POSITIVE_INFINITY);
  assert.is(terminalWidth({ isTTY: false, columns: 80 }), Number.POSITIVE_INFINITY);
});

test('a secret is asked for on the error output, without an echo, and is empty if the input ends', async () => {
  for (const [typed, answer] of [
    ['se cret\r', 'se cret'],
    ['', ''],
  ]) {
    const [stdin, stderr] = [new PassThrough(), new PassThrough()];
    const asked = askSecret({ stdin, stderr } as unknown as NodeJS.Process, 'Password');
    stdin.end(typed);
    assert.is(await asked, answer);
    assert.is(String(stderr.read()), 'Password: \n');
  }
});

test.run();

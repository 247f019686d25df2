/** The width of a command's output. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { terminalWidth } from '../src/terminal.js';

test('a terminal of 0 columns has no width to fit, like a pipe', () => {
  assert.is(terminalWidth({ isTTY: true, columns: 80 }), 80);
  assert.is(terminalWidth({ isTTY: true, columns: 0 }), Number.POSITIVE_INFINITY);
  assert.is(terminalWidth({ isTTY: false, columns: 80 }), Number.POSITIVE_INFINITY);
});

test.run();

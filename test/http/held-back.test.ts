import { PassThrough } from 'node:stream';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { HeldBack } from '../../src/http/held-back.js';

// Found on a busy machine: a head that was cut where reading stopped was called late in the moment in which it was read from again.
test('who was not read from until a moment ago is not late, and who was read from all the time is', () => {
  const socket = new PassThrough();
  const heldBack = new HeldBack();
  heldBack.add(socket);
  const isExcused = () => heldBack.excuses(socket, () => assert.unreachable('it has its time first'));
  assert.not(isExcused());
  socket.pause();
  assert.ok(isExcused());
  socket.emit('resume');
  socket.resume();
  assert.ok(isExcused());
});

test.run();

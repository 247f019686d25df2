/** Callbacks that wait for one signal, and promises that a signal ends. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { abortable, linked, onAbort } from '../../../src/client/transport/listeners.js';
import { rejection } from '../../store/log-contract.js';

test('a callback runs at the abort unless it is released, which leaves the others, and may come again', () => {
  const controller = new AbortController();
  const { signal } = controller;
  const ran: string[] = [];
  const wait = (name: string) => onAbort(signal, () => ran.push(name));
  for (const name of ['early', 'earlier']) wait(name)();
  const releases = ['a', 'b', 'c'].map(wait);
  releases[0]!();
  releases[0]!();
  releases[1]!();
  controller.abort();
  assert.equal(ran, ['c']);
});

test('the signal has one listener however many callbacks wait, and none after the last', () => {
  const signal = new EventTarget() as AbortSignal;
  let listeners = 0;
  const [add, remove] = [signal.addEventListener.bind(signal), signal.removeEventListener.bind(signal)];
  signal.addEventListener = (...args: Parameters<typeof add>) => {
    listeners += 1;
    add(...args);
  };
  signal.removeEventListener = (...args: Parameters<typeof remove>) => {
    listeners -= 1;
    remove(...args);
  };
  const releases = [1, 2, 3].map(() => onAbort(signal, () => undefined));
  assert.is(listeners, 1);
  for (const release of releases) release();
  assert.is(listeners, 0);
});

test('a promise settles as it would, or rejects with the reason of a signal that is aborted first', async () => {
  const reason = new Error('the game ended');
  const aborted = AbortSignal.abort(reason);
  const controller = new AbortController();
  const never = new Promise<never>(() => undefined);
  assert.is(await abortable(Promise.resolve(1), undefined), 1);
  assert.is(await abortable(Promise.resolve(2), controller.signal), 2);
  assert.is(await rejection(abortable(Promise.reject(reason), controller.signal)), reason);
  assert.is(await rejection(abortable(Promise.resolve(3), aborted)), reason);
  const waiting = abortable(never, controller.signal);
  controller.abort(reason);
  assert.is(await rejection(waiting), reason);
});

test('a linked controller is aborted with its signal until it is released, and at once if the signal was', () => {
  const reason = new Error('the game ended');
  assert.is(linked(AbortSignal.abort(reason)).controller.signal.reason, reason);
  assert.not(linked(undefined).controller.signal.aborted);
  const outer = new AbortController();
  const [kept, released] = [linked(outer.signal), linked(outer.signal)];
  released.release();
  outer.abort(reason);
  assert.equal([kept.controller.signal.reason, released.controller.signal.aborted], [reason, false]);
});

test.run();

import { PassThrough } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { type Arrived, LateRequests } from '../../src/http/late-requests.js';
import { until } from '../support/until.js';

const nothing: Arrived = { request: undefined, complete: false };
const againMs = 50;
/** Longer than a look and the one again take. */
const wellAfterMs = againMs + 150;

/** A connection on which `arrived` tells what has come, told of as late. */
function late(arrived: Arrived) {
  const socket = new PassThrough();
  const seen = { arrived, ends: 0 };
  const requests = new LateRequests(
    () => seen.arrived,
    () => {
      seen.ends += 1;
    },
    againMs,
  );
  requests.add(socket);
  requests.told(socket);
  return { socket, seen };
}

test('a connection whose request is as late as it was told is ended once', async () => {
  const { seen } = late(nothing);
  await until(() => seen.ends === 1);
  await delay(wellAfterMs);
  assert.is(seen.ends, 1);
});

test('what arrived whole before its turn came is left alone', async () => {
  const { seen } = late(nothing);
  seen.arrived = { request: { complete: true }, complete: true };
  await delay(wellAfterMs);
  assert.is(seen.ends, 0);
});

test('a head that came before its turn, and no body behind it, is ended all the same', async () => {
  const { seen } = late(nothing);
  seen.arrived = { request: { complete: false }, complete: false };
  await delay(againMs / 2);
  assert.is(seen.ends, 0);
  await until(() => seen.ends === 1);
});

test('a head that came before its turn has the time of a request for its body', async () => {
  const { seen } = late(nothing);
  const request = { complete: false };
  seen.arrived = { request, complete: false };
  await delay(againMs / 2);
  seen.arrived = { request, complete: true };
  await delay(wellAfterMs);
  assert.is(seen.ends, 0);
});

test('nothing is done to a connection that is gone', async () => {
  const { socket, seen } = late(nothing);
  socket.destroy();
  await delay(wellAfterMs);
  assert.is(seen.ends, 0);
});

test.run();

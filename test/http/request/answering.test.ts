import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { newRequestId } from '../../../src/http/request/answering.js';
import { isRequestId } from '../../../src/http/request/head.js';

test('ids of requests differ, in a form that a caller could have sent', () => {
  const count = 100_000;
  const ids = Array.from({ length: count }, newRequestId);
  assert.is(new Set(ids).size, count);
  assert.ok(ids.every(isRequestId));
});

test.run();

import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { exchangeOf } from '../../../src/http/request/answering.js';
import { isRequestId } from '../../../src/http/request/head.js';

test('ids of requests have a form that a caller could send, and do not count the requests of the node', () => {
  const ids = Array.from({ length: 10_000 }, () => exchangeOf({}).requestId);
  assert.is(new Set(ids).size, ids.length);
  for (const [i, id] of ids.entries()) {
    assert.ok(isRequestId(id), id);
    // A counter would be the same up to its last digits.
    if (i > 0) assert.is.not(id.slice(0, 8), ids[i - 1]!.slice(0, 8));
  }
});

test.run();

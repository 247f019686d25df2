import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { isRetryable, TrustError, type TrustErrorCode } from '../../src/client/trust-error.js';

test('an error of the way, of too many calls or of the node may pass, and a refusal does not', () => {
  const ofStatus = (status: number) => isRetryable(new TrustError('request_timeout', 'text', { status }));
  assert.equal([400, 401, 404, 407, 408, 409, 428, 429, 430].filter(ofStatus), [408, 429]);
  assert.equal([499, 500, 503, 599].filter(ofStatus), [500, 503, 599]);
  const codes: readonly TrustErrorCode[] = ['timeout', 'unreachable', 'circuit_open', 'behind', 'closed'];
  assert.equal(
    codes.filter((code) => isRetryable(new TrustError(code, 'text'))),
    ['timeout', 'unreachable', 'circuit_open', 'behind'],
  );
  assert.ok(isRetryable(new TrustError('unexpected_answer', 'text', { status: 404 })), 'a proxy answered');
});

test('an error has its cause, and no such member without one', () => {
  const cause = new Error('the socket');
  assert.is(new TrustError('unreachable', 'text', { cause }).cause, cause);
  assert.not('cause' in new TrustError('unreachable', 'text'));
});

test.run();

/** The errors of `ptf-peer`: their words and exit codes. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { TrustError } from '../../src/client/trust-error.js';
import { PeerError, talkingTo, uncountedText } from '../../src/peer/peer-error.js';

const url = 'http://node';

test('a failed call to the node ends a command with the code, plain words and an exit code', async () => {
  const refused = Object.assign(new Error('EACCES: connect'), { code: 'EACCES', path: '/f' });
  const cases: readonly (readonly [TrustError, message: RegExp, exitCode: number])[] = [
    [new TrustError('invalid_api_key', 'no', { status: 401 }), /^the node does not know this key: give/, 3],
    [new TrustError('unreachable', 'it is down'), /^the node at http:\/\/node does not answer: it is down$/, 3],
    // The node answered, although it cannot serve the call now.
    [new TrustError('rate_limited', 'try later', { status: 429 }), /^try later$/, 3],
    // The network refused, and not the disk.
    [new TrustError('unreachable', 'it is down', { cause: refused }), /does not answer: it is down$/, 3],
    [new TrustError('spool_failed', 'x', { cause: refused }), /^\/f: this user has no permission \(EACCES\): make/, 3],
    [new TrustError('spool_failed', 'x'), /^the disk failed or is full: free disk/, 3],
    [new TrustError('spool_failed', 'x', { cause: new Error('x') }), /^the disk failed or is full: free disk/, 3],
    [new TrustError('spool_failed', 'x', { cause: new PeerError('spool_failed', 'f: full', 3) }), /^f: full$/, 3],
    [new TrustError('invalid_argument', 'the id is empty'), /^the id is empty$/, 2],
    [new TrustError('salt_mismatch', 'another salt'), /^another salt$/, 2],
  ];
  for (const [error, message, exitCode] of cases) {
    const failure = await talkingTo(url, () => Promise.reject(error)).catch((one: PeerError) => one);
    assert.equal([failure.name, failure.code, failure.exitCode], ['PeerError', error.code, exitCode]);
    assert.match(failure.message, message);
  }
  const own = new Error('a defect');
  assert.is(await talkingTo(url, () => Promise.reject(own)).catch((error: unknown) => error), own);
  assert.is(await talkingTo(url, async () => 7), 7);
});

test('events that are no evidence are counted in one sentence', () => {
  const why = 'older than 20 half-lives or of severity 0: stored, but no evidence';
  assert.equal([uncountedText(1), uncountedText(2)], [`1 event is ${why}`, `2 events are ${why}`]);
});

test.run();

/** Refusals of a group that admits nothing at present: their reasons, and when a caller may ask again. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { type Refusal, refused } from '../../src/errors.js';
import { isOfMixedReleases, mixedReleases } from '../../src/group/record-format.js';
import * as refusals from '../../src/group/refusals.js';
import { limits } from '../../src/limits.js';

const { noLeaderRetryAfterS: soon, diskRetryAfterS: later, retryAfterS: usual } = limits;

test('a refusal names its reason, and a caller asks again soon where another node will lead', () => {
  const rows: [Refusal, code: string, details: object | undefined, retryAfterS: number][] = [
    [refusals.notThere(), 'dependency_unavailable', undefined, usual],
    [refusals.overloaded(), 'overloaded', undefined, usual],
    [refusals.clockAhead(), 'dependency_unavailable', { reason: 'clock_ahead' }, later],
    [refusals.clockAhead(true), 'dependency_unavailable', { reason: 'clock_ahead' }, soon],
    [refusals.diskLow(), 'dependency_unavailable', { reason: 'disk_low' }, later],
    [refusals.diskLow(true), 'dependency_unavailable', { reason: 'disk_low' }, soon],
    [refusals.logFull(), 'dependency_unavailable', { reason: 'log_full' }, soon],
    [refusals.noLeader(), 'no_leader', undefined, soon],
    [refusals.logUnreachable(), 'dependency_unavailable', { reason: 'log_unreachable' }, soon],
    [refusals.logUnreachable(true), 'dependency_unavailable', { reason: 'log_unreachable', recorded: true }, soon],
    [mixedReleases(), 'dependency_unavailable', { reason: 'mixed_releases' }, usual],
  ];
  for (const [refusal, code, details, retryAfterS] of rows) {
    const { text } = refusal;
    assert.equal([refusal.code, refusal.details, refusals.retryAfterOf(refusal)], [code, details, retryAfterS], text);
    assert.is(isOfMixedReleases(refusal), refusal === rows.at(-1)![0], text);
  }
  assert.match(refusals.logUnreachable(true).text!, 'may have been recorded');
  assert.match(refusals.logUnreachable().text!, 'writes are refused');
});

test('only overload, quotas and rates say when to ask again', () => {
  const wait = { retryAfterS: 5 };
  const seconds = [
    refused('erasure_quota_exceeded', wait),
    refused('overloaded', wait),
    refused('event_not_found', wait),
  ];
  assert.equal(seconds.map(refusals.retryAfterOf), [5, 5, undefined]);
  assert.is(refusals.retryAfterOf(refused('erasure_quota_exceeded')), usual);
});

test.run();

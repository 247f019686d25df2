/** The codes of refusals with their statuses, on which clients rely, and the members of an error body. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { errorMembers, errors, granted, hasCode, messageOf, refused } from '../src/errors.js';

const codes: Readonly<Record<number, string>> = {
  400: 'malformed_json schema_validation_failed invalid_parameter',
  401:
    'missing_api_key invalid_api_key invalid_session ' +
    'signature_missing signature_invalid signature_expired signature_replayed',
  403: 'peer_not_active cross_site registration_closed',
  404: 'player_not_found subject_not_found event_not_found dispute_not_found route_not_found',
  405: 'method_not_allowed',
  408: 'request_timeout',
  409: 'duplicate_event duplicate_dispute dispute_decided',
  413: 'payload_too_large',
  414: 'uri_too_long',
  415: 'unsupported_media_type',
  417: 'expectation_failed',
  422:
    'nothing_to_dispute reporter_required timestamp_in_future peer_id_mismatch game_id_not_registered unknown_peer ' +
    'unknown_origin unsupported_schema_version subject_hash_required player_id_not_canonical',
  429: 'erasure_quota_exceeded dispute_quota_exceeded rate_limited',
  431: 'headers_too_large',
  500: 'internal_error',
  503: 'dependency_unavailable no_leader stale overloaded',
};

test('each code keeps its status', () => {
  const byStatus: Record<number, string[]> = {};
  for (const [code, { status }] of Object.entries(errors)) {
    byStatus[status] ??= [];
    byStatus[status].push(code);
  }
  for (const all of Object.values(byStatus)) all.sort();
  assert.equal(
    byStatus,
    Object.fromEntries(Object.entries(codes).map(([status, all]) => [status, all.split(' ').sort()])),
  );
});

test('the refusals of a key have the texts of the interface specification', () => {
  const texts = (['missing_api_key', 'invalid_api_key', 'peer_not_active'] as const).map((code) => errors[code].text);
  assert.equal(texts, ['missing api key', 'invalid api key', 'peer not active']);
});

test('an error body has the default text unless the refusal has its own, and details if there are some', () => {
  const { text } = errors.overloaded;
  assert.equal(errorMembers(refused('overloaded', { retryAfterS: 1 })), { error: text, code: 'overloaded' });
  const details = { limit: 'x' };
  const exact = refused('rate_limited', { text: 'slow down', details });
  assert.equal(errorMembers(exact), { error: 'slow down', code: 'rate_limited', details });
  assert.equal([granted(7), refused('stale').ok], [{ ok: true, value: 7 }, false]);
});

test('anything that is thrown has a message, and only an error of the system has a code', () => {
  const failed = Object.assign(new Error('full'), { code: 'ENOSPC' });
  assert.equal([messageOf(failed), messageOf('text'), messageOf(undefined)], ['full', 'text', 'undefined']);
  const found = [failed, new Error('x'), { code: 'ENOSPC' }, 'ENOSPC'].map((one) => hasCode(one, 'EIO', 'ENOSPC'));
  assert.equal([...found, hasCode(failed, 'EIO'), hasCode(failed)], [true, false, false, false, false, false]);
});

test.run();

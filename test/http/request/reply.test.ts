import { hash } from 'node:crypto';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { type Route, routes } from '../../../src/contract/routes.js';
import { type ErrorCode, refused } from '../../../src/errors.js';
import {
  type Exchange,
  matchesTag,
  ok,
  refusalReply,
  replyHeaders,
  replyText,
  wants,
  wireReply,
} from '../../../src/http/request/reply.js';
import type { ApiReply } from '../../../src/http/request/request.js';

const plain: Exchange = { requestId: 'r', problem: false, keySent: false, ifNoneMatch: undefined };
const score = routes.getTrustScore;

/** A reply as node:http gets it. */
function sent(route: Route | undefined, reply: ApiReply, exchange: Exchange) {
  const wire = wireReply(route, reply, exchange);
  return { status: wire.status, headers: replyHeaders(wire), payload: wire.payload };
}

test('a public read without a key has the tag of its body, may be cached, and is not sent again', () => {
  const { status, headers, payload } = sent(score, ok({ a: 1 }), plain);
  assert.equal([status, payload], [200, '{"a":1}']);
  const tag = `"${hash('sha256', '{"a":1}', 'base64url')}"`;
  assert.equal([headers.ETag, headers['Cache-Control']], [tag, 'public, max-age=2']);
  const again = sent(score, ok({ a: 1 }), { ...plain, ifNoneMatch: tag });
  assert.equal([again.status, again.payload, again.headers.ETag], [304, '', tag]);
  assert.equal([again.headers['Content-Length'], again.headers['Content-Type']], [undefined, undefined]);
});

test('tags are compared weakly, one by one, and a star matches any', () => {
  assert.ok(matchesTag('"a"', '"a"'));
  assert.ok(matchesTag('W/"a"', '"a"'));
  assert.ok(matchesTag('"x", W/"a" ,"y"', '"a"'));
  assert.ok(matchesTag('*', '"a"'));
  for (const header of [undefined, '', 'a', '"A"', '"b"', '"a']) assert.not(matchesTag(header, '"a"'));
});

test('an answer to a request with a key is private and never cached', () => {
  const keyed = { ...plain, keySent: true, ifNoneMatch: '*' };
  for (const reply of [ok({ a: 1 }), refusalReply(refused('player_not_found'))]) {
    const { status, headers } = sent(score, reply, keyed);
    assert.equal([status, headers['Cache-Control'], headers.ETag], [reply.status, 'private, no-store', undefined]);
  }
});

test('errors, health and writes are never cached; answers vary by a key where it matters, and all by Accept', () => {
  const notFound = refusalReply(refused('player_not_found'));
  for (const [route, reply, vary] of [
    [score, notFound, 'Accept, X-Peer-API-Key'],
    [routes.getHealth, ok({}), 'Accept'],
    [routes.registerPeer, { status: 201, body: {} }, 'Accept'],
    [undefined, refusalReply(refused('route_not_found')), 'Accept'],
  ] as const) {
    const { headers } = sent(route, reply, plain);
    assert.equal([headers['Cache-Control'], headers.Vary], ['no-store', vary], route?.path);
  }
});

test('a refusal has its text, code and details, and a problem holds the same as extensions', () => {
  const reply = refusalReply(refused('duplicate_event', { details: { event_id: 'e', owner: 'other' } }));
  const body = {
    error: 'an event with this event_id is already stored',
    code: 'duplicate_event',
    details: { event_id: 'e', owner: 'other' },
  };
  const sentAs = (problem: boolean) => {
    const { headers, payload } = sent(undefined, reply, { ...plain, problem });
    return [headers['Content-Type'], JSON.parse(String(payload))];
  };
  assert.equal(sentAs(false), ['application/json; charset=utf-8', body]);
  const members = { type: 'urn:ptf:error:duplicate_event', title: body.error, status: 409, detail: body.error };
  assert.equal(sentAs(true), ['application/problem+json; charset=utf-8', { ...members, ...body }]);
});

test('a success is never a problem', () => {
  const { headers, payload } = sent(score, ok({ a: 1 }), { ...plain, problem: true });
  assert.is(headers['Content-Type'], 'application/json; charset=utf-8');
  assert.is(payload, '{"a":1}');
});

test('statuses bring the headers that HTTP asks for', () => {
  const challengeOf = (code: ErrorCode) => refusalReply(refused(code)).headers?.['WWW-Authenticate'];
  assert.is(challengeOf('missing_api_key'), 'ApiKey realm="ptf", header="X-Peer-API-Key"');
  assert.is(challengeOf('invalid_session'), 'Session realm="ptf"');
  assert.is(challengeOf('signature_invalid'), 'Signature realm="ptf"');
  const { headers: toSign } = refusalReply(refused('signature_missing'));
  assert.match(toSign?.['Accept-Signature'] ?? '', /"@method" "@path" "content-digest" "x-peer-api-key"/);
  assert.equal(refusalReply(refused('overloaded')).headers, { 'Retry-After': '1' });
  assert.is(refusalReply(refused('dependency_unavailable', { retryAfterS: 7 })).headers?.['Retry-After'], '7');
  const quota = refusalReply(refused('erasure_quota_exceeded', { retryAfterS: 60 })).headers;
  assert.is(quota?.['Retry-After'], '60');
  assert.is(quota?.RateLimit, '"erasure_quota_exceeded";r=0;t=60');
  assert.is(refusalReply(refused('payload_too_large')).headers?.Connection, 'close');
});

test('a read of a clustered node names its position', () => {
  const { headers } = sent(score, { ...ok({}), position: { appliedSeq: 7, stalenessMs: 12 } }, plain);
  assert.equal([headers['X-Applied-Seq'], headers['X-Staleness-Ms']], [7, 12]);
});

test('a length is counted in bytes', () => assert.is(sent(score, ok('\u{1F600}'), plain).headers['Content-Length'], 6));

test('the text of a reply has the same content as its fields', () => {
  const exchanges = [plain, { ...plain, keySent: true }, { ...plain, problem: true }, { ...plain, ifNoneMatch: '*' }];
  const replies: readonly ApiReply[] = [
    ok({ a: 1 }),
    { status: 204, body: undefined },
    { status: 201, body: {}, headers: { 'Content-Security-Policy': 'of its own', 'X-More': '1' } },
    refusalReply(refused('overloaded')),
    refusalReply(refused('payload_too_large')),
    refusalReply(refused('player_not_found')),
    { ...ok({ a: 1 }), position: { appliedSeq: 7, stalenessMs: 12 } },
  ];
  for (const exchange of exchanges) {
    for (const route of [score, routes.submitEvent, routes.listPlayerEvents, undefined]) {
      for (const reply of replies) {
        const wire = wireReply(route, reply, exchange);
        const [head = '', body] = replyText(wire, 'today', 'Connection: close\r\n').split('\r\n\r\n');
        const [status, ...lines] = head.split('\r\n');
        assert.match(String(status), new RegExp(`^HTTP/1.1 ${wire.status} [A-Z]`));
        const fields = Object.entries({ ...replyHeaders(wire), Date: 'today', Connection: 'close' });
        assert.equal(lines.sort(), fields.map(([name, value]) => `${name}: ${value}`).sort());
        assert.is(body, String(wire.payload));
      }
    }
  }
});

test('problem+json is for those who name it and do not prefer JSON', () => {
  for (const accept of [
    'application/problem+json',
    'application/json, application/problem+json',
    'Application/Problem+JSON;q=0.5',
    'text/html, application/problem+json;q=0.9, */*',
  ]) {
    assert.ok(wants('application/problem+json', accept), accept);
  }
  for (const accept of [
    undefined,
    '',
    '*/*',
    'application/*',
    'application/json',
    'application/problem+json;q=0',
    'application/json, application/problem+json;q=0.5',
    'application/problem+json;q=x',
  ]) {
    assert.not(wants('application/problem+json', accept), String(accept));
  }
});

test.run();

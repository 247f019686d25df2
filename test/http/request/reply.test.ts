import { hash } from 'node:crypto';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { type Route, routes } from '../../../src/contract/routes.js';
import { refused } from '../../../src/errors.js';
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

test('a public read without a key has the tag of its body and may be cached for two seconds', () => {
  const { status, headers, payload } = sent(score, ok({ a: 1 }), plain);
  assert.is(status, 200);
  assert.is(payload, '{"a":1}');
  assert.is(headers.ETag, `"${hash('sha256', '{"a":1}', 'base64url')}"`);
  assert.is(headers['Cache-Control'], 'public, max-age=2');
});

test('the same body has the same tag, another body another', () => {
  const tagOf = (body: unknown): unknown => sent(score, ok(body), plain).headers.ETag;
  assert.is(tagOf({ a: 1 }), tagOf({ a: 1 }));
  assert.is.not(tagOf({ a: 1 }), tagOf({ a: 2 }));
});

test('a tag that is known already gives 304 without a body', () => {
  const tag = String(sent(score, ok({ a: 1 }), plain).headers.ETag);
  const { status, headers, payload } = sent(score, ok({ a: 1 }), { ...plain, ifNoneMatch: tag });
  assert.is(status, 304);
  assert.is(payload, '');
  assert.is(headers.ETag, tag);
  assert.is(headers['Content-Length'], undefined);
  assert.is(headers['Content-Type'], undefined);
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
    assert.is(status, reply.status);
    assert.is(headers['Cache-Control'], 'private, no-store');
    assert.is(headers.ETag, undefined);
  }
});

test('errors, health and writes are never cached', () => {
  assert.is(sent(score, refusalReply(refused('player_not_found')), plain).headers['Cache-Control'], 'no-store');
  assert.is(sent(routes.getHealth, ok({}), plain).headers['Cache-Control'], 'no-store');
  assert.is(sent(routes.registerPeer, { status: 201, body: {} }, plain).headers['Cache-Control'], 'no-store');
});

test('answers that depend on a key vary by the key, and all answers vary by Accept', () => {
  assert.is(sent(routes.listPlayerEvents, ok({}), plain).headers.Vary, 'Accept, X-Peer-API-Key');
  assert.is(sent(routes.getHealth, ok({}), plain).headers.Vary, 'Accept');
  assert.is(sent(undefined, refusalReply(refused('route_not_found')), plain).headers.Vary, 'Accept');
});

test('a refusal has its text, code and details, and a problem holds the same as extensions', () => {
  const reply = refusalReply(refused('duplicate_event', { details: { event_id: 'e', owner: 'other' } }));
  const body = {
    error: 'an event with this event_id is already stored',
    code: 'duplicate_event',
    details: { event_id: 'e', owner: 'other' },
  };
  const asJson = sent(undefined, reply, plain);
  assert.is(asJson.headers['Content-Type'], 'application/json; charset=utf-8');
  assert.equal(JSON.parse(String(asJson.payload)), body);
  const asProblem = sent(undefined, reply, { ...plain, problem: true });
  assert.is(asProblem.headers['Content-Type'], 'application/problem+json; charset=utf-8');
  assert.equal(JSON.parse(String(asProblem.payload)), {
    type: 'urn:ptf:error:duplicate_event',
    title: body.error,
    status: 409,
    detail: body.error,
    ...body,
  });
});

test('a success is never a problem', () => {
  const { headers, payload } = sent(score, ok({ a: 1 }), { ...plain, problem: true });
  assert.is(headers['Content-Type'], 'application/json; charset=utf-8');
  assert.is(payload, '{"a":1}');
});

test('statuses bring the headers that HTTP asks for', () => {
  assert.match(String(refusalReply(refused('missing_api_key')).headers?.['WWW-Authenticate']), /^ApiKey /);
  assert.match(String(refusalReply(refused('invalid_session')).headers?.['WWW-Authenticate']), /^Session /);
  assert.is(refusalReply(refused('overloaded')).headers?.['Retry-After'], '1');
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

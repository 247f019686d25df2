/**
 * Conversations drawn from the contract: every route with good, nearly good and hostile parts, and shapes that are no
 * request.
 */
import fc, { type Arbitrary } from 'fast-check';
import { type Route, routes } from '../../src/contract/routes.js';
import { limits } from '../../src/limits.js';
import type { Schema } from '../../src/validation/schema.js';
import type { Conversation, Damage, FuzzRequest } from './conversation.js';
import { headTexts } from './heads.js';
import { admitted, hostileText, hostileValue, spoiled } from './values.js';

type Fields = readonly (readonly [name: string, value: string])[];

/** Draws good and bad values together, mostly good ones, so that requests get past the first check. */
function mostly<T>(good: Arbitrary<T>, ...others: readonly Arbitrary<T>[]): Arbitrary<T> {
  return fc.oneof(
    { arbitrary: good, weight: 12 * others.length },
    ...others.map((arbitrary) => ({ arbitrary, weight: 1 })),
  );
}

const place = fc.nat({ max: 3 });

/** Few players per conversation, so that reads find what writes left; a subject hash is one of them, too. */
const ownPlayer = fc.oneof(
  place.map((i) => `~player${i}~`),
  place.map((i) => `~hash${i}~`),
);
const ownEventId = fc.nat({ max: 5 }).map((i) => `~event${i}~`);

/** UTF-8 bytes as latin1: what goes out is bytes. */
const bytesOf = (text: string): string => Buffer.from(text).toString('latin1');

function percent(text: string): string {
  return [...Buffer.from(text)].map((byte) => `%${byte.toString(16).padStart(2, '0')}`).join('');
}

const pathValue = mostly(
  ownPlayer,
  hostileText.map((text) => percent(text)),
  hostileText.map(bytesOf),
  fc.constantFrom('', '.', '..', '%2e%2e', 'a%2Fb', '%', '%zz', '%c3%28', '%ed%a0%80', ';a=b', 'a+b', 'a,b', '*'),
);

function targetOf(route: Route): Arbitrary<string> {
  const parts = route.path.split(/(\{\w+\})/);
  const values: Arbitrary<string>[] = parts.map((part) => {
    if (!part.startsWith('{')) return fc.constant(part);
    if (part === '{hash}')
      return mostly(
        place.map((i) => `~hash${i}~`),
        pathValue,
      );
    if (part === '{event_id}') return mostly(ownEventId, pathValue);
    if (part === '{asset}') return mostly(fc.constantFrom('start.js', 'favicon-32x32.png'), pathValue);
    return pathValue;
  });
  const path = fc.tuple(...values).map((all) => all.join(''));
  const spoiledPath = fc
    .tuple(path, fc.constantFrom('/', '//', '/.', '?', '#x', '%20', ' x', '\u0000', '\u00e9', ';x'), fc.boolean())
    .map(([one, more, before]) => (before ? `${more}${one}` : `${one}${more}`));
  const absolute = path.map((one) => `http://elsewhere.example${one}`);
  return fc.tuple(mostly(path, spoiledPath, absolute), queryOf(route)).map((all) => all.join(''));
}

function queryOf(route: Route): Arbitrary<string> {
  const good: Readonly<Record<string, Arbitrary<string>>> = {
    limit: fc.constantFrom('1', '50', '200'),
    cursor: fc.constantFrom('MTpwZWVyczow', 'MTphdWRpdDox', 'MTpldmVudHM6OQ'),
    explain: fc.constantFrom('true', 'false'),
    ids: fc.array(ownPlayer, { minLength: 1, maxLength: 8 }).map((ids) => ids.join(',')),
  };
  const bad = fc.oneof(
    hostileText.map(percent),
    fc.constantFrom(
      '',
      '0',
      '201',
      '-1',
      '1e2',
      '1,,2',
      '%',
      '%2C',
      `${'x,'.repeat(limits.matchIdsMax)}x`,
      '1&limit=2',
    ),
  );
  const named = route.query.map((name) => {
    const pair = mostly(good[name] ?? bad, bad).map((value) => `${name}=${value}`);
    return fc.oneof(fc.constant(''), pair);
  });
  const other = mostly(
    fc.constant(''),
    fc.tuple(hostileText, hostileText).map(([a, b]) => `${percent(a)}=${percent(b)}`),
  );
  return fc.tuple(...named, other).map((pairs) => {
    const text = pairs.filter((pair) => pair !== '').join('&');
    return text === '' ? '' : `?${text}`;
  });
}

/** A value as a header field's, which no bytes may end early; what may is drawn among the damages. */
const fieldText = hostileText.map((text) => bytesOf(text).replace(/[\r\n\0]/g, ''));

/** A request id that is taken over. */
export const givenId = 'a-request.id_1';

const keyFields: Arbitrary<Fields> = fc.oneof(
  { arbitrary: fc.constant<Fields>([['X-Peer-API-Key', '~key0~']]), weight: 12 },
  { arbitrary: fc.constant<Fields>([]), weight: 4 },
  fc.constantFrom<Fields>(
    [['x-peer-api-key', '~key1~']],
    [['X-PEER-API-KEY', '~key2~']],
    [['X-Peer-API-Key', '~key3~']],
    [['X-Peer-API-Key', '']],
    [['X-Peer-API-Key', ' \t ']],
    [
      ['X-Peer-API-Key', '~key0~'],
      ['X-Peer-API-Key', '~key1~'],
    ],
    [['X-Peer-API-Key', '~key0~ ']],
    [['Authorization', 'Bearer ~key0~']],
  ),
  fieldText.map((value): Fields => [['X-Peer-API-Key', value]]),
);

const covered = '"@method" "@path" "content-digest" "x-peer-api-key"';
/** Parts of signatures (RFC 9421), right and wrong ones; together they may be whole, but by no key of a peer. */
const signatureFields: Arbitrary<readonly [string, string]> = fc.oneof(
  fc.constantFrom<readonly [string, string]>(
    ['Signature-Input', `sig1=(${covered});created=1618884473`],
    ['Signature-Input', `sig1=(${covered});created=9999999999999`],
    ['Signature-Input', `sig1=(${covered} "@status" "@query";req);created=-1;expires=1.5;alg=x`],
    ['Signature-Input', `sig1=(${covered}`],
    ['Signature-Input', 'sig1=(), sig2=("@method"), sig3=?1, sig4, sig5=()'],
    ['Signature', `sig1=:${'A'.repeat(86)}==:`],
    ['Signature', 'sig1=:AAAA:, sig1=:====:'],
    ['Signature', 'sig1=%"%ff"'],
    ['Content-Digest', 'sha-256=:X48E9qOokqqrvdts8nOJRJN3OWDUoyWxBf7kbu9DBPE=:'],
    ['Content-Digest', 'sha-512=1, md5=:AAAA:'],
  ),
  fc.tuple(fc.constantFrom('Signature-Input', 'Signature', 'Content-Digest'), fieldText),
);

const otherFields: Arbitrary<Fields> = fc
  .array(
    fc.oneof(
      fc.constantFrom<readonly [string, string]>(
        ['Accept', 'application/problem+json'],
        ['Accept', 'application/problem+json;q=0.1, application/json;q=x'],
        ['Accept', '*/*'],
        ['If-None-Match', '*'],
        ['If-None-Match', 'W/"x", "y'],
        ['X-Request-Id', givenId],
        ['X-Request-Id', 'bad id'],
        ['Cookie', 'service_session=x.y.z; a=b'],
        ['Cookie', ';;=;service_session=eyJhbGciOiJub25lIn0.e30.'],
        ['Expect', '100-continue'],
        ['Expect', 'something-else'],
        ['Connection', 'keep-alive'],
        ['Connection', 'close'],
        ['Upgrade', 'websocket'],
        ['Connection', 'upgrade'],
        ['Connection', 'X-Peer-API-Key'],
        ['Host', 'second.example'],
        ['X-HTTP-Method-Override', 'DELETE'],
        ['X-Forwarded-For', "' OR 1=1"],
        ['Range', 'bytes=0-1'],
        ['TE', 'trailers'],
        ['Trailer', 'X-Peer-API-Key'],
        ['__proto__', 'x'],
        ['constructor', 'x'],
      ),
      signatureFields,
      fieldText.map((value): readonly [string, string] => ['X-Other', value]),
      fieldText.map((value): readonly [string, string] => ['Accept', value]),
      fieldText.map((value): readonly [string, string] => ['If-None-Match', value]),
    ),
    { maxLength: 3 },
  )
  .chain((fields) =>
    // Seldom as many or as large as the bounds of a head.
    mostly(
      fc.constant(fields),
      fc
        .integer({ min: limits.headerCount - 6, max: limits.headerCount + 3 })
        .map((count) => [
          ...fields,
          ...Array.from({ length: count }, (_, i): readonly [string, string] => [`X-${i}`, 'x']),
        ]),
      fc
        .constantFrom(-200, 0, 200)
        .map((more) => [...fields, ['X-Large', 'x'.repeat(limits.headBytes + more)] as const]),
    ),
  );

const typeFields: Arbitrary<Fields> = mostly(
  fc.constant<Fields>([['Content-Type', 'application/json']]),
  fc.constantFrom<Fields>(
    [],
    [['Content-Type', 'application/json; charset=utf-8']],
    [['Content-Type', 'Application/JSON;charset="UTF8"']],
    [['Content-Type', 'application/json; charset=utf-16']],
    [['Content-Type', 'application/json; charset']],
    [['Content-Type', 'text/plain']],
    [['Content-Type', 'application/x-www-form-urlencoded']],
    [['Content-Type', 'application/vnd.api+json']],
    [['Content-Type', '']],
    [
      ['Content-Type', 'application/json'],
      ['Content-Encoding', 'identity'],
    ],
    [
      ['Content-Type', 'application/json'],
      ['Content-Encoding', 'IDENTITY'],
    ],
    [
      ['Content-Type', 'application/json'],
      ['Content-Encoding', 'gzip'],
    ],
    [
      ['Content-Type', 'application/json'],
      ['Content-Encoding', 'identity, br'],
    ],
  ),
  fieldText.map((value): Fields => [['Content-Type', value]]),
);

/** Fields that an event may have from version 1.1.0 on, and must not have before. */
const labels = mostly<Record<string, unknown>>(
  fc.constantFrom(
    {},
    { schema_version: '1.1.0', origin: 'fuzz-list' },
    { schema_version: '1.1.0', reference: 'ticket 4711' },
    { schema_version: '1.2.0-rc.1', origin: 'fuzz-list', reference: '\u{1F600}' },
  ),
  fc.constantFrom(
    { schema_version: '1.1.0', origin: 'nobody declared it' },
    { schema_version: '1.0.0', origin: 'fuzz-list' },
    { schema_version: '1.1.0-rc.1', reference: 'x' },
    { schema_version: '1.1.0', origin: '__proto__' },
  ),
);

/** An event of the peer whose key is most often sent, of a player and an id of this conversation. */
function events(schema: Schema): Arbitrary<Record<string, unknown>> {
  const good = fc.tuple(admitted(schema), ownPlayer, ownEventId, labels).map(([event, player_id, event_id, more]) => {
    const { origin: _origin, reference: _reference, ...rest } = event as Record<string, unknown>;
    return { ...rest, player_id, event_id, peer_id: '~peer0~', game_id: 'arena', schema_version: '1.0.0', ...more };
  });
  const nearly = fc
    .tuple(
      good,
      fc.constantFrom(
        'peer_id',
        'game_id',
        'schema_version',
        'timestamp',
        'player_id',
        'signature',
        'origin',
        'reference',
      ),
      hostileValue,
    )
    .map(([event, field, value]) => ({ ...event, [field]: value }));
  return mostly(good, nearly, spoiled(good));
}

function bodyValues(route: Route, schema: Schema): Arbitrary<unknown> {
  if (route === routes.submitEvent) return mostly(events(schema), hostileValue);
  if (route === routes.submitEvents) {
    const items = mostly(events(routes.submitEvent.body.schema), hostileValue);
    const some = fc.array(items, { maxLength: 5 }).map((all): unknown => ({ events: all }));
    const many = fc.constant<unknown>({ events: Array.from({ length: limits.batchEventsMax + 1 }, () => 0) });
    return mostly(some, many, hostileValue);
  }
  const object = admitted(schema) as Arbitrary<Record<string, unknown>>;
  return mostly<unknown>(object, spoiled(object), hostileValue);
}

/** JSON as some other program might write it, or as none should; as bytes. */
function jsonOf(value: Arbitrary<unknown>, bytesMax: number): Arbitrary<string> {
  const plain = value.map((one) => bytesOf(JSON.stringify(one) ?? 'null'));
  const broken = fc.tuple(plain, fc.nat(), hostileText).map(([text, at, insert]) => {
    const cut = at % (text.length + 1);
    return text.slice(0, cut) + bytesOf(insert) + text.slice(cut);
  });
  const odd = plain.chain((text) =>
    fc.constantFrom(
      '',
      `\xef\xbb\xbf${text}`,
      `\xef\xbb\xbf\xef\xbb\xbf${text}`,
      `\xff\xfe${text}`,
      `${text}\0`,
      `${text}${text}`,
      ` \t\r\n${text} \n`,
      text.slice(0, -1),
      text.replace('{', '{"__proto__":{"a":1},'),
      text.replace('{', '{"event_id":"first","event_id":"second",'),
      text.replace(/"/g, "'"),
      text.replace(/:/g, ':\x0b'),
      text.replace(/[a-z]/, (letter) => `\\u00${letter.charCodeAt(0).toString(16)}`),
      text.replace(/"player_id":"[^"]*"/, '"player_id":"\\ud83d"'),
      text.replace(/"player_id":"[^"]*"/, '"player_id":"\xed\xa0\x80"'),
      text.replace(/"player_id":"[^"]*"/, '"player_id":"\xc0\xaf"'),
      text.replace(/"severity":[^,}]*/, '"severity":1e400'),
      text.replace(/"severity":[^,}]*/, `"severity":0.${'1'.repeat(400)}`),
      `${'['.repeat(5000)}${']'.repeat(5000)}`,
      `{"a":${'{"a":'.repeat(2000)}1${'}'.repeat(2000)}}`,
      text.padEnd(bytesMax, ' '),
      text.padEnd(bytesMax + 1, ' '),
    ),
  );
  return mostly(plain, broken, odd);
}

function bodyOf(route: Route): Arbitrary<string | null> {
  // A route without a body gets one now and then.
  if (route.body === undefined) return mostly<string | null>(fc.constant(null), hostileText.map(bytesOf));
  // A megabyte is worth sending, seldom.
  const bytesMax = Math.min(route.body.bytesMax, limits.eventBodyBytes);
  return mostly<string | null>(jsonOf(bodyValues(route, route.body.schema), bytesMax), fc.constant(null));
}

function requestOf(route: Route): Arbitrary<FuzzRequest> {
  const wrongMethod = fc.constantFrom('GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE', 'PROPFIND');
  const host = mostly<Fields>(
    fc.constant([['Host', 'node.example']]),
    fc.constantFrom<Fields>([], [['Host', '']], [['HOST', 'a b']]),
  );
  return fc
    .record({
      method: mostly(fc.constant<string>(route.method), wrongMethod),
      target: targetOf(route),
      version: fc.oneof({ arbitrary: fc.constant('1.1'), weight: 30 }, { arbitrary: fc.constant('1.0'), weight: 1 }),
      host,
      key: keyFields,
      type: route.body === undefined ? fc.constant<Fields>([]) : typeFields,
      others: otherFields,
      body: bodyOf(route),
      chunkBytes: fc.oneof({ arbitrary: fc.constant(null), weight: 5 }, fc.constantFrom(1, 7, 4096)),
    })
    .map(({ host, key, type, others, ...rest }) => ({ ...rest, fields: [...host, ...key, ...type, ...others] }));
}

/** How often each route is drawn: those that change something, or have a lane of their own, most. */
const weights: ReadonlyMap<Route, number> = new Map<Route, number>([
  [routes.submitEvent, 8],
  [routes.submitEvents, 5],
  [routes.getTrustScore, 6],
  [routes.getTrustScores, 5],
  [routes.registerPeer, 1],
  [routes.eraseSubject, 1],
]);

/** An answer without end is for tests of its own. */
const ended = Object.values<Route>(routes).filter((route) => route !== routes.streamVerdicts);

export const requests: Arbitrary<FuzzRequest> = fc.oneof(
  ...ended.map((route) => ({ arbitrary: requestOf(route), weight: weights.get(route) ?? 2 })),
);

/** Bytes that are no request, or only half of one. */
const rawShapes: readonly string[] = [
  '\r\n\r\n',
  '\n',
  'GET',
  'GET /api/v1/health HTTP/1.1\r\nHost: x\r\n',
  'GET /api/v1/health HTTP/1.1\nHost: x\n\n',
  'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
  'CONNECT x:80 HTTP/1.1\r\nHost: x\r\n\r\n',
  'GET /api/v1/players/x\0/trust-score HTTP/1.1\r\nHost: x\r\n\r\n',
  'POST /api/v1/events HTTP/1.1\r\nHost: x\r\nX-Peer-API-Key: ~key0~\r\nContent-Type: application/json\r\nContent-Length: 9\r\n\r\n{}',
  '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03',
  '\0'.repeat(64),
];

/** An answer to HEAD is not told from others among the answers to raw bytes. */
const rawHeads = headTexts.filter((text) => !/head /i.test(text));

const raw = mostly(
  fc.constant(''),
  fc.constantFrom(...rawShapes),
  rawHeads,
  fc.string({ unit: 'binary', maxLength: 60 }).map(bytesOf),
);

const damage: Arbitrary<Damage> = fc.record({
  at: fc.double({ min: 0, max: 0.999999, noNaN: true }),
  how: fc.constantFrom('delete', 'repeat', 'insert', 'flip', 'end'),
  count: fc.integer({ min: 1, max: 40 }),
  text: fc.constantFrom(
    '\r\n',
    '\n',
    '\r',
    '\0',
    ' ',
    ':',
    '\r\n\r\n',
    'Host: y\r\n',
    'Content-Length: 3\r\n',
    'HTTP/1.1',
    '\x80',
  ),
});

/** @param requestsMax requests that a conversation holds, at most. */
export function conversations(requestsMax: number): Arbitrary<Conversation> {
  const all = fc.record({
    requests: fc.array(requests, { minLength: 1, maxLength: requestsMax }),
    raw,
    damages: mostly<Damage[]>(fc.constant([]), fc.array(damage, { minLength: 1, maxLength: 2 })),
    cuts: mostly<number[]>(fc.constant([]), fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { maxLength: 12 })),
  });
  // Which answer comes without a body would be anybody's guess.
  return all.map((one) => (one.damages.length === 0 ? one : { ...one, requests: one.requests.map(withBodyInAnswer) }));
}

/** All that a node tells of the players of a conversation, to a peer that sent events about them. */
export const readsOfPlayers: Conversation = {
  requests: [0, 1, 2, 3, 4, 5]
    .flatMap((i) => ['trust-score?explain=true', 'verdict', 'events?limit=200'].map((what) => `~hash${i}~/${what}`))
    .map((rest) => ({
      method: 'GET',
      target: `/api/v1/players/${rest}`,
      version: '1.1',
      fields: [
        ['Host', 'node.example'],
        ['X-Peer-API-Key', '~key0~'],
      ],
      body: null,
      chunkBytes: null,
    })),
  raw: '',
  damages: [],
  cuts: [],
};

function withBodyInAnswer(request: FuzzRequest): FuzzRequest {
  return request.method === 'HEAD' ? { ...request, method: 'GET' } : request;
}

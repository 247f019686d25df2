/**
 * Draws the heads of requests from the grammar of HTTP/1.1 (RFC 9112) and from what stands just beside it: versions,
 * targets, field lines, folds, repeats, lengths, transfer codings and the bodies that follow them. Each conversation is
 * a text of latin1 bytes for one connection.
 */
import fc, { type Arbitrary } from 'fast-check';

function mostly<T>(good: Arbitrary<T>, odd: Arbitrary<T>): Arbitrary<T> {
  return fc.oneof({ arbitrary: good, weight: 3 }, { arbitrary: odd, weight: 1 });
}

/** A path whose answer needs no player, one that does, a match, a write, one of Koa's alone, and none. */
const paths = [
  '/api/v1/players/x/trust-score',
  '/api/v1/players/x/verdict',
  '/api/v1/trust-scores?ids=x,y',
  '/api/v1/events',
  '/api/v1/events/batch',
  '/api/v1/peers',
  '/api/v1/peers?limit=1',
  '/nowhere',
];

const method = mostly(
  fc.constantFrom('GET', 'POST'),
  fc.constantFrom('DELETE', 'HEAD', 'OPTIONS', 'PUT', 'get', 'G ET', ''),
);
const target = mostly(
  fc.constantFrom(...paths),
  fc.constantFrom(
    '*',
    '',
    'http://x/api/v1/peers?limit=1',
    'x:80',
    '/api/v1/peers?limit=1#x',
    '//api/v1/peers?limit=1',
    '/api/v1/players/%zz/verdict',
    '/\xe9',
  ),
);
const version = mostly(
  fc.constant('HTTP/1.1'),
  fc.constantFrom('HTTP/1.0', 'HTTP/1.2', 'HTTP/2.0', 'http/1.1', 'HTTP/1.1 ', 'HTTP/01.1', ''),
);
const lineEnd = fc.oneof({ arbitrary: fc.constant('\r\n'), weight: 60 }, fc.constantFrom('\n', '\r', '\r\r\n'));
/** Optional white space around a value, and what is none. */
const blank = mostly(fc.constantFrom(' ', ''), fc.constantFrom('\t', '  ', ' \t ', '\x0b', '\x0c', '\xa0', '\0'));

const length = mostly(
  fc.constantFrom('0', '2', '5'),
  fc.constantFrom(
    '',
    '+0',
    '-0',
    '0x0',
    '00',
    '0 0',
    '0,0',
    '0, 0',
    '2,2',
    '1e0',
    '0;a',
    '18446744073709551617',
    '9007199254740993',
    '02',
    '2.0',
  ),
);
const coding = mostly(
  fc.constant('chunked'),
  fc.constantFrom(
    'xchunked',
    'Chunked',
    'CHUNKED',
    'identity',
    'gzip',
    'gzip, chunked',
    'chunked, gzip',
    'chunked, chunked',
    'identity, chunked',
    'chunked,',
    ',chunked',
    'chunked;q=1',
    '"chunked"',
    '',
  ),
);

/** A field that frames a body. */
const framing: Arbitrary<readonly [string, string]> = fc.oneof(
  length.map((value) => ['Content-Length', value] as const),
  coding.map((value) => ['Transfer-Encoding', value] as const),
);
const other: Arbitrary<readonly [string, string]> = fc.constantFrom<readonly [string, string]>(
  ['Host', 'x'],
  ['Content-Type', 'application/json'],
  ['Connection', 'keep-alive'],
  ['Connection', 'close'],
  ['Connection', 'Content-Length'],
  ['Expect', '100-continue'],
  ['Expect', '200-ok'],
  ['Expect', ''],
  ['TE', 'chunked'],
  ['Trailer', 'X-A'],
  ['Upgrade', 'h2c'],
  ['X-A', 'a\r\n b'],
  ['X-A', 'a\r\nContent-Length: 5'],
  ['X-A', '\x80'],
  ['X A', 'a'],
  ['', 'a'],
  ['__proto__', 'a'],
);

/**
 * One field line: blanks before its colon are a way to hide it, and a blank before its name folds it into the line
 * above.
 */
const line = fc
  .record({
    field: fc.oneof({ arbitrary: framing, weight: 2 }, { arbitrary: other, weight: 3 }),
    fold: mostly(fc.constant(''), fc.constantFrom(' ', '\t')),
    colon: mostly(fc.constant(':'), fc.constantFrom(' :', '\t:', '')),
    before: blank,
    after: mostly(fc.constant(''), blank),
    upper: fc.boolean(),
    end: lineEnd,
  })
  .map(({ field: [name, value], fold, colon, before, after, upper, end }) => {
    return `${fold}${upper ? name.toUpperCase() : name}${colon}${before}${value}${after}${end}`;
  });

const body = fc.constantFrom(
  '',
  '{}',
  'hello',
  '0\r\n\r\n',
  '2\r\n{}\r\n0\r\n\r\n',
  '5;a=b\r\nhello\r\n0\r\n\r\n',
  '5\r\nhelloX0\r\n\r\n',
  '-1\r\n\r\n',
  'zz\r\n',
  '0\r\nX-A: a\r\n\r\n',
  'ffffffffffffffffff\r\n',
  '2\r\n{}',
);

const request = fc
  .record({
    method,
    target,
    version,
    lineEnd,
    host: mostly(fc.constant('Host: x\r\n'), fc.constant('')),
    lines: fc.array(line, { maxLength: 4 }),
    end: lineEnd,
    body,
  })
  .map(
    (one) =>
      `${one.method} ${one.target} ${one.version}${one.lineEnd}${one.host}${one.lines.join('')}${one.end}${one.body}`,
  );

/** One or two requests of one connection: what a first one leaves behind may be taken for a second. */
export const headTexts: Arbitrary<string> = fc
  .tuple(
    request,
    fc.oneof(fc.constant(''), request, fc.constant('GET /api/v1/peers?limit=1 HTTP/1.1\r\nHost: x\r\n\r\n')),
  )
  .map(([first, second]) => first + second);

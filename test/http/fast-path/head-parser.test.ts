/** Heads that the fast path parses, and heads that it leaves to node:http. */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { HeadParser } from '../../../src/http/fast-path/head-parser.js';
import { limits } from '../../../src/limits.js';

const line = 'GET /a?b=c HTTP/1.1\r\n';

test('a simple head is read: method, target, fields by lower-case name, and where the body begins', () => {
  const text = `POST /x HTTP/1.1\r\nHost: h\r\nX-Y:  a b\t\r\nContent-Length: 3\r\nEmpty:\r\n\r\nabc`;
  const head = new HeadParser().read(text, 0);
  assert.equal(head, {
    method: 'POST',
    url: '/x',
    headers: { host: 'h', 'x-y': 'a b', 'content-length': '3', empty: '' },
    contentLength: 3,
    end: text.length - 3,
  });
});

test('the same fields again are not read again, and other ones are', () => {
  const reader = new HeadParser();
  const first = reader.read(`${line}Host: h\r\nA: 1\r\n\r\n`, 0);
  const same = reader.read(`GET /other HTTP/1.1\r\nHost: h\r\nA: 1\r\n\r\n`, 0);
  const other = reader.read(`${line}Host: h\r\nA: 2\r\n\r\n`, 0);
  const longer = reader.read(`${line}Host: h\r\nA: 2\r\nB: 3\r\n\r\n`, 0);
  assert.is(first?.headers, same?.headers);
  assert.is(same?.url, '/other');
  assert.is(other?.headers.a, '2');
  assert.is(longer?.headers.b, '3');
});

test('fields that differ in the length of the body only are not read again, and the length is the new one', () => {
  const head = (length: string) => `POST /x HTTP/1.1\r\nHost: h\r\nContent-Length: ${length}\r\nA: 1\r\n\r\n`;
  const reader = new HeadParser();
  const { headers } = reader.read(head('3'), 0)!;
  for (const length of ['4', '1234567', '0', '89']) {
    const again = reader.read(head(length), 0)!;
    assert.is(again.headers, headers);
    assert.is(again.contentLength, Number(length));
    assert.is(again.headers['content-length'], length);
    assert.is(again.end, head(length).length);
  }
  // node:http takes some of these and refuses others, a tab behind the digits for one.
  for (const length of ['', '+3', '12345678', '3, 3', '3 3', '0x3', '3 ', '3\t', '\t3', ' 3', '3/', '3:']) {
    assert.is(reader.read(head('3'), 0)?.contentLength, 3);
    assert.is(reader.read(head(length), 0), undefined, length);
  }
});

test('fields behind the length that differ are read again, as one key behind another', () => {
  const head = (rest: string) => `POST /x HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\n${rest}\r\n`;
  const reader = new HeadParser();
  for (const key of ['one', 'two', 'three']) {
    assert.is(reader.read(head(`X-Peer-API-Key: ${key}\r\n`), 0)?.headers['x-peer-api-key'], key);
  }
  assert.is(reader.read(head('Expect: 100-continue\r\n'), 0), undefined);
});

test('a head may have so many fields, and one with more is left to node:http', () => {
  const fields = (count: number) => Array.from({ length: count - 1 }, (_, i) => `A${i}: 1\r\n`).join('');
  const read = (count: number) => new HeadParser().read(`${line}Host: h\r\n${fields(count)}\r\n`, 0);
  assert.is(Object.keys(read(limits.headerCount)!.headers).length, limits.headerCount);
  assert.is(read(limits.headerCount + 1), undefined);
});

test('a head may have so many bytes, the first line included, also with fields that are known', () => {
  const fields = 'Host: h\r\n\r\n';
  const head = (bytes: number) => {
    const rest = ` HTTP/1.1\r\n${fields}`;
    return `GET /${'a'.repeat(bytes - rest.length - 5)}${rest}`;
  };
  for (const before of ['', `${line}${fields}`]) {
    const read = (bytes: number) => {
      const reader = new HeadParser();
      reader.read(before, 0);
      return reader.read(before + head(bytes), before.length)?.end;
    };
    assert.is(read(limits.fastPathHeadBytes), before.length + limits.fastPathHeadBytes);
    assert.is(read(limits.fastPathHeadBytes + 1), undefined);
  }
});

test('a second request is read where the first one ended', () => {
  const one = `${line}Host: h\r\n\r\n`;
  const reader = new HeadParser();
  assert.is(reader.read(one + one, reader.read(one + one, 0)!.end)?.end, 2 * one.length);
});

/** Each is for node:http to answer or to refuse. */
const leftAlone: Readonly<Record<string, string>> = {
  'an unfinished head': `${line}Host: h\r\n`,
  'another method': 'PUT /a HTTP/1.1\r\nHost: h\r\n\r\n',
  'an older protocol': 'GET /a HTTP/1.0\r\nHost: h\r\n\r\n',
  'an absolute target': 'GET http://h/a HTTP/1.1\r\nHost: h\r\n\r\n',
  'two spaces in the first line': 'GET /a  HTTP/1.1\r\nHost: h\r\n\r\n',
  'a bare line feed': 'GET /a HTTP/1.1\nHost: h\r\n\r\n',
  'a line feed between fields': `${line}Host: h\nA: 1\r\n\r\n`,
  'no host': `${line}A: 1\r\n\r\n`,
  'no field at all': `${line}\r\n`,
  'a field twice': `${line}Host: h\r\nA: 1\r\na: 2\r\n\r\n`,
  'two hosts': `${line}Host: h\r\nHost: i\r\n\r\n`,
  'a folded line': `${line}Host: h\r\nA: 1\r\n 2\r\n\r\n`,
  'a space before the colon': `${line}Host: h\r\nA : 1\r\n\r\n`,
  'a name that is no token': `${line}Host: h\r\nA(b: 1\r\n\r\n`,
  'a byte beyond ASCII': `${line}Host: h\r\nA: \xe9\r\n\r\n`,
  'a control character': `${line}Host: h\r\nA: a\x00b\r\n\r\n`,
  'a bare carriage return': `${line}Host: h\r\nA: a\rb\r\n\r\n`,
  chunks: `${line}Host: h\r\nTransfer-Encoding: chunked\r\n\r\n`,
  'an expectation': `${line}Host: h\r\nExpect: 100-continue\r\n\r\n`,
  'an encoded body': `${line}Host: h\r\nContent-Encoding: gzip\r\n\r\n`,
  'an upgrade': `${line}Host: h\r\nUpgrade: websocket\r\n\r\n`,
  'a connection that is to close': `${line}Host: h\r\nConnection: close\r\n\r\n`,
  'a proxy connection that is to close': `${line}Host: h\r\nProxy-Connection: close\r\n\r\n`,
  'a body on a read': `${line}Host: h\r\nContent-Length: 1\r\n\r\na`,
  'a name that objects inherit from': `${line}Host: h\r\n__proto__: 1\r\n\r\n`,
};

for (const [what, text] of Object.entries(leftAlone)) {
  test(`${what} is left to node:http, also after a simple head`, () => {
    const plain = `${line}Host: h\r\n\r\n`;
    const reader = new HeadParser();
    assert.is(reader.read(text, 0), undefined);
    assert.is(reader.read(plain, 0)?.end, plain.length);
    assert.is(reader.read(plain + text, plain.length), undefined);
  });
}

test('a head takes no longer if its blanks could be read in many ways', () => {
  const blanks = ' '.repeat(limits.fastPathHeadBytes - 100);
  const fields = [`A:${blanks}\x80`, `A: a${blanks}\x80`, `A: ${'a '.repeat(blanks.length / 2)}\x80`];
  for (const field of fields) {
    const tries = Array.from({ length: 5 }, () => {
      const before = process.cpuUsage();
      assert.is(new HeadParser().read(`${line}Host: h\r\n${field}\r\n\r\n`, 0), undefined);
      const { user, system } = process.cpuUsage(before);
      return (user + system) / 1000;
    });
    // Each byte looked at some times takes a tenth of a millisecond, each pair of bytes once a hundred.
    assert.ok(Math.min(...tries) < 20, `${Math.min(...tries)} ms of the processor`);
  }
});

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

test('cached fields of a connection keep no other bytes of their read in memory', () => {
  const fields = 'Host: federation.example.com\r\nUser-Agent: a game server of some name\r\n';
  const body = 60_000;
  const known: HeadParser[] = [];
  collect();
  const before = process.memoryUsage().heapUsed;
  for (let connection = 0; connection < 200; connection++) {
    const sent = `POST /x HTTP/1.1\r\n${fields}Content-Length: ${body}\r\n\r\n${'y'.repeat(body)}`;
    const reader = new HeadParser();
    assert.is(reader.read(Buffer.from(sent, 'latin1').toString('latin1'), 0)?.contentLength, body);
    known.push(reader);
  }
  collect();
  const kept = (process.memoryUsage().heapUsed - before) / known.length;
  assert.ok(kept < body / 10, `${kept} bytes each`);
});

test.run();

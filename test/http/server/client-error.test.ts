import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { parserFailureCode } from '../../../src/http/server/client-error.js';

function overflow(text: string): string | undefined {
  return parserFailureCode({ code: 'HPE_HEADER_OVERFLOW', rawPacket: Buffer.from(text) });
}

const long = 'a'.repeat(70_000);

test('an overflow is ascribed to the larger part of the packet', () => {
  assert.is(overflow(`GET /${long} HTTP/1.1\r\nHost: x\r\n\r\n`), 'uri_too_long');
  assert.is(overflow(`GET / HTTP/1.1\r\nHost: x\r\nA: ${long}\r\n\r\n`), 'headers_too_large');
});

test('the rest of a head is recognised by the end of its first line', () => {
  assert.is(overflow(`${long} HTTP/1.1\r\nHost: x\r\n\r\n`), 'uri_too_long');
  assert.is(overflow(`${long}\r\nB: b\r\n\r\n`), 'headers_too_large');
  assert.is(overflow(long), 'uri_too_long');
  assert.is(overflow(`${long} b c`), 'headers_too_large');
  assert.is(parserFailureCode({ code: 'HPE_HEADER_OVERFLOW' }), 'headers_too_large', 'an unknown packet');
});

test('only failures of the parser and of time are answered', () => {
  assert.is(parserFailureCode({ code: 'ERR_HTTP_REQUEST_TIMEOUT' }), 'request_timeout');
  assert.is(parserFailureCode({ code: 'HPE_INVALID_METHOD' }), 'invalid_parameter');
  assert.is(parserFailureCode({ code: 'HPE_CHUNK_EXTENSIONS_OVERFLOW' }), 'payload_too_large');
  assert.is(parserFailureCode({ code: 'ECONNRESET' }), undefined);
  assert.is(parserFailureCode({}), undefined);
});

test.run();

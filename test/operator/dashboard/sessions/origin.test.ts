/** The origin of a request, as browsers and proxies report it. */
import type { IncomingMessage } from 'node:http';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { addressOf, isOverTls, isOwnPage } from '../../../../src/operator/dashboard/sessions/origin.js';

function from(headers: Record<string, string>, remoteAddress = '127.0.0.1'): IncomingMessage {
  return { headers, socket: { remoteAddress } } as unknown as IncomingMessage;
}

test('a browser that names the site is believed, whatever the origin', () => {
  assert.ok(isOwnPage(from({ 'sec-fetch-site': 'same-origin', origin: 'null' })));
  for (const site of ['same-site', 'cross-site', 'none', '']) {
    assert.not.ok(isOwnPage(from({ 'sec-fetch-site': site, origin: 'http://a:1', host: 'a:1' })), site);
  }
});

test('where it does not, the origin must be the host that was asked', () => {
  assert.ok(isOwnPage(from({ origin: 'http://ops.lan:8081', host: 'ops.lan:8081' })));
  assert.ok(isOwnPage(from({ origin: 'https://ops.example.com', host: 'ops.example.com' })));
  const foreign: Record<string, string>[] = [
    {},
    { host: 'ops.lan:8081' },
    { origin: 'null', host: 'ops.lan:8081' },
    { origin: 'http://ops.lan:8080', host: 'ops.lan:8081' },
    { origin: 'http://ops.lan:8081.evil.example', host: 'ops.lan:8081' },
    { origin: 'not an origin', host: 'ops.lan:8081' },
  ];
  for (const headers of foreign) assert.not.ok(isOwnPage(from(headers)), JSON.stringify(headers));
});

test('TLS is seen by the page or by the proxy', () => {
  assert.ok(isOverTls(from({ origin: 'https://a' })));
  assert.ok(isOverTls(from({ 'x-forwarded-proto': 'https' })));
  assert.not.ok(isOverTls(from({ origin: 'http://a', 'x-forwarded-proto': 'http' })));
});

test('the address of a caller is that of its connection, except for a proxy on this machine', () => {
  assert.is(addressOf(from({}, '10.0.0.9')), '10.0.0.9');
  assert.is(addressOf(from({ 'x-forwarded-for': '1.1.1.1' }, '10.0.0.9')), '10.0.0.9');
  for (const proxy of ['127.0.0.1', '::1', '::ffff:127.0.0.1']) {
    assert.is(addressOf(from({ 'x-forwarded-for': 'spoofed, 1.1.1.1' }, proxy)), '1.1.1.1');
    assert.is(addressOf(from({}, proxy)), proxy);
  }
});

test.run();

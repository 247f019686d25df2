/** The origin of a request, as browsers and proxies report it. */
import type { IncomingMessage } from 'node:http';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { addressOf, isOverTls, isOwnHost, isOwnPage } from '../../../../src/operator/dashboard/authentication.js';

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

test('the address of a caller is that of its connection, except for a configured proxy on this machine', () => {
  assert.is(addressOf(from({}, '10.0.0.9'), true), '10.0.0.9');
  assert.is(addressOf(from({ 'x-forwarded-for': '1.1.1.1' }, '10.0.0.9'), true), '10.0.0.9');
  for (const proxy of ['127.0.0.1', '::1', '::ffff:127.0.0.1']) {
    const [own, forwarded] = [from({}, proxy), from({ 'x-forwarded-for': 'spoofed, 1.1.1.1' }, proxy)];
    assert.is(addressOf(forwarded, true), '1.1.1.1');
    assert.is(addressOf(forwarded, false), addressOf(own, false), 'a local caller may not choose its address');
  }
});

test('the addresses of an IPv6 /64 are counted as one', () => {
  const counted = (address: string) => addressOf(from({ 'x-forwarded-for': address }, '::1'), true);
  assert.is(counted('2001:db8:1:2::1'), counted('2001:db8:1:2:ffff::9'));
  assert.is.not(counted('2001:db8:1:2::1'), counted('2001:db8:1:3::1'));
});

test('only a Host that an attacker cannot own names the dashboard', () => {
  const names = ['0.0.0.0', 'ops.example.com'];
  const own = ['127.0.0.1:8081', '[::1]:8081', '10.0.0.9', 'localhost:1', 'ops.example.com', 'OPS.example.com:443'];
  for (const host of own) assert.ok(isOwnHost(from({ host }), names), host);
  const foreign = ['evil.example', 'localhost.evil.example:1', 'ops.example.com.evil', '127.0.0.1.evil', '', 'a b'];
  for (const host of foreign) assert.not(isOwnHost(from({ host }), names), host);
  assert.not(isOwnHost(from({}), names));
});

test.run();

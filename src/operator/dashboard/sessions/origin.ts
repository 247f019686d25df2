/** Finds where a request comes from: whether from the dashboard's own page, its address, and whether over TLS. */
import type { IncomingMessage } from 'node:http';
import { isIP } from 'node:net';
import { addressKeyOf } from '../../../validation/address-key.js';

/**
 * True if `Host` names this dashboard: by an IP address, as `localhost`, or by one of its names. Any other may be that
 * of an attacker's page, which resolves to this machine.
 */
export function isOwnHost({ headers }: Pick<IncomingMessage, 'headers'>, names: readonly string[]): boolean {
  const name = originOf(`http://${headers.host}`)?.hostname ?? '';
  return isIP(name.replace(/^\[|\]$/g, '')) !== 0 || name === 'localhost' || names.includes(name);
}

/**
 * True if the dashboard's own page sent a change. Browsers state it: in `Sec-Fetch-Site` over TLS or from this machine,
 * else in `Origin`. A request with neither does not come from an operator's browser.
 */
export function isOwnPage({ headers }: Pick<IncomingMessage, 'headers'>): boolean {
  const site = headers['sec-fetch-site'];
  if (site !== undefined) return site === 'same-origin';
  const origin = originOf(headers.origin);
  return origin !== undefined && origin.host === headers.host;
}

/** True if the browser uses TLS: it sends its scheme, and proxies forward theirs. */
export function isOverTls({ headers }: Pick<IncomingMessage, 'headers'>): boolean {
  return originOf(headers.origin)?.protocol === 'https:' || headers['x-forwarded-proto'] === 'https';
}

/**
 * Returns the key under which sign-in attempts are counted. A configured proxy runs on this machine and appends the
 * caller's address to `X-Forwarded-For`; the header is ignored from elsewhere.
 */
export function addressOf({ headers, socket }: Pick<IncomingMessage, 'headers' | 'socket'>, hasProxy: boolean): string {
  const own = socket.remoteAddress ?? '';
  const forwarded = [headers['x-forwarded-for'] ?? []].flat().join(',').split(',').at(-1)?.trim() ?? '';
  return addressKeyOf(hasProxy && isLoopback(own) && forwarded !== '' ? forwarded : own);
}

function isLoopback(address: string): boolean {
  return address === '::1' || /^(?:::ffff:)?127\./.test(address);
}

function originOf(text: string | undefined): URL | undefined {
  return text !== undefined && URL.canParse(text) ? new URL(text) : undefined;
}

/** Where a request comes from: whether a page of our own sent it, from which address, and over TLS or not. */
import type { IncomingMessage } from 'node:http';

/**
 * Whether the dashboard's own page sent a request that changes something. Browsers say so themselves: in
 * `Sec-Fetch-Site` where the page came over TLS or from this machine, else in `Origin`. What says neither is no browser
 * of an operator.
 */
export function isOwnPage({ headers }: Pick<IncomingMessage, 'headers'>): boolean {
  const site = headers['sec-fetch-site'];
  if (site !== undefined) return site === 'same-origin';
  const origin = originOf(headers.origin);
  return origin !== undefined && origin.host === headers.host;
}

/** Whether the browser speaks TLS, to us or to the proxy in front: it names its own scheme, and proxies tell theirs. */
export function isOverTls({ headers }: Pick<IncomingMessage, 'headers'>): boolean {
  return originOf(headers.origin)?.protocol === 'https:' || headers['x-forwarded-proto'] === 'https';
}

/**
 * The address to count tries under. A proxy on this machine appends the caller's to `X-Forwarded-For`; what anybody
 * else says there is worth nothing.
 */
export function addressOf({ headers, socket }: Pick<IncomingMessage, 'headers' | 'socket'>): string {
  const own = socket.remoteAddress ?? '';
  const forwarded = [headers['x-forwarded-for'] ?? []].flat().join(',').split(',').at(-1)?.trim() ?? '';
  return isLoopback(own) && forwarded !== '' ? forwarded : own;
}

function isLoopback(address: string): boolean {
  return address === '::1' || /^(?:::ffff:)?127\./.test(address);
}

function originOf(text: string | undefined): URL | undefined {
  return text !== undefined && URL.canParse(text) ? new URL(text) : undefined;
}

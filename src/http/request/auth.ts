/** Authenticates peers by their API key, which is looked up by digest, and browsers by their session cookie. */
import { hash } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { errors as joseErrors, jwtVerify } from 'jose';
import type { Route } from '../../contract/routes.js';
import { granted, type Outcome, refused } from '../../errors.js';
import type { GroupNode, PeerView } from '../../group/api.js';
import { limits } from '../../limits.js';
import type { HttpDeps } from '../deps.js';

/** Returns the key of a header field, whose lines Node joins with commas; undefined if all of them are blank. */
export function apiKeyOf(header: string | string[] | undefined): string | undefined {
  const key = Array.isArray(header) ? header.join(',') : header;
  return key === undefined || /^[\s,]*$/.test(key) ? undefined : key;
}

/** Key digests by a connection's header block, which is one object as long as its fields stay the same. */
const digests = new WeakMap<IncomingHttpHeaders, string>();

export function keyDigestOf(headers: IncomingHttpHeaders): string | undefined {
  const known = digests.get(headers);
  if (known !== undefined) return known;
  const key = apiKeyOf(headers['x-peer-api-key']);
  if (key === undefined) return undefined;
  const digest = hash('sha256', key, 'hex');
  digests.set(headers, digest);
  return digest;
}

/**
 * Returns the acting peer. `required` routes refuse with `missing_api_key`, `invalid_api_key` or `peer_not_active`,
 * unless authentication is off; then no peer acts. On `optional` routes a key of no active peer counts as no key.
 */
export function callerOf(
  auth: Route['auth'],
  authEnabled: boolean,
  headers: IncomingHttpHeaders,
  node: GroupNode,
): Outcome<PeerView | null> {
  if (auth === 'none' || (auth === 'required' && !authEnabled)) return granted(null);
  const digest = keyDigestOf(headers);
  if (digest === undefined) return auth === 'required' ? missingKey(headers) : granted(null);
  const peer = node.group.peerByKeyDigest(digest);
  if (peer?.status === 'active') return granted(peer);
  if (auth === 'optional') return granted(null);
  return refused(peer === undefined ? 'invalid_api_key' : 'peer_not_active');
}

/** The specification fixes the text. The details mention a key that was sent as a bearer token. */
function missingKey({ authorization }: IncomingHttpHeaders): Outcome<never> {
  if (authorization === undefined) return refused('missing_api_key');
  const hint = 'the header Authorization is ignored; send the key in the header X-Peer-API-Key';
  return refused('missing_api_key', { details: { expected_header: 'X-Peer-API-Key', hint } });
}

const sessionCookie = /(?:^|;)[ \t]*service_session[ \t]*=([^;]*)/;

/** Returns whether a caller may register. In `open` mode cookies are ignored, valid or not. */
export async function mayRegister(
  { settings, node, clock, sessionHolds }: Pick<HttpDeps, 'settings' | 'node' | 'clock' | 'sessionHolds'>,
  cookies: string | undefined,
): Promise<Outcome<null>> {
  if (settings.registrationMode === 'closed') return refused('registration_closed');
  if (settings.registrationMode === 'open') return granted(null);
  const token = sessionCookie.exec(cookies ?? '')?.[1]?.trim();
  if (token === undefined || token.length > limits.sessionCookieLength || settings.sessionSecret === null) {
    return refused('invalid_session');
  }
  try {
    const { payload } = await jwtVerify(token, settings.sessionSecret, {
      algorithms: ['HS256'],
      audience: `ptf-${node.identity.environment}`,
      requiredClaims: ['exp'],
      currentDate: new Date(clock.now()),
    });
    return sessionHolds(payload) ? granted(null) : refused('invalid_session');
  } catch (error) {
    if (error instanceof joseErrors.JOSEError) return refused('invalid_session');
    throw error;
  }
}

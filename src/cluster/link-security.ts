/**
 * What nodes of a group prove to one another: TLS with a pre-shared key that is derived from the cluster's secret.
 * Whoever lacks the secret gets no further than the handshake, on either end.
 */
import { hkdfSync } from 'node:crypto';

/** The authority that a node asks for by CONNECT on another one's public port. */
export const LINK_AUTHORITY = 'ptf-cluster:1';

/** Node offers keys of this kind up to TLS 1.2. The exchange is ephemeral: a later leak of the secret opens nothing. */
const VERSION = 'TLSv1.2';
const CIPHERS = 'ECDHE-PSK-CHACHA20-POLY1305';
const IDENTITY = 'ptf-node';

function keyOf(secret: string, groupId: string): Buffer {
  return Buffer.from(hkdfSync('sha256', secret, Buffer.alloc(0), `peer trust federation nodes\0${groupId}`, 32));
}

const shared = { minVersion: VERSION, maxVersion: VERSION, ciphers: CIPHERS } as const;

export function serverSecurity(secret: string, groupId: string) {
  const key = keyOf(secret, groupId);
  return { ...shared, pskCallback: (_socket: unknown, identity: string) => (identity === IDENTITY ? key : null) };
}

export function clientSecurity(secret: string, groupId: string) {
  const psk = keyOf(secret, groupId);
  return {
    ...shared,
    pskCallback: () => ({ psk, identity: IDENTITY }),
    // There is no certificate: that the handshake ends proves that the other end has the secret.
    checkServerIdentity: () => undefined,
  };
}

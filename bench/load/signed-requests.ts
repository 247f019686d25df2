/** Signs the writes of peers: any kind of request, with the digest of its body and a signature. */
import { createPrivateKey, createPublicKey, hash, type KeyObject, sign } from 'node:crypto';
import type { Kind } from './drive.js';
import { type Credentials, mix, peerOf, type Site } from './requests.js';

/** PKCS #8 of an Ed25519 key without its 32 bytes (RFC 8410, section 7). */
const pkcs8 = Buffer.from('302e020100300506032b657004220420', 'hex');

/** Returns the private key of peer number `n`. The same seed gives the same key. */
function privateKeyOf(seed: number, n: number): KeyObject {
  const bytes = Buffer.alloc(32);
  for (let at = 0; at < bytes.length; at += 4) bytes.writeUInt32LE(mix(seed + n, at), at);
  return createPrivateKey({ key: Buffer.concat([pkcs8, bytes]), format: 'der', type: 'pkcs8' });
}

/** Returns the public key of each peer: 32 bytes, base64url. */
export function publicKeysOf({ seed, peers }: Site): { readonly peerId: string; readonly publicKey: string }[] {
  return peers.map(({ peerId }, n) => {
    const { x } = createPublicKey(privateKeyOf(seed, n)).export({ format: 'jwk' });
    return { peerId, publicKey: x! };
  });
}

/** Returns a kind that signs each request of `kind` when it is sent. The head of a request in bytes must be ASCII. */
export function signedKind(kind: Kind, site: Site): Kind {
  const keys = new Map<Credentials, KeyObject>(site.peers.map((peer, n) => [peer, privateKeyOf(site.seed, n)]));
  return {
    ...kind,
    name: `signed ${kind.name}`,
    request(i, connection) {
      const peer = peerOf(site, connection);
      const request = kind.request(i, connection);
      const text = typeof request === 'string' ? request : Buffer.from(request).toString('latin1');
      const end = text.indexOf('\r\n\r\n');
      const [, path = ''] = text.slice(0, end).split(' ', 2);
      const body = text.slice(end + 4);
      const digest = `sha-256=:${hash('sha256', body, 'base64')}:`;
      const params = `("@method" "@path" "content-digest" "x-peer-api-key");created=${Math.floor(Date.now() / 1000)};nonce="${i}"`;
      const base = `"@method": POST\n"@path": ${path}\n"content-digest": ${digest}\n"x-peer-api-key": ${peer.apiKey}\n"@signature-params": ${params}`;
      const signature = sign(null, Buffer.from(base), keys.get(peer)!).toString('base64');
      return `${text.slice(0, end)}\r\ncontent-digest: ${digest}\r\nsignature-input: sig1=${params}\r\nsignature: sig1=:${signature}:\r\n\r\n${body}`;
    },
  };
}

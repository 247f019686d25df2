/** The client that commands of `ptf-peer` work with. */
import type { TrustClientOptions } from '../../client/client-options.js';
import { TrustClient } from '../../client/trust-client.js';
import type { PeerConfig } from '../config/peer-config.js';

/** A client of the configured peer that takes player ids as canonical already: the commands bring them into that form. */
export function peerClient(
  { url, peerId, apiKey, groupSalt, signingKey }: PeerConfig,
  more: Partial<TrustClientOptions> = {},
): TrustClient {
  return new TrustClient({ url, peerId, apiKey, groupSalt, signingKey, playerIdKinds: null, ...more });
}

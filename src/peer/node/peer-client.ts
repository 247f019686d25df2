/** Creates the client that the commands of `ptf-peer` use. */
import type { TrustClientOptions } from '../../client/client-options.js';
import { TrustClient } from '../../client/trust-client.js';
import type { PeerConfig } from '../config/peer-config.js';

/** Creates a client for which ids are canonical already, because the commands convert them. */
export function peerClient(
  { url, peerId, apiKey, groupSalt, signingKey }: PeerConfig,
  more: Partial<TrustClientOptions> = {},
): TrustClient {
  return new TrustClient({ url, peerId, apiKey, groupSalt, signingKey, playerIdKinds: null, ...more });
}

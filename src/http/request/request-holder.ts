/** Returns the holder to which the resources of a request are charged: the peer, or the address if no peer acts. */
import type { PeerView } from '../../group/api.js';
import type { Holder } from '../../group/holder.js';
import { addressKeyOf } from '../../validation/address-key.js';
import type { Remote } from './request.js';

export function holderOf(caller: PeerView | null, remote: Remote): Holder {
  return caller === null ? addressKeyOf(remote.remoteAddress) : caller.index;
}

/** Whose room a request takes. */
import type { PeerView } from '../../group/api.js';
import type { Holder } from '../../group/holder.js';
import { addressKeyOf } from './rate-limits.js';
import type { Remote } from './request.js';

/** The caller's number; its address where no peer acts. */
export function holderOf(caller: PeerView | null, remote: Remote): Holder {
  return caller === null ? addressKeyOf(remote.remoteAddress) : caller.index;
}

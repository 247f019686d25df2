/** Caches the list of the group's peers, under their display names, for some seconds. */
import type { ListedPeerValue } from '../../../operations/peer-operations.js';
import type { Values } from '../../../operations/table.js';
import { displayName } from './format.js';
import { command } from './requests.js';

const pageSize = 200;
const pauseMs = 5_000;

export class Peers {
  #listed: Promise<readonly ListedPeerValue[]> | null = null;
  #listedAt = Number.NEGATIVE_INFINITY;

  list(): Promise<readonly ListedPeerValue[]> {
    return this.#listed === null || performance.now() >= this.#listedAt + pauseMs ? this.reload() : this.#listed;
  }

  reload(): Promise<readonly ListedPeerValue[]> {
    this.#listedAt = performance.now();
    const listing = all();
    this.#listed = listing;
    // A failed read is repeated at the next call.
    listing.catch(() => {
      if (this.#listed === listing) this.#listed = null;
    });
    return listing;
  }
}

export function namesOf(peers: readonly ListedPeerValue[]): ReadonlyMap<string, string> {
  return new Map(peers.map(({ peer_id, peer_name }) => [peer_id, peer_name]));
}

async function all(): Promise<readonly ListedPeerValue[]> {
  const peers: ListedPeerValue[] = [];
  let from: number | null = 0;
  while (from !== null) {
    const page: Values['peers-list'] = await command('peers-list', { from, limit: pageSize });
    peers.push(...page.data.map((peer) => ({ ...peer, peer_name: displayName(peer.peer_name, peer.peer_id) })));
    from = page.next_from;
  }
  return peers;
}

/** Caches the list of the group's peers, under their display names, and reads it again when the log has grown. */
import type { ListedPeerValue } from '../../../operations/peer-operations.js';
import type { Values } from '../../../operations/table.js';
import { displayName } from './format.js';
import type { Live } from './live-overview.js';
import { command } from './requests.js';

const pageSize = 200;
/** Least time between two reads of the list, because a busy log grows all the time. */
const pauseMs = 5_000;

export class Peers {
  readonly #live: Live;
  #listed: Promise<readonly ListedPeerValue[]> | null = null;
  #listedAt = Number.NEGATIVE_INFINITY;
  #atSeq = -1;

  constructor(live: Live) {
    this.#live = live;
  }

  /** Returns all peers, oldest first; reads the list again if something changed since. */
  list(): Promise<readonly ListedPeerValue[]> {
    const isOld = this.#lastSeq !== this.#atSeq && performance.now() >= this.#listedAt + pauseMs;
    return this.#listed === null || isOld ? this.reload() : this.#listed;
  }

  reload(): Promise<readonly ListedPeerValue[]> {
    this.#atSeq = this.#lastSeq;
    this.#listedAt = performance.now();
    const listing = all();
    this.#listed = listing;
    // A failed read is repeated at the next call.
    listing.catch(() => {
      if (this.#listed === listing) this.#listed = null;
    });
    return listing;
  }

  get #lastSeq(): number {
    return this.#live.overview?.status.last_seq ?? -1;
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

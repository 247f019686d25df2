/** Reads public facts about a node, its group and its peers that the client has no call for. */
import { poolTransport, type Transport, TrustClient, type TrustClientOptions, TrustError } from '../../client/entry.js';
import { answerOf, bounds, Caller, isRecord, ReadFloor, readText, systemRuntime } from '../../client/for-peer.js';
import type { PeerConfig } from '../config/peer-config.js';

/** From `GET /peers`. An older node may lack members: the salt check is null, the list of kinds empty. */
export interface GroupFacts {
  readonly groupId: string;
  /** True if players are known by verified identity tokens, as in the mode of high security. */
  readonly isOfTokens: boolean;
  readonly saltCheck: string | null;
  readonly playerIdKinds: readonly string[];
}

export type PeerStatus = 'active' | 'suspended' | 'revoked';

/** The header `Date` is truncated to seconds. */
const headerDateMs = 1_000;

const statuses: readonly string[] = ['active', 'suspended', 'revoked'] satisfies PeerStatus[];

export class NodeReader {
  readonly #transport: Transport;
  readonly #caller: Caller;
  readonly #stop = new AbortController();

  constructor(url: string) {
    this.#transport = poolTransport(url, { connections: 1 });
    this.#caller = new Caller([this.#transport], systemRuntime, new ReadFloor(systemRuntime));
  }

  /** Rejects with a `TrustError` if the node does not answer, or its answer does not follow the contract. */
  async group(): Promise<GroupFacts> {
    const { group } = await this.#peers('limit=1');
    if (!isRecord(group) || typeof group.group_id !== 'string') throw notTheContract();
    const { salt_check: saltCheck, player_id_kinds: kinds } = group;
    return {
      groupId: group.group_id,
      isOfTokens: group.identity_mode === 'high-security',
      saltCheck: typeof saltCheck === 'string' ? saltCheck : null,
      playerIdKinds: Array.isArray(kinds) ? kinds.filter((kind) => typeof kind === 'string') : [],
    };
  }

  /** Returns the status of a peer; null if the group has no such peer. */
  async statusOf(peerId: string): Promise<PeerStatus | null> {
    let cursor: string | null = null;
    for (let page = 0; page < bounds.peerPagesMax; page++) {
      const at: string = cursor === null ? '' : `&cursor=${encodeURIComponent(cursor)}`;
      const { data, next_cursor } = await this.#peers(`limit=200${at}`);
      if (!Array.isArray(data)) throw notTheContract();
      const found: unknown = data.find((peer) => isRecord(peer) && peer.peer_id === peerId);
      if (isRecord(found)) return statuses.includes(String(found.status)) ? (found.status as PeerStatus) : null;
      if (typeof next_cursor !== 'string') return null;
      cursor = next_cursor;
    }
    return null;
  }

  /**
   * How far this machine's clock is ahead, in ms, give or take a second; null if the node sends no time. Rejects if the
   * node does not answer.
   */
  async clockAheadMs(): Promise<number | null> {
    const began = Date.now();
    const signal = AbortSignal.any([this.#stop.signal, AbortSignal.timeout(bounds.peerCallMs)]);
    const response = await answerOf(this.#transport, { method: 'GET', path: '/api/v1/health', headers: {}, signal });
    const at = Date.parse(response.header('date') ?? '');
    await readText(response);
    return Number.isNaN(at) ? null : Math.round((began + Date.now()) / 2 - at - headerDateMs / 2);
  }

  async close(): Promise<void> {
    this.#stop.abort(new TrustError('closed', 'the reader is closed'));
    await this.#transport.close();
  }

  async #peers(query: string): Promise<Record<string, unknown>> {
    const { body } = await this.#caller.call({
      method: 'GET',
      path: `/api/v1/peers?${query}`,
      repeat: 'always',
      attemptMs: bounds.peerCallMs,
      deadlineMs: bounds.peerDeadlineMs,
      signal: this.#stop.signal,
    });
    if (!isRecord(body)) throw notTheContract();
    return body;
  }
}

function notTheContract(): TrustError {
  return new TrustError('unexpected_answer', 'the answer to GET /peers does not follow the contract');
}

/** Creates a client for which ids are canonical already, because the commands convert them. */
export function peerClient(
  { url, peerId, apiKey, groupSalt, signingKey }: PeerConfig,
  more: Partial<TrustClientOptions> = {},
): TrustClient {
  return new TrustClient({ url, peerId, apiKey, groupSalt, signingKey, playerIdKinds: null, ...more });
}

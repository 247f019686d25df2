/**
 * The client's own cache as one more reader of the stream: its connection is cut at random, and the node moves beneath
 * it.
 */
import { poolTransport } from '../../src/client/transport/pool-transport.js';
import type { Transport, TransportRequest } from '../../src/client/transport/transport.js';
import { TrustClient } from '../../src/client/trust-client.js';
import type { Random } from '../support/random.js';
import type { PublishedValues } from '../support/stream-reader.js';

/** Longest life of a stream while the reader is restless, ms. */
const lifeMsMax = 300;

export class ClientReader {
  readonly #client: TrustClient;
  readonly #random: Random;
  #transport: Transport | null = null;
  #staying = false;
  /** Streams that were asked for. */
  connections = 0;

  constructor(groupSalt: string, peerId: string, apiKey: string, random: Random) {
    this.#random = random;
    const transport: Transport = {
      request: (request) => this.#request(request),
      close: async () => this.#transport?.close(),
    };
    this.#client = new TrustClient({ url: 'http://node.invalid', groupSalt, peerId, apiKey, transport });
    this.#client.follow();
  }

  use(url: string): void {
    void this.#transport?.close().catch(() => undefined);
    this.#transport = poolTransport(url);
    this.#staying = false;
  }

  stay(): void {
    this.#staying = true;
  }

  /** Returns the cached trust of the players; throws if the reader has to ask the node. */
  async table(subjectHashes: readonly string[]): Promise<Map<string, PublishedValues>> {
    const table = new Map<string, PublishedValues>();
    for (const { playerId, source, known, score, confidence, verdict } of await this.#client.scores([
      ...subjectHashes,
    ])) {
      if (source !== 'cache') throw new Error(`the client answered from ${source}`);
      if (known) table.set(playerId, { score, confidence, verdict });
    }
    return table;
  }

  async close(): Promise<void> {
    await this.#client.close();
  }

  #request(request: TransportRequest): ReturnType<Transport['request']> {
    if (this.#transport === null) throw new Error('there is no node yet');
    if (!request.path.endsWith('/verdicts/stream')) return this.#transport.request(request);
    this.connections++;
    if (this.#staying) return this.#transport.request(request);
    const cut = AbortSignal.timeout(1 + this.#random.below(lifeMsMax));
    return this.#transport.request({ ...request, signal: AbortSignal.any([request.signal, cut]) });
  }
}

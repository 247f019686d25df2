/**
 * The clients of the fault harness: peers that write through the client of the project, readers of each node, streaming
 * caches, withdrawals and erasures. They record all answers in the history.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { salt } from '../../bench/cluster/node-group.js';
import type { Feed, RegisteredPeer } from '../../src/client/call-types.js';
import { subjectHash } from '../../src/client/ids/subject.js';
import { TrustClient } from '../../src/client/trust-client.js';
import { TrustError } from '../../src/client/trust-error.js';
import { closing } from '../support/closing.js';
import { Random } from '../support/random.js';
import { differences } from '../support/stream-reader.js';
import type { History, Outcome } from './history.js';
import type { ClusterNode } from './nodes.js';

const players = 200;
const types = ['report_cheating', 'commendation', 'ban_applied', 'report_toxicity'] as const;
const batchEvents = 20;
/** Pauses between the calls of one client, so that the nodes have most of the processor. */
const writePauseMs = 30;
const readPauseMs = 100;
/** Every second removal is an erasure, which makes all nodes overwrite their files and etcd defragment its own. */
const removalPauseMs = 2_000;
const writtenPollMs = 20;
/** Longer than a takeover, so that an unknown outcome is rare. */
const deadlineMs = 30_000;
/** A streaming cache must have the node's values within this time at the end. */
const settleMs = 60_000;

const everyHash = Array.from({ length: players }, (_, i) => subjectHash(`player-${i}`, salt));

/** One call of a client. `code` is `ok` or the error. */
export interface Call {
  readonly startedAt: number;
  readonly endedAt: number;
  readonly code: string;
}

export class Load {
  readonly history: History;
  readonly writes: Call[] = [];
  /** Reads of single nodes. */
  readonly reads: Call[] = [];
  /** Reads through the client, which tries all nodes. */
  readonly clientReads: Call[] = [];
  /** Players whose erasure was acknowledged. No file may contain their bytes after a scrub. */
  readonly erased: { readonly hash: string; readonly eventIds: readonly string[] }[] = [];
  readonly #nodes: readonly ClusterNode[];
  readonly #random: Random;
  readonly #clients: TrustClient[] = [];
  readonly #feeds: Feed[] = [];
  readonly #running: Promise<void>[] = [];
  /** Distinguishes the event ids of several loads of one group. */
  readonly #name: string;
  #key = '';
  #isOver = false;
  #serial = 0;

  constructor(nodes: readonly ClusterNode[], history: History, seed: number, name = 'load') {
    this.#name = name;
    this.#nodes = nodes;
    this.history = history;
    this.#random = new Random(seed);
  }

  /** Registers the peers and starts all clients. */
  async start({ writers = 3, streams = 2 } = {}): Promise<void> {
    for (let i = 0; i < writers; i++) {
      const client = await this.#newPeer(i);
      this.#running.push(this.#write(client, i), this.#remove(client, i));
    }
    for (let i = 0; i < streams; i++) this.#follow(i);
    for (const node of this.#nodes) this.#running.push(this.#read(node));
    this.#running.push(this.#readByClient());
  }

  /** Resolves once `count` writes that started after the call are acknowledged. Rejects if that takes too long. */
  async written(count: number): Promise<void> {
    const since = performance.now();
    const begin = this.writes.length;
    const isLater = ({ startedAt, code }: Call) => startedAt > since && code === 'ok';
    const until = since + settleMs;
    const acknowledged = () => this.writes.slice(begin).filter(isLater).length;
    while (acknowledged() < count) {
      if (performance.now() > until) throw new Error(`${acknowledged()} of ${count} writes were acknowledged`);
      await delay(writtenPollMs);
    }
  }

  /** Stops writers and readers. The streams continue. */
  async stopWriting(): Promise<void> {
    this.#isOver = true;
    await Promise.all(this.#running);
  }

  /** Returns the differences between the streaming caches and the answers of a node, once the caches have settled. */
  async streamDifferences(url: string): Promise<string[]> {
    const found: string[] = [];
    for (const [place, client] of this.#clients.entries()) {
      if (this.#feeds[place] === undefined) continue;
      found.push(...(await this.#settledStream(client, url)).map((text) => `stream ${place}: ${text}`));
    }
    return found;
  }

  async close(): Promise<void> {
    this.#isOver = true;
    await Promise.all(this.#clients.map((client) => client.close()));
  }

  /** Returns the addresses of the nodes. Each client prefers another node. */
  #urlsFrom(first: number): string[] {
    return this.#nodes.map((_, index) => this.#nodes[(first + index) % this.#nodes.length]!.url);
  }

  async #newPeer(i: number): Promise<TrustClient> {
    const anonymous = new TrustClient({ url: this.#urlsFrom(i), attemptMs: deadlineMs, deadlineMs });
    const { peerId, apiKey } = await registered(anonymous, `writer ${i}`);
    await anonymous.close();
    this.#key ||= apiKey;
    const client = new TrustClient({ url: this.#urlsFrom(i), peerId, apiKey, groupSalt: salt, deadlineMs });
    this.#clients.push(client);
    return client;
  }

  #follow(i: number): void {
    const feed = this.#clients[i]!.follow();
    this.#feeds[i] = feed;
    const note = async () => {
      let last = -1;
      while (!this.#isOver) {
        const { phase, seq } = feed.state;
        if (phase === 'live' && seq !== last) {
          last = seq;
          this.history.streams.push({ reader: `stream ${i}`, seq, isReset: false });
        }
        await delay(50);
      }
    };
    this.#running.push(note());
  }

  async #write(client: TrustClient, i: number): Promise<void> {
    while (!this.#isOver) {
      const count = this.#random.below(3) === 0 ? batchEvents : 1;
      const events = Array.from({ length: count }, () => ({
        eventType: this.#random.pick(types),
        playerId: `player-${this.#random.below(players)}`,
        gameId: 'g',
        severity: this.#random.below(101) / 100,
        eventId: `${this.#name}-w${i}-${this.#serial++}`,
      }));
      const startedAt = performance.now();
      let outcomes: Outcome[];
      let code = 'ok';
      try {
        const { results } = await client.submitMany(events);
        outcomes = results.map(({ status }) => (status === 'rejected' ? 'refused' : 'acknowledged'));
      } catch (error) {
        code = codeOf(error);
        outcomes = events.map(() => outcomeOf(error));
      }
      const endedAt = performance.now();
      this.writes.push({ startedAt, endedAt, code });
      for (const [index, { eventId, playerId }] of events.entries()) {
        const outcome = outcomes[index]!;
        this.history.events.push({ id: eventId, player: playerId, startedAt, endedAt, outcome });
      }
      await delay(writePauseMs);
    }
  }

  /** Writes events, and then withdraws one of them or erases their player. */
  async #remove(client: TrustClient, i: number): Promise<void> {
    for (let n = 0; !this.#isOver; n++) {
      await delay(removalPauseMs * (0.5 + this.#random.next()));
      const player = `${this.#name}-removed-${i}-${n}`;
      const eventIds = [0, 1, 2].map((at) => `${this.#name}-r${i}-${n}-${at}-removed`);
      const outcomes = await Promise.all(eventIds.map((eventId) => this.#submitOne(client, player, eventId)));
      if (n % 2 === 0) {
        const [target] = eventIds as [string];
        await this.#removal('withdraw', target, client.withdraw(target));
      } else {
        const outcome = await this.#removal('erase', player, client.eraseSubject(player));
        if (outcome === 'acknowledged' && !outcomes.includes('unknown')) {
          this.erased.push({ hash: subjectHash(player, salt), eventIds });
        }
      }
    }
  }

  async #submitOne(client: TrustClient, player: string, eventId: string): Promise<Outcome> {
    const startedAt = performance.now();
    const event = { eventType: 'report_toxicity', playerId: player, gameId: 'g', severity: 0.5, eventId } as const;
    const outcome = await outcomeAfter(client.submit(event));
    this.history.events.push({ id: eventId, player, startedAt, endedAt: performance.now(), outcome });
    return outcome;
  }

  async #removal(kind: 'withdraw' | 'erase', target: string, work: Promise<unknown>): Promise<Outcome> {
    const outcome = await outcomeAfter(work);
    this.history.removals.push({ kind, target, outcome });
    return outcome;
  }

  /** Reads from one node until the end. */
  async #read(node: ClusterNode): Promise<void> {
    while (!this.#isOver) {
      const startedAt = performance.now();
      let code: string;
      try {
        const path = `/api/v1/trust-scores?ids=${this.#random.pick(everyHash)}`;
        const response = await fetch(node.url + path, { signal: AbortSignal.timeout(1_000) });
        const body = (await response.json()) as { code?: string };
        code = response.status === 200 ? 'ok' : String(body.code ?? response.status);
        const seq = response.headers.get('x-applied-seq');
        if (response.status === 200 && seq !== null) {
          const at = performance.now();
          // A restarted node is another session.
          const session = `${node.name}#${node.isUp ? node.child.child.pid : 'down'}`;
          this.history.reads.push({ reader: 'reader', node: session, at, appliedSeq: Number(seq) });
        }
      } catch (error) {
        code = error instanceof Error ? error.name : 'error';
      }
      this.reads.push({ startedAt, endedAt: performance.now(), code });
      await delay(readPauseMs);
    }
  }

  /** Reads through the client without a cache, like a match server. */
  async #readByClient(): Promise<void> {
    await using client = closing(new TrustClient({ url: this.#urlsFrom(0), groupSalt: salt }));
    while (!this.#isOver) {
      const startedAt = performance.now();
      const { source, cause } = await client.score(`player-${this.#random.below(players)}`);
      this.clientReads.push({
        startedAt,
        endedAt: performance.now(),
        code: source === 'node' ? 'ok' : `${source} ${cause}`,
      });
      await delay(readPauseMs);
    }
  }

  async #settledStream(client: TrustClient, url: string): Promise<string[]> {
    const until = performance.now() + settleMs;
    for (;;) {
      const table = new Map();
      let origin = '';
      for (const { playerId, source, known, score, confidence, verdict } of await client.scores(everyHash)) {
        if (source !== 'cache') origin = `a read came from ${source}`;
        if (known) table.set(playerId, { score, confidence, verdict });
      }
      const found = origin === '' ? await differences(url, this.#key, table, everyHash) : [origin];
      if (found.length === 0 || performance.now() > until) return found.slice(0, 3);
      await delay(200);
    }
  }
}

/** Registers a peer. Registers another one if the answer is lost. */
async function registered(client: TrustClient, peerName: string): Promise<RegisteredPeer> {
  const until = performance.now() + settleMs;
  for (;;) {
    try {
      return await client.register({ peerName, gameIds: ['g'] });
    } catch (error) {
      if (performance.now() > until) throw error;
    }
  }
}

/** Returns `refused` for a final refusal. After any other error the event may be stored. */
function outcomeOf(error: unknown): Outcome {
  if (!(error instanceof TrustError)) throw error;
  const { status = 500, outcomeUnknown, code } = error;
  const isFinal = status >= 400 && status < 500 && status !== 408 && status !== 429;
  return isFinal && !outcomeUnknown && code !== 'unexpected_answer' ? 'refused' : 'unknown';
}

const outcomeAfter = (work: Promise<unknown>): Promise<Outcome> => work.then(() => 'acknowledged', outcomeOf);

const codeOf = (error: unknown): string => (error instanceof TrustError ? error.code : String(error));

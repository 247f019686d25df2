/** Reads of scores within a time budget: from the cache where it is current, else by match reads, else by a marked fallback. */
import type { MatchScoresBody } from '../http/contract/response-bodies.js';
import { bounds } from './bounds.js';
import { type Caller, isRecord } from './caller.js';
import { type PlayerTrust, type TrustValues, unknownPlayer } from './player-trust.js';
import type { Runtime } from './runtime.js';
import { valuesOf } from './stream-frames.js';
import { loneSurrogate } from './subject.js';
import { isTrouble, TrustError, type TrustErrorCode } from './trust-error.js';
import type { Row, TrustTable } from './trust-table.js';
import type { VerdictFeed } from './verdict-feed.js';

/**
 * What a read answers where the node does not, or not in time: the `last-known` values with their age where there are any, else neutral; or
 * always `neutral`.
 * @public
 */
export type Fallback = 'last-known' | 'neutral';

/** The match read's row of a player without events. */
type UnknownRow = Extract<MatchScoresBody['data'][number], { readonly code: unknown }>;

/** What is known of a player, whatever the caller calls it. */
type Found = Omit<PlayerTrust, 'playerId'>;

/** One player of a read: what is asked, under which key it is remembered. */
interface Wanted {
  readonly key: string;
  /** As it goes to the node: the subject hash where the client has the salt. */
  readonly sentId: string;
}

export interface ReaderOptions {
  readonly caller: Caller;
  readonly runtime: Runtime;
  readonly table: TrustTable;
  readonly prefix: string;
  /** The subject hash of an id, or the id itself where the client has no salt. */
  readonly sentId: (playerId: string) => string;
  readonly feed: () => VerdictFeed | null;
}

export interface Read {
  readonly budgetMs: number;
  readonly fallback: Fallback;
  readonly signal: AbortSignal | undefined;
}

export class ScoreReader {
  readonly #options: ReaderOptions;

  constructor(options: ReaderOptions) {
    this.#options = options;
  }

  /** One entry per id, in order. Rejects for faults of the caller only: a node in trouble is answered by the fallback. */
  async scores(playerIds: readonly string[], read: Read): Promise<PlayerTrust[]> {
    const wanted = playerIds.map((playerId) => this.#wanted(playerId));
    const local = this.#local(wanted);
    if (local !== null) return local.map((trust, index) => ({ playerId: playerIds[index]!, ...trust }));

    const missing = new Map<string, Wanted>();
    const found = new Map<string, Found>();
    for (const one of wanted) {
      const trust = this.#fromCache(one.key);
      if (trust === null) missing.set(one.key, one);
      else found.set(one.key, trust);
    }
    await Promise.all(chunksOf([...missing.values()]).map((chunk) => this.#readChunk(chunk, read, found)));
    return wanted.map(({ key }, index) => ({ playerId: playerIds[index]!, ...found.get(key)! }));
  }

  #wanted(playerId: string): Wanted {
    if (typeof playerId !== 'string' || playerId === '' || playerId.length > 2 * bounds.playerIdLength) {
      throw new TrustError('invalid_argument', `a player id is a string of 1 to ${bounds.playerIdLength} characters`);
    }
    if (loneSurrogate.test(playerId)) throw new TrustError('invalid_argument', 'a player id holds half of a character');
    const sentId = this.#options.sentId(playerId);
    return { key: sentId, sentId };
  }

  /** The whole read from the cache, or null where a player is missing there. */
  #local(wanted: readonly Wanted[]): Found[] | null {
    if (this.#options.feed()?.isFresh !== true) return null;
    const found: Found[] = [];
    for (const { key } of wanted) {
      const trust = this.#fromCache(key);
      if (trust === null) return null;
      found.push(trust);
    }
    return found;
  }

  #fromCache(key: string): Found | null {
    const feed = this.#options.feed();
    if (feed?.isFresh !== true) return null;
    const row = this.#options.table.get(key);
    if (row === undefined) {
      return this.#options.table.complete ? { ...unknownPlayer, source: 'cache', asOf: feed.asOf, cause: null } : null;
    }
    return { ...row.values, source: 'cache', asOf: feed.asOf, cause: null };
  }

  async #readChunk(
    chunk: readonly Wanted[],
    { budgetMs, fallback, signal }: Read,
    found: Map<string, Found>,
  ): Promise<void> {
    const { caller, runtime, table, prefix } = this.#options;
    const tokens = chunk.map(({ key }) => table.reading(key));
    try {
      const ids = chunk.map(({ sentId }) => encodeURIComponent(sentId)).join(',');
      const limits = { repeat: 'always', attemptMs: budgetMs, deadlineMs: budgetMs, signal } as const;
      const { body } = await caller.call({ method: 'GET', path: `${prefix}/trust-scores?ids=${ids}`, ...limits });
      const values = matchValues(body, chunk.length);
      const at = runtime.elapsedMs();
      const asOf = runtime.now();
      for (const [index, token] of tokens.entries()) {
        table.answered(token, values[index]!, at);
        found.set(token.key, { ...values[index]!, source: 'node', asOf, cause: null });
      }
    } catch (error) {
      if (!(error instanceof TrustError) || !isTrouble(error)) throw error;
      for (const { key } of tokens) found.set(key, this.#fallen(key, fallback, error.code));
    } finally {
      table.done(tokens);
    }
  }

  #fallen(key: string, fallback: Fallback, cause: TrustErrorCode): Found {
    const row = fallback === 'neutral' ? undefined : this.#options.table.get(key);
    const asOf = row === undefined ? null : this.#asOfRow(row);
    if (row === undefined || asOf === null) return { ...unknownPlayer, source: 'assumed', asOf: null, cause };
    return { ...row.values, source: 'last-known', asOf, cause };
  }

  /** When a row was last true, by this machine's clock: when it came, or later where the stream kept it current. Null: too long ago. */
  #asOfRow({ at }: Row): number | null {
    const { runtime, feed } = this.#options;
    const cameAt = runtime.now() - Math.round(runtime.elapsedMs() - at);
    const asOf = Math.max(cameAt, feed()?.asOf ?? cameAt);
    return runtime.now() - asOf <= bounds.lastKnownMs ? asOf : null;
  }
}

/** Pieces of at most one call each, by count and by the length of the encoded ids. */
function chunksOf(wanted: readonly Wanted[]): Wanted[][] {
  const chunks: Wanted[][] = [];
  let room = 0;
  for (const one of wanted) {
    const bytes = encodeURIComponent(one.sentId).length + 1;
    const last = chunks.at(-1);
    if (last === undefined || last.length === bounds.scoresPerCall || bytes > room) {
      chunks.push([one]);
      room = bounds.idsBytes - bytes;
    } else {
      last.push(one);
      room -= bytes;
    }
  }
  return chunks;
}

/** The values of a match read, in its order. */
function matchValues(body: unknown, count: number): TrustValues[] {
  const rows = isRecord(body) ? body.data : undefined;
  if (!Array.isArray(rows) || rows.length !== count) throw notTheContract();
  return rows.map((row: unknown) => {
    if (!isRecord(row)) throw notTheContract();
    if (row.code === ('player_not_found' satisfies UnknownRow['code'])) return unknownPlayer;
    const values = valuesOf(row);
    if (values === null) throw notTheContract();
    return values;
  });
}

function notTheContract(): TrustError {
  return new TrustError('unexpected_answer', 'the answer to a match read does not hold to the contract', {
    status: 200,
  });
}

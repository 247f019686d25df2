/** Reads scores within a time budget: from the cache if it is current, else from the node, else a marked fallback. */
import type { MatchScoresBody } from '../../contract/response-bodies.js';
import { bounds } from '../bounds.js';
import type { Fallback } from '../call-types.js';
import type { VerdictFeed } from '../feed/live-feed.js';
import { valuesOf } from '../feed/stream-frames.js';
import type { TrustTable } from '../feed/trust-table.js';
import type { SaltCheck } from '../ids/salt-check.js';
import { isSubjectHash } from '../ids/subject.js';
import { isRecord } from '../json-text.js';
import { type PlayerTrust, type TrustValues, unknownPlayer } from '../player-trust.js';
import { type Answer, type Caller, notTheContract } from '../transport/caller.js';
import { warnOnce } from '../transport/listeners.js';
import { splitUp } from '../transport/split-up.js';
import { type AgeClock, isTime, type Runtime, within } from '../transport/time.js';
import { invalidArgument, isRetryable, namingEach, TrustError, type TrustErrorCode } from '../trust-error.js';

/** Throws `invalid_argument` for any other value, which would otherwise act like one of these. */
export function checkFallback(fallback: Fallback): void {
  if (fallback !== 'last-known' && fallback !== 'neutral') {
    throw invalidArgument('fallback must be last-known or neutral');
  }
}

/** Refusals of ids. A read has no key, so that any other refusal comes from the way to the node, such as a gateway. */
const codesOfIds: readonly TrustErrorCode[] = ['invalid_parameter', 'subject_hash_required', 'player_id_not_canonical'];

/** The row of a player without events in the answer to a read of scores. */
type UnknownRow = Extract<MatchScoresBody['data'][number], { readonly code: unknown }>;

interface Found extends Pick<PlayerTrust, 'source' | 'asOf' | 'cause'> {
  readonly values: TrustValues;
}

/** The values of a player whose hash was made with a salt that is not the group's. */
const foreignHash: Found = { values: unknownPlayer, source: 'assumed', asOf: null, cause: 'salt_mismatch' };

export interface ReaderOptions {
  readonly caller: Caller;
  readonly runtime: Runtime;
  readonly ages: AgeClock;
  readonly table: TrustTable;
  /** The subject hash of an id, or the id itself if the client has no salt. Throws `invalid_argument`. */
  readonly sentId: (playerId: string) => string;
  /** Null if ids are not hashed here. */
  readonly salt: SaltCheck | null;
  /** True if the node must state the kinds of the group's ids before an id is looked up. */
  readonly needsKinds: boolean;
  readonly feed: () => VerdictFeed | null;
}

export interface Read {
  readonly budgetMs: number;
  readonly fallback: Fallback;
  readonly signal: AbortSignal | undefined;
}

export class ScoreReader {
  /** Bytes of ids in one call; less once a proxy has refused an address as too long. */
  #idsBytes: number = bounds.idsBytes;

  constructor(private readonly options: ReaderOptions) {}

  /** One entry per id, in order. Rejects only for errors of the caller; else the fallback answers. */
  async scores(playerIds: readonly string[], read: Read): Promise<PlayerTrust[]> {
    if (!isTime(read.budgetMs)) throw invalidArgument(`budgetMs must be a number of at most ${bounds.timerMsMax}`);
    checkFallback(read.fallback);
    // The text that is sent to the node is also the key of a remembered player.
    const { runtime, salt, sentId, needsKinds, feed } = this.options;
    const endsAt = runtime.elapsedMs() + read.budgetMs;
    const leftMs = () => Math.max(0, endsAt - runtime.elapsedMs());
    if (needsKinds && salt !== null && salt.kinds === undefined) await this.#verifySalt(read);
    const keys = namingEach('playerIds', playerIds, sentId);
    const cached = this.#fromCache(keys);
    const missing = [...new Set(keys.filter((_, index) => cached[index] === undefined))];
    const chunks = splitUp(missing, bounds.scoresPerCall, this.#idsBytes, (key) => encodeURIComponent(key).length + 3);
    const found = new Map<string, Found>();
    const readMissing = (budgetMs: number) =>
      Promise.all(chunks.map((chunk) => this.#readChunk(chunk, { ...read, budgetMs }, found)));
    const verified = missing.length > 0 ? this.#verifySalt({ ...read, budgetMs: leftMs() }) : undefined;
    const wasForeign = (salt?.mismatch ?? null) !== null;
    if (!wasForeign) await readMissing(leftMs());
    await verified;
    const mismatch = salt?.mismatch ?? null;
    if (mismatch !== null) {
      // A feed reports the mismatch itself.
      if (feed() === null) warnOnce(mismatch);
      return playerIds.map((id) => trustOf(id, foreignHash));
    }
    // A new check has shown that the salt is the group's after all; nothing was read before.
    if (wasForeign) await readMissing(leftMs());
    return keys.map((key, index) => trustOf(playerIds[index]!, cached[index] ?? found.get(key)!));
  }

  /** Resolves once the salt was compared with the group's, or when the read's budget is over. */
  async #verifySalt({ budgetMs, signal }: Read): Promise<void> {
    const { salt, runtime } = this.options;
    if (salt === null || salt.isSettled) return;
    // The read itself reports an error that prevents the node from answering.
    await within(runtime, budgetMs, signal, (ending) => salt.verify(ending)).catch(() => undefined);
  }

  /** The values of each key in the cache; undefined if they are not current or not held. */
  #fromCache(keys: readonly string[]): readonly (Found | undefined)[] {
    const { table, runtime } = this.options;
    const feed = this.options.feed();
    if (!feed?.isFresh) return [];
    const since = runtime.now() - table.answerMs;
    return keys.map((key) => {
      const held = this.#held(key);
      return held === undefined || held.asOf < since ? undefined : { ...held, source: 'cache', cause: null };
    });
  }

  async #readChunk(
    chunk: readonly string[],
    { budgetMs, fallback, signal }: Read,
    found: Map<string, Found>,
  ): Promise<void> {
    const { caller, runtime, ages, table } = this.options;
    // The node answers `ids` first. A comma within an id is one even if it is escaped.
    const [listed, single] = [chunk.filter((key) => !key.includes(',')), chunk.filter((key) => key.includes(','))];
    const tokens = [...listed, ...single].map((key) => table.reading(key));
    const endsAt = runtime.elapsedMs() + budgetMs;
    try {
      const ids = listed.length === 0 ? [] : [`ids=${listed.map(encodeURIComponent).join(',')}`];
      const query = [...ids, ...single.map((key) => `id=${encodeURIComponent(key)}`)].join('&');
      const limits = { repeat: 'always', attemptMs: budgetMs, deadlineMs: budgetMs, signal } as const;
      const answer = await caller.call({ method: 'GET', path: `/api/v1/trust-scores?${query}`, ...limits });
      const values = matchValues(answer, chunk.length);
      const at = ages.ms();
      const asOf = runtime.now();
      for (const [index, token] of tokens.entries()) {
        table.answered(token, values[index]!, at);
        found.set(token.key, { values: values[index]!, source: 'node', asOf, cause: null });
      }
    } catch (error) {
      if (error instanceof TrustError && tooLong.includes(error.code) && chunk.length > 1) {
        const bytes = chunk.reduce((sum, key) => sum + encodeURIComponent(key).length + 3, 0);
        this.#idsBytes = Math.max(bounds.idsBytesMin, Math.min(this.#idsBytes, Math.ceil(bytes / 2)));
        const halves = [chunk.slice(0, chunk.length / 2), chunk.slice(chunk.length / 2)];
        const read = { budgetMs: endsAt - runtime.elapsedMs(), fallback, signal };
        await Promise.all(halves.map((half) => this.#readChunk(half, read, found)));
        return;
      }
      if (!(error instanceof TrustError)) throw error;
      const isOfCaller = error.status === undefined ? !isRetryable(error) : codesOfIds.includes(error.code);
      if (isOfCaller) throw error;
      for (const { key } of tokens) found.set(key, this.#fallen(key, fallback, error.code));
    } finally {
      table.done(tokens);
    }
  }

  #fallen(key: string, fallback: Fallback, cause: TrustErrorCode): Found {
    const held = fallback === 'neutral' ? undefined : this.#held(key);
    if (held === undefined || this.options.runtime.now() - held.asOf > bounds.lastKnownMs) {
      return { values: unknownPlayer, source: 'assumed', asOf: null, cause };
    }
    return { ...held, source: 'last-known', cause };
  }

  /**
   * The published values, or the answer of a call if it arrived after the time up to which the stream is current.
   * `asOf`: the time at which they were last true, by this machine's clock.
   */
  #held(key: string): { readonly values: TrustValues; readonly asOf: number } | undefined {
    const { ages, table, feed } = this.options;
    const { published = null, answer = null } = table.get(key) ?? {};
    // A player that a complete stream did not publish has no events. The stream knows players by hash only.
    const isAbsent = published === null && table.complete && isSubjectHash(key);
    const values = isAbsent ? unknownPlayer : published?.values;
    const asOf = Math.max(published === null ? 0 : ages.wallAt(published.at), feed()?.asOf ?? 0);
    const answeredAt = answer === null ? 0 : ages.wallAt(answer.at);
    if (answer !== null && (values === undefined || asOf < answeredAt)) {
      return { values: answer.values, asOf: answeredAt };
    }
    return values && { values, asOf };
  }
}

/** The codes by which the node, or a proxy with a smaller bound, refuses an address. */
const tooLong: readonly TrustErrorCode[] = ['uri_too_long', 'headers_too_large'];

function trustOf(playerId: string, { values, source, asOf, cause }: Found): PlayerTrust {
  return { playerId, ...values, source, asOf, cause };
}

function matchValues(answer: Answer, count: number): TrustValues[] {
  const rows = isRecord(answer.body) ? answer.body.data : undefined;
  if (!Array.isArray(rows) || rows.length !== count) throw notTheContract(answer);
  return rows.map((row: unknown) => {
    if (!isRecord(row)) throw notTheContract(answer);
    if (row.code === ('player_not_found' satisfies UnknownRow['code'])) return unknownPlayer;
    const values = valuesOf(row);
    if (values === null) throw notTheContract(answer);
    return values;
  });
}

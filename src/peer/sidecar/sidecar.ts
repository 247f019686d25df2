/**
 * The sidecar of a game server: reads answered from the stream's cache, reports that are on disk before they are
 * answered, an allow list and a policy that may only watch. Raw player ids are hashed at once; nothing behind this file
 * sees one.
 */
import * as crypto from 'node:crypto';
import { join } from 'node:path';
import { bounds } from '../../client/bounds.js';
import { saltCheckOf } from '../../client/ids/salt-check.js';
import type { PlayerTrust } from '../../client/player-trust.js';
import { type PolicyMode, TrustPolicy } from '../../client/policy/policy.js';
import type { Feed } from '../../client/read/calls.js';
import { TrustClient } from '../../client/trust-client.js';
import { TrustError } from '../../client/trust-error.js';
import { EventSpool } from '../../client/write/spool/event-spool.js';
import type { PeerConfig } from '../config/peer-config.js';
import { NodeReader, type PeerStatus } from '../node/node-reader.js';
import { plainWords } from '../node/plain-words.js';
import { AllowFile } from './allow-file.js';
import type { AllowBody, ReportBody } from './bodies.js';
import { LocalError } from './local-error.js';
import { Problems } from './problems.js';

export interface SidecarOptions {
  readonly config: PeerConfig;
  /** `shadow`: every player passes, and `would` says what `enforce` would do. */
  readonly mode: PolicyMode;
  /** The verdicts that a player is restricted for. */
  readonly restrict: readonly PlayerTrust['verdict'][];
  /** Confidence from which on a verdict counts. */
  readonly confidenceMin: number;
  readonly playersMax: number;
  readonly version: string;
  readonly memory: () => { readonly rss: number; readonly heapUsed: number };
  /** Takes one line without a secret and without a player id. */
  readonly log: (line: string) => void;
}

type Action = 'pass' | 'restrict';

/** A player as the sidecar answers; the wire form. */
export interface PlayerAnswer {
  readonly player_id: string;
  readonly verdict: PlayerTrust['verdict'];
  readonly score: number;
  readonly confidence: number;
  /** False: the group holds no events of this player. */
  readonly known: boolean;
  readonly source: PlayerTrust['source'];
  /** RFC 3339; null where the values are assumed. */
  readonly as_of: string | null;
  /** Why the values come neither from the node nor from the cache; null where they do. */
  readonly cause: string | null;
  /** Whether the allow list lets the player pass; the verdict then is `neutral`. */
  readonly allowed: boolean;
  /** What the policy says to do, and what it would say if it were enforced. */
  readonly action: Action;
  readonly would: Action;
}

/** An id of a match that is none, such as a bot's. */
export interface RefusedId {
  readonly player_id: string;
  readonly code: string;
  readonly error: string;
}

export class Sidecar {
  readonly #options: SidecarOptions;
  readonly #client: TrustClient;
  readonly #feed: Feed;
  readonly #spool: EventSpool;
  readonly #allow: AllowFile;
  readonly #policy: TrustPolicy<Action>;
  readonly #reader: NodeReader;
  readonly #problems: Problems;
  readonly #startedAt = Date.now();
  readonly #timer: NodeJS.Timeout;
  #peerStatus: PeerStatus | 'unknown' = 'unknown';
  #refusedAt: number | null = null;
  #lastSetAside: { readonly code: string; readonly reason: string } | null = null;

  private constructor(
    options: SidecarOptions,
    parts: { client: TrustClient; spool: EventSpool; allow: AllowFile; problems: Problems },
  ) {
    this.#options = options;
    this.#client = parts.client;
    this.#spool = parts.spool;
    this.#allow = parts.allow;
    this.#problems = parts.problems;
    this.#reader = new NodeReader(options.config.url);
    this.#policy = new TrustPolicy<Action>({
      mode: options.mode,
      pass: 'pass',
      rule: ({ verdict, confidence }) =>
        options.restrict.includes(verdict) && confidence >= options.confidenceMin ? 'restrict' : 'pass',
      allowList: this.#allow.list,
    });
    this.#feed = this.#client.follow();
    this.#timer = setInterval(() => this.refresh(), bounds.sidecarWatchMs);
    this.#timer.unref();
  }

  /** Opens spool and allow list and begins to follow the stream; a node that does not answer keeps none of it back. */
  static async open(options: SidecarOptions): Promise<Sidecar> {
    const { url, peerId, apiKey, groupSalt, stateDir } = options.config;
    const problems = new Problems(options.log, Date.now);
    const allow = await AllowFile.open(join(stateDir, 'sidecar', 'allow.json'));
    const client = new TrustClient({ url, peerId, apiKey, groupSalt, playersMax: options.playersMax });
    let made: Sidecar | undefined;
    try {
      const spool = await EventSpool.open({
        folder: join(stateDir, 'spool', 'sidecar'),
        to: client,
        onSetAside: ({ code, reason }) => made?.takeSetAside(code, reason),
      });
      made = new Sidecar(options, { client, spool, allow, problems });
      return made;
    } catch (error) {
      await client.close();
      throw error;
    }
  }

  /** One entry per id, in order. Without a call of the network where the cache is current. */
  async players(ids: readonly string[]): Promise<(PlayerAnswer | RefusedId)[]> {
    const subjects = ids.map((id) => this.#subjectOf(id));
    const found = await this.#client.scores(subjects.filter((one) => typeof one === 'string'));
    let next = 0;
    return subjects.map((subject, index) => {
      if (typeof subject !== 'string') return { player_id: ids[index]!, code: subject.code, error: subject.message };
      return this.#answerOf(ids[index]!, found[next++]!);
    });
  }

  /** The trust of one player. Throws `invalid_parameter` where the id is none. */
  async player(id: string): Promise<PlayerAnswer> {
    const [trust] = await this.#client.scores([this.#requiredSubject(id)]);
    return this.#answerOf(id, trust!);
  }

  /** Resolves with the event's id once the report is on disk. */
  async report({ playerId, eventType, gameId, severity, eventId, at }: ReportBody): Promise<string> {
    return this.#spool.add({
      eventType,
      playerId: this.#requiredSubject(playerId),
      gameId,
      severity,
      at,
      eventId: eventId === undefined ? undefined : this.#eventIdOf(eventId),
    });
  }

  async allow({ playerId, until, note }: AllowBody): Promise<void> {
    await this.#allow.add(this.#requiredSubject(playerId), until, note);
  }

  /** Resolves with whether the player was on the list. */
  async disallow(playerId: string): Promise<boolean> {
    return this.#allow.remove(this.#requiredSubject(playerId));
  }

  /** Looks at the states of stream and spool, logs what changed, and retries a stream that was refused a while ago. */
  refresh(): void {
    const { url } = this.#options.config;
    const { phase, lastError } = this.#feed.state;
    const streamError = phase === 'live' || phase === 'snapshot' ? null : lastError;
    this.#problems.set('stream', streamError && { code: streamError.code, text: plainWords(streamError, url) });
    const { lastError: spoolError } = this.#spool.progress;
    this.#problems.set('spool', spoolError && { code: spoolError.code, text: plainWords(spoolError, url) });
    if (phase === 'live') this.#peerStatus = 'active';
    else if (streamError?.code === 'invalid_api_key') this.#peerStatus = 'unknown';
    if (phase !== 'refused') {
      this.#refusedAt = null;
      return;
    }
    const now = performance.now();
    if (this.#refusedAt === null) {
      this.#refusedAt = now;
      if (lastError?.code === 'peer_not_active') void this.#readPeerStatus();
    } else if (now - this.#refusedAt >= bounds.streamRefusedMs) {
      this.#refusedAt = null;
      this.#feed.retry();
    }
  }

  takeSetAside(code: string, reason: string): void {
    this.#lastSetAside = { code, reason };
    const error = new TrustError(code as TrustError['code'], reason);
    const text = `the node will never take a report as it is: ${plainWords(error, this.#options.config.url)}`;
    this.#problems.set('reports', { code, text });
  }

  /** The wire form of `GET /v1/status`. */
  get status(): object {
    this.refresh();
    const { config, version, mode } = this.#options;
    const { phase, asOf, players, complete, connections, lastError } = this.#feed.state;
    const { lastError: spoolError, ...spool } = this.#spool.progress;
    const problems = this.#problems.open;
    const { last } = this.#problems;
    const { rss, heapUsed } = this.#options.memory();
    const isMismatch = lastError?.code === 'salt_mismatch' || spoolError?.code === 'salt_mismatch';
    return {
      ok: problems.length === 0 && phase === 'live',
      version,
      uptime_s: Math.round((Date.now() - this.#startedAt) / 1_000),
      memory: { rss_bytes: rss, heap_used_bytes: heapUsed },
      node: {
        url: config.url,
        reachable: phase === 'live' || phase === 'snapshot' || lastError?.status !== undefined || isMismatch,
      },
      peer: { peer_id: config.peerId, game_ids: config.gameIds, status: this.#peerStatus },
      salt: { check: saltCheckOf(config.groupSalt), matches: isMismatch ? false : phase === 'live' ? true : null },
      stream: { phase, as_of: timeOf(asOf), players, complete, connections },
      spool: {
        phase: spool.phase,
        pending: spool.pending,
        pending_bytes: spool.pendingBytes,
        delivered: spool.delivered,
        duplicates: spool.duplicates,
        set_aside: spool.setAside,
        last_set_aside: this.#lastSetAside,
        dropped: spool.dropped,
        damaged: spool.damaged,
      },
      policy: { mode, tally: this.#policy.tally },
      allow_list: { players: this.#allow.list.entries().length },
      problems: problems.map(({ part, code, text, since }) => ({ part, code, text, since: timeOf(since) })),
      last_error: last === null ? null : { part: last.part, code: last.code, text: last.text, at: timeOf(last.since) },
    };
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    await this.#spool.close();
    await this.#client.close();
    await this.#reader.close();
  }

  async #readPeerStatus(): Promise<void> {
    const status = await this.#reader.statusOf(this.#options.config.peerId).catch(() => null);
    this.#peerStatus = status ?? 'unknown';
  }

  #subjectOf(id: string): string | LocalError {
    try {
      return this.#requiredSubject(id);
    } catch (error) {
      if (error instanceof LocalError) return error;
      throw error;
    }
  }

  #requiredSubject(id: string): string {
    try {
      return this.#client.subjectOf(id);
    } catch (error) {
      if (error instanceof TrustError) throw new LocalError(400, 'invalid_parameter', error.message);
      throw error;
    }
  }

  /** What the game calls a report may hold an account id, so that a digest of it travels. */
  #eventIdOf(name: string): string {
    const { peerId, groupSalt } = this.#options.config;
    return `report-${crypto.hash('sha256', JSON.stringify([peerId, name, groupSalt]), 'hex').slice(0, 40)}`;
  }

  #answerOf(id: string, trust: PlayerTrust): PlayerAnswer {
    const { action, would } = this.#policy.decide(trust);
    const allowed = this.#allow.list.has(trust.playerId);
    const { score, confidence, known, source, asOf, cause } = trust;
    const verdict = allowed ? 'neutral' : trust.verdict;
    return {
      player_id: id,
      verdict,
      score,
      confidence,
      known,
      source,
      as_of: timeOf(asOf),
      cause,
      allowed,
      action,
      would,
    };
  }
}

function timeOf(ms: number | null): string | null {
  return ms === null ? null : new Date(ms).toISOString();
}

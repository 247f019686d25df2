/** Implements the sidecar of a game server. Raw ids are hashed at once: client, spool and allow list get hashes. */
import * as crypto from 'node:crypto';
import { join } from 'node:path';
import {
  type AllowListEntry,
  EventSpool,
  type Feed,
  isSubjectHash,
  type PlayerTrust,
  type PolicyMode,
  type TrustClient,
  TrustError,
  TrustPolicy,
} from '../../client/entry.js';
import { bounds, saltCheckOf } from '../../client/for-peer.js';
import { readPlayerId } from '../../player-ids/player-id.js';
import type { PeerConfig } from '../config/peer-config.js';
import { playersOf } from '../formats/player-of.js';
import { isoOf } from '../formats/reading/time-cells.js';
import { KnownKinds } from '../node/known-kinds.js';
import { NodeReader, type PeerStatus, peerClient } from '../node/node-reader.js';
import { plainWords, uncountedText } from '../peer-error.js';
import { AllowFile } from './allow-file.js';
import { LocalError, refusalOf } from './local-error.js';
import { type Problem, Problems } from './problems.js';
import type { ReportBody } from './sidecar-bodies.js';

type Action = 'pass' | 'restrict';

/** From the worst to the best. */
const ranks: readonly PlayerTrust['verdict'][] = ['untrusted', 'suspicious', 'neutral', 'trusted'];

interface PlayerAnswer extends Pick<PlayerTrust, 'verdict' | 'score' | 'confidence' | 'known' | 'source' | 'cause'> {
  readonly player_id: string;
  /** RFC 3339; null if the values are assumed. */
  readonly as_of: string | null;
  /** True if the allow list lets the player pass; the verdict then is `neutral`. */
  readonly allowed: boolean;
  /** The action of the policy, and the action that it would take if it were enforced. */
  readonly action: Action;
  readonly would: Action;
}

/** An invalid id of a match, such as a bot's. */
interface RefusedId {
  readonly player_id: string;
  readonly code: string;
  readonly error: string;
  readonly details?: object;
}

export interface SidecarOptions {
  readonly config: PeerConfig;
  /** `shadow`: every player passes, and `would` says what `enforce` would do. */
  readonly mode: PolicyMode;
  readonly restrict: readonly PlayerTrust['verdict'][];
  /** Least confidence at which a verdict counts. */
  readonly confidenceMin: number;
  /** The verdicts for which game servers that ask keep a player out; null if none may ask. */
  readonly actOn: readonly PlayerTrust['verdict'][] | null;
  readonly actConfidence: number;
  readonly playersMax: number;
  readonly version: string;
  readonly memory: () => { readonly rss: number; readonly heapUsed: number };
  readonly log: (line: string) => void;
}

/** The listener of stream and spool, whose states `refresh` looks at and logs. */
const looksItself = () => undefined;

export class Sidecar {
  readonly #feed: Feed;
  readonly #policy: TrustPolicy<Action>;
  readonly #reader: NodeReader;
  /** Settles once the node has stated its kinds of ids, or did not answer; null if no request is in progress. */
  #learning: Promise<void> | null = null;
  readonly #startedAt = Date.now();
  readonly #timer: NodeJS.Timeout;
  #peerStatus: PeerStatus | 'unknown' = 'unknown';
  #refusedAt: number | null = null;
  #saidUncounted = false;
  /** Why the last report or change of the allow list is not on disk; null once one is. */
  #unwritten: Pick<Problem, 'code' | 'text'> | null = null;
  readonly #seen = new Set<string>();
  #lastSetAside: { readonly code: string; readonly reason: string } | null = null;
  /** Number of delivered reports at the last one that was set aside. */
  #deliveredBefore = 0;

  private constructor(
    private readonly options: SidecarOptions,
    private readonly client: TrustClient,
    private readonly spool: EventSpool,
    private readonly allowFile: AllowFile,
    private readonly kinds: KnownKinds,
    private readonly problems: Problems,
  ) {
    this.#reader = new NodeReader(options.config.url);
    this.#policy = new TrustPolicy<Action>({
      mode: options.mode,
      pass: 'pass',
      rule: ({ verdict, confidence }) =>
        options.restrict.includes(verdict) && confidence >= options.confidenceMin ? 'restrict' : 'pass',
      allowList: this.allowFile.list,
    });
    this.#feed = this.client.follow({ onState: looksItself });
    this.#timer = setInterval(() => this.refresh(), bounds.sidecarWatchMs);
    this.#timer.unref();
    this.#learnKinds();
  }

  /** Opens the spool and the allow list and begins to follow the stream, without waiting for the node. */
  static async open(options: SidecarOptions): Promise<Sidecar> {
    const { stateDir } = options.config;
    const problems = new Problems(options.log);
    const allow = await AllowFile.open(join(stateDir, 'sidecar', 'allow.json'));
    const kinds = await KnownKinds.open(options.config);
    const client = peerClient(options.config, { playersMax: options.playersMax });
    let made: Sidecar | undefined;
    try {
      const spool = await EventSpool.open({
        folder: join(stateDir, 'spool', 'sidecar'),
        to: client,
        onProgress: looksItself,
        onSetAside: ({ code, reason }) => made?.takeSetAside(code, reason),
      });
      made = new Sidecar(options, client, spool, allow, kinds, problems);
      return made;
    } catch (error) {
      await client.close();
      throw error;
    }
  }

  /** Resolves with one entry per id, in order. Needs no network call if the cache is current. */
  async players(ids: readonly string[]): Promise<(PlayerAnswer | RefusedId)[]> {
    const subjects = ids.map((id) => this.#subjectOf(id));
    const found = await this.client.scores(subjects.filter((one) => typeof one === 'string'));
    let next = 0;
    return subjects.map((subject, index) => {
      if (typeof subject !== 'string') {
        const { code, message, details } = subject;
        return { player_id: ids[index]!, code, error: message, ...(details === undefined ? {} : { details }) };
      }
      return this.#answerOf(ids[index]!, found[next++]!);
    });
  }

  /** Resolves with the trust of one player. Throws `invalid_parameter` for an invalid id. */
  async player(id: string): Promise<PlayerAnswer> {
    const [trust] = await this.client.scores([this.#requiredSubject(id)]);
    return this.#answerOf(id, trust!);
  }

  /** The worst answer among the accounts of one person, and the ids that are none. The allow list comes first. */
  async person(ids: readonly string[]): Promise<PlayerAnswer & { readonly refused: readonly RefusedId[] }> {
    const found = await this.players(ids);
    const refused = found.filter((one): one is RefusedId => 'error' in one);
    const answers = found.filter((one): one is PlayerAnswer => !('error' in one));
    const rank = ({ allowed, verdict, score }: PlayerAnswer) => (allowed ? -1 : 1_000 * ranks.indexOf(verdict) + score);
    const [worst] = answers.sort((one, other) => rank(one) - rank(other));
    if (worst !== undefined) return { ...worst, refused };
    throw new LocalError(400, 'invalid_parameter', refused[0]?.error ?? 'no id names an account', { parameter: 'ids' });
  }

  /** Those that a game server is to keep out, by default among the Steam and EOS ids of the players seen here. */
  async barred(ids: readonly string[] = [...this.#seen]): Promise<readonly PlayerAnswer[]> {
    return (await this.players(ids)).filter((one): one is PlayerAnswer => !('error' in one) && this.#bars(one));
  }

  /** Resolves with the event ids, one for each of the group's kinds among the accounts, once they are on disk. */
  async report({ playerIds, eventType, gameId, severity, eventId, at }: ReportBody): Promise<readonly string[]> {
    // An id in a spelling that the group does not use would permanently name another player.
    if (this.kinds.kinds === null) await this.#learning;
    if (this.kinds.kinds === null && !playerIds.every(isSubjectHash)) {
      const text = "the group's node was never reached, so that the spelling of player ids is not known yet; try again";
      throw new LocalError(503, 'group_unknown', text);
    }
    const players = this.#accountsOf(playerIds).map((id) => this.#requiredSubject(id));
    const added = players.map((playerId, nth) => {
      const name = nth === 0 || eventId === undefined ? eventId : `${eventId} ${playerId}`;
      return this.spool.add({ eventType, playerId, gameId, severity, at, eventId: name && this.#eventIdOf(name) });
    });
    return this.#written(Promise.all(added));
  }

  async allow({ playerId, until, note }: AllowListEntry): Promise<void> {
    await this.#written(this.allowFile.add(this.#requiredSubject(playerId), until, note));
  }

  async disallow(playerId: string): Promise<boolean> {
    return this.#written(this.allowFile.remove(this.#requiredSubject(playerId)));
  }

  /** Checks the states of stream and spool, logs changes, and retries a stream that was refused a while ago. */
  refresh(): void {
    const { url } = this.options.config;
    const { phase, lastError } = this.#feed.state;
    const streamError = phase === 'live' || phase === 'snapshot' ? null : lastError;
    this.problems.set('stream', streamError && { code: streamError.code, text: plainWords(streamError, url) });
    const { lastError: spoolError, uncounted, delivered } = this.spool.progress;
    if (delivered > this.#deliveredBefore) this.problems.set('reports', null);
    // Logged once: the status states the present number.
    if (uncounted > 0 && !this.#saidUncounted) this.options.log(`reports: ${uncountedText(uncounted)}`);
    this.#saidUncounted ||= uncounted > 0;
    const undelivered = spoolError && { code: spoolError.code, text: plainWords(spoolError, url) };
    this.problems.set('spool', this.#unwritten ?? undelivered);
    if (!this.kinds.isFresh) this.#learnKinds();
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
    this.#deliveredBefore = this.spool.progress.delivered;
    const error = new TrustError(code as TrustError['code'], reason);
    const text = `the node will never accept a report as it is: ${plainWords(error, this.options.config.url)}`;
    this.problems.set('reports', { code, text });
  }

  get status(): object {
    this.refresh();
    const { config, version, mode } = this.options;
    const { phase, asOf, players, complete, connections, lastError } = this.#feed.state;
    const { lastError: spoolError, pendingBytes, setAside, ...spool } = this.spool.progress;
    const { open: problems, last } = this.problems;
    const { rss, heapUsed } = this.options.memory();
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
      stream: { phase, as_of: isoOf(asOf), players, complete, connections },
      spool: { ...spool, pending_bytes: pendingBytes, set_aside: setAside, last_set_aside: this.#lastSetAside },
      policy: { mode, tally: this.#policy.tally },
      player_id_kinds: this.kinds.kinds,
      allow_list: { players: this.allowFile.list.entries().length },
      problems: problems.map(({ part, code, text, since }) => ({ part, code, text, since: isoOf(since) })),
      last_error: last === null ? null : { part: last.part, code: last.code, text: last.text, at: isoOf(last.since) },
    };
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    await this.spool.close();
    await this.client.close();
    await this.#reader.close();
  }

  /** Remembers the failure of a write until another one succeeds. */
  async #written<T>(writing: Promise<T>): Promise<T> {
    try {
      const done = await writing;
      // Without an entry to remove nothing was written.
      if (done !== false) this.#unwritten = null;
      return done;
    } catch (error) {
      const { code, message: text } = refusalOf(error);
      if (code === 'spool_failed') this.#unwritten = { code, text };
      throw error;
    }
  }

  /** Asks the node in the background; if it does not answer, the next check asks again. */
  #learnKinds(): void {
    this.#learning ??= this.kinds
      .learn(this.#reader)
      .catch((error: unknown) => {
        if (!(error instanceof TrustError)) this.options.log(`the state folder cannot be written: ${String(error)}`);
      })
      .finally(() => {
        this.#learning = null;
      });
  }

  async #readPeerStatus(): Promise<void> {
    const status = await this.#reader.statusOf(this.options.config.peerId).catch(() => null);
    this.#peerStatus = status ?? 'unknown';
  }

  /** The ids under which one person is reported. */
  #accountsOf(ids: readonly string[]): readonly string[] {
    if (ids.length === 1 || this.kinds.isOfTokens) return ids.slice(0, 1);
    const kinds = this.kinds.kinds ?? [];
    const cells = ids.map((text) => ({ text }));
    const found = playersOf(cells, { kinds: kinds.length === 0 ? null : kinds });
    if (!found.ok) throw new LocalError(400, 'invalid_parameter', found.text, { parameter: 'player_ids' });
    return found.players.map(({ id }) => id);
  }

  #bars({ allowed, verdict, confidence, cause }: PlayerAnswer): boolean {
    const { actOn, actConfidence } = this.options;
    // Without a current answer nobody is kept out.
    if (allowed || cause !== null) return false;
    return actOn?.includes(verdict) === true && confidence >= actConfidence;
  }

  /** Remembers an account, in memory alone, if a game server may ask for the list of those to keep out. */
  #see(id: string): void {
    if (this.options.actOn === null) return;
    const found = readPlayerId(id, { kinds: ['steam', 'eos'] });
    if (!found.ok) return;
    this.#seen.delete(found.id);
    this.#seen.add(found.id);
    const [oldest] = this.#seen;
    if (this.#seen.size > this.options.playersMax) this.#seen.delete(oldest!);
  }

  #subjectOf(id: string): string | LocalError {
    this.#see(id);
    try {
      return this.client.subjectOf(this.kinds.canonical(id));
    } catch (error) {
      if (error instanceof TrustError) return new LocalError(400, 'invalid_parameter', error.message, error.details);
      throw error;
    }
  }

  #requiredSubject(id: string): string {
    const subject = this.#subjectOf(id);
    if (subject instanceof LocalError) throw subject;
    return subject;
  }

  /** Returns a report's event id, with only a digest of the game's name, which may contain an account id. */
  #eventIdOf(name: string): string {
    const { peerId, groupSalt } = this.options.config;
    return `report-${crypto.hash('sha256', JSON.stringify([peerId, name, groupSalt]), 'hex').slice(0, 40)}`;
  }

  #answerOf(id: string, trust: PlayerTrust): PlayerAnswer {
    const { action, would } = this.#policy.decide(trust);
    const allowed = trust.allowed === true || this.allowFile.list.has(trust.playerId);
    const { score, confidence, known, source, asOf, cause } = trust;
    const verdict = allowed ? 'neutral' : trust.verdict;
    const as_of = isoOf(asOf);
    return { player_id: id, verdict, score, confidence, known, source, as_of, cause, allowed, action, would };
  }
}

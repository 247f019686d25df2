/** The client of a game server: reads that never wait longer than they may, and writes that arrive once. */
import type { EventBody, RegistrationBody } from '../contract/request-bodies.js';
import type { TrustScoreBody } from '../contract/response-bodies.js';
import { bounds } from './bounds.js';
import { type Settings, settingsOf, type TrustClientOptions } from './client-options.js';
import { VerdictFeed } from './feed/live-feed.js';
import { valuesOf } from './feed/stream-frames.js';
import { TrustTable } from './feed/trust-table.js';
import { normalizedFor } from './ids/normalize.js';
import { SaltCheck } from './ids/salt-check.js';
import { isSubjectHash, sentId } from './ids/subject.js';
import type { PlayerTrust, Verdict } from './player-trust.js';
import type {
  CallOptions,
  ErasedSubject,
  Feed,
  FollowOptions,
  ReadOptions,
  RegisteredPeer,
  Registration,
  SubmitManyOptions,
} from './read/calls.js';
import { ScoreReader } from './read/score-reader.js';
import { type Answer, type Ask, Caller, isRecord, notTheContract } from './transport/caller.js';
import { ReadFloor } from './transport/read-floor.js';
import { AgeClock, linked, notify, onAbort, pause } from './transport/runtime.js';
import { namingEach, TrustError, type TrustErrorFacts } from './trust-error.js';
import { deliverAll } from './write/deliver-all.js';
import {
  batchesOf,
  checkEventId,
  countedOutcome,
  type DeliveryResult,
  duplicateOutcome,
  type EventOutcome,
  expectEvent,
  isAlreadyStored,
  resultsOf,
  type SubmitManyOutcome,
  type TrustEvent,
  wireEvent,
} from './write/submission.js';

const api = '/api/v1';

type Request = Pick<Ask, 'method' | 'path' | 'json' | 'key'>;

interface CallNeeds {
  /** Whether the call sends subject hashes, so that the salt has to be the group's. */
  readonly hashes?: boolean;
  readonly deadlineMs?: number;
}
const withHashes: CallNeeds = { hashes: true };

/**
 * A client of one node, or of the nodes of one cluster. Make one per process and share it; `close` it at the end.
 *
 * Reads (`scores`, `score`, `verdict`) never reject because of the node: within their budget they answer from the node
 * or the cache, else with the last known values or neutral ones, marked by `source` and `cause`. Everything else
 * rejects with a {@link TrustError} once its deadline is over.
 *
 * The first call that sends a hash compares the client's salt with the group's. Where they differ, reads answer neutral
 * values with the cause `salt_mismatch`, and every other call that would send a hash rejects with it.
 *
 * Of several nodes the first is preferred. A call moves on to the next at once where a node fails, and back as soon as
 * the preferred one answers again. An event that a lost answer has the client send twice is stored once.
 *
 * Retries wait with full jitter and at least as long as `Retry-After` says. Answers of 4xx are never retried, but for
 * 408 and 429.
 * @public
 */
export class TrustClient {
  readonly #settings: Settings;
  readonly #floor: ReadFloor;
  readonly #caller: Caller;
  readonly #ages: AgeClock;
  readonly #table: TrustTable;
  readonly #reader: ScoreReader;
  /** Null where ids are not hashed here. */
  readonly #salt: SaltCheck | null;
  readonly #stop = new AbortController();
  readonly #running = new Set<Promise<unknown>>();
  #feed: VerdictFeed | null = null;
  #closing: Promise<void> | null = null;
  #kindsAskAgainMs = 0;

  /** @param options - where the node is, and who calls. Nothing is sent yet. */
  constructor(options: TrustClientOptions) {
    this.#settings = settingsOf(options);
    const { transports, runtime, playersMax, groupSalt, signer } = this.#settings;
    this.#floor = new ReadFloor(runtime);
    this.#caller = new Caller(transports, runtime, this.#floor, signer);
    const readPeers = () => this.#send({ method: 'GET', path: '/peers?limit=1' }, 'always', this.#stop.signal);
    this.#salt = groupSalt === undefined ? null : new SaltCheck(groupSalt, runtime, readPeers);
    this.#table = new TrustTable(playersMax);
    this.#ages = new AgeClock(runtime);
    this.#reader = new ScoreReader({
      // With a circuit of its own: that a node is too slow for the budget of a read says nothing about writes.
      caller: new Caller(transports, runtime, this.#floor),
      runtime,
      ages: this.#ages,
      table: this.#table,
      prefix: api,
      sentId: (playerId) => this.#sentId(playerId),
      salt: this.#salt,
      needsKinds: this.#settings.playerIdKinds === undefined,
      feed: () => this.#feed,
    });
  }

  /**
   * The trust of all players of a match, in the order asked. One call per 128 players, or none where the cache is
   * current.
   * @param playerIds - the players; repeats are allowed. One that is no id rejects with `invalid_argument`, which names
   * its place.
   * @param options - budget, fallback and signal of this read.
   */
  scores(playerIds: readonly string[], options: ReadOptions = {}): Promise<PlayerTrust[]> {
    const { readBudgetMs, fallback } = this.#settings;
    return this.#during(options.signal, (signal) =>
      this.#reader.scores(playerIds, {
        budgetMs: options.budgetMs ?? readBudgetMs,
        fallback: options.fallback ?? fallback,
        signal,
      }),
    );
  }

  /** The trust of one player; see {@link TrustClient.scores}. */
  async score(playerId: string, options: ReadOptions = {}): Promise<PlayerTrust> {
    return (await this.scores([playerId], options))[0]!;
  }

  /**
   * The service's word for one player; `neutral` where nobody knows. Use {@link TrustClient.score} to tell the two
   * apart.
   */
  async verdict(playerId: string, options: ReadOptions = {}): Promise<Verdict> {
    return (await this.score(playerId, options)).verdict;
  }

  /**
   * What a player's score is made of, straight from the node, in the contract's own form; null for a player without
   * events. For tools, not for matches: it waits and rejects like a write.
   */
  async explain(playerId: string, options: CallOptions = {}): Promise<TrustScoreBody | null> {
    const deadlineMs = this.#lacksKinds ? await this.#groupKnown(options) : this.#settings.deadlineMs;
    const id = encodeURIComponent(this.#sentId(playerId));
    try {
      const answer = await this.#call(
        { method: 'GET', path: `/players/${id}/trust-score?explain=true` },
        'always',
        options,
        { hashes: true, deadlineMs },
      );
      if (!isRecord(answer.body) || valuesOf(answer.body) === null) throw notTheContract(answer);
      return answer.body as TrustScoreBody;
    } catch (error) {
      if (error instanceof TrustError && error.code === 'player_not_found') return null;
      throw error;
    }
  }

  /**
   * Submits one event and resolves once it is durable on the node's disk. A repetition of an event that is stored
   * already counts as success. Rejects with the service's code where the event is not acceptable; `duplicate_event` is
   * one of another peer with the same id.
   */
  async submit(event: TrustEvent, options: CallOptions = {}): Promise<EventOutcome> {
    const deadlineMs = this.#lacksKinds ? await this.#groupKnown(options) : this.#settings.deadlineMs;
    const body = this.prepare(event);
    try {
      const ask = { method: 'POST', path: '/events', json: body, key: this.#settings.apiKey } as const;
      expectEvent(await this.#call(ask, 'always', options, { hashes: true, deadlineMs }), body.event_id);
      return { eventId: body.event_id, status: 'accepted', code: null, reason: null };
    } catch (error) {
      const isStored =
        error instanceof TrustError && error.code === 'duplicate_event' && !isAlreadyStored(error.details);
      if (!isStored) throw error;
      return duplicateOutcome(body.event_id, error.details);
    }
  }

  /**
   * Submits many events, in order, 500 per call, or fewer where so many take longer than an attempt may. One that the
   * node does not accept is reported and does not stop the rest; one that cannot be sent at all rejects with
   * `invalid_argument`, which names its place, before anything is sent. Rejects also where the node takes nothing for
   * longer than the deadline, or refuses the key; the same call may then be made again, as long as every event has an
   * `eventId` of its own.
   */
  async submitMany(events: readonly TrustEvent[], options: SubmitManyOptions = {}): Promise<SubmitManyOutcome> {
    const { onProgress } = options;
    const results: EventOutcome[] = [];
    const { runtime, attemptMs, deadlineMs } = this.#settings;
    const call = { size: bounds.eventsPerCall };
    if (this.#lacksKinds) await this.#groupKnown(options);
    const bodies = namingEach('events', events, (event) => this.prepare(event));
    for (const batch of batchesOf(bodies)) {
      const deliver = (part: readonly EventBody[], leftMs: number) =>
        this.#deliver(part, options, Math.min(attemptMs, leftMs));
      const wait = (ms: number) => this.#during(options.signal, (signal) => pause(runtime, ms, signal));
      results.push(...(await deliverAll(batch, { deliver, wait, runtime, deadlineMs, call })));
      notify((done: number) => onProgress?.(done, events.length), results.length);
    }
    return countedOutcome(results);
  }

  /**
   * What travels of a player id: the subject hash where the client has the salt, else the id itself. Throws
   * `invalid_argument` where the id is none.
   */
  subjectOf(playerId: string): string {
    return this.#sentId(playerId);
  }

  /**
   * An event in the form in which it travels, with everything filled in that was left out. The spool keeps events in
   * this form.
   */
  prepare(event: TrustEvent): EventBody {
    const { peerId, runtime } = this.#settings;
    if (peerId === undefined) throw new TrustError('invalid_argument', 'peerId is needed to submit');
    return wireEvent(event, peerId, (playerId) => this.#sentId(playerId), runtime);
  }

  /**
   * Sends events in one call, at most 500, and says of each what came of it; `later` where the node could not take it
   * now. For the spool.
   */
  async deliver(events: readonly EventBody[], options: CallOptions = {}): Promise<DeliveryResult[]> {
    return this.#deliver(events, options, this.#settings.deadlineMs);
  }

  async #deliver(events: readonly EventBody[], options: CallOptions, deadlineMs: number): Promise<DeliveryResult[]> {
    const { apiKey, peerId } = this.#settings;
    const ask = { method: 'POST', path: '/events/batch', json: { events }, key: apiKey } as const;
    const { body } = await this.#call(ask, 'always', options, { ...withHashes, deadlineMs });
    return resultsOf(body, events, peerId);
  }

  /**
   * Withdraws an own event. Resolves also where an earlier attempt of this call did it and only its answer was lost.
   */
  async withdraw(eventId: string, options: CallOptions = {}): Promise<void> {
    checkEventId(eventId);
    const path = `/events/${eventId}`;
    try {
      expectEvent(await this.#call({ method: 'DELETE', path, key: this.#settings.apiKey }, 'always', options), eventId);
    } catch (error) {
      const done = error instanceof TrustError && error.code === 'event_not_found' && error.outcomeUnknown;
      if (!done) throw error;
    }
  }

  /**
   * Erases everything that the group holds of a player. Not sent again where the node may have done it, since the
   * receipt comes once: then it rejects with `outcomeUnknown`, and a further call answers `subject_not_found` where the
   * player is erased.
   * @param playerId - the player's subject hash, or the id where the client has the salt.
   */
  async eraseSubject(playerId: string, options: CallOptions = {}): Promise<ErasedSubject> {
    const deadlineMs = this.#lacksKinds ? await this.#groupKnown(options) : this.#settings.deadlineMs;
    const hash = this.#sentId(playerId);
    if (!isSubjectHash(hash)) {
      throw new TrustError(
        'invalid_argument',
        'a subject hash is needed; give the client the salt, or use subjectHash',
      );
    }
    const token = this.#table.reading(hash);
    try {
      const ask = { method: 'DELETE', path: `/subjects/${hash}`, key: this.#settings.apiKey } as const;
      const answer = await this.#call(ask, 'unsent', options, { hashes: true, deadlineMs });
      const { body } = answer;
      if (!isRecord(body) || typeof body.receipt !== 'string') throw notTheContract(answer);
      const pending = body.status === 'pending';
      if (!pending) this.#table.erased(token);
      return {
        subjectHash: hash,
        status: pending ? 'pending' : 'erased',
        eventsErased: typeof body.events_erased === 'number' ? body.events_erased : 0,
        receipt: body.receipt,
      };
    } catch (error) {
      if (error instanceof TrustError && error.code === 'subject_not_found') this.#table.erased(token);
      throw error;
    } finally {
      this.#table.done([token]);
    }
  }

  /** Registers a peer. Each success makes a new one, so nothing is sent again where the node may have made it. */
  async register(registration: Registration, options: CallOptions = {}): Promise<RegisteredPeer> {
    const { peerName, gameIds, contactEmail, publicKey } = registration;
    const email = contactEmail === undefined ? {} : { contact_email: contactEmail };
    const named = { peer_name: peerName, game_ids: gameIds, ...email };
    const json: RegistrationBody = publicKey === undefined ? named : { ...named, public_key: publicKey };
    const answer = await this.#call({ method: 'POST', path: '/peers/register', json }, 'unsent', options);
    const { body } = answer;
    if (!isRecord(body) || typeof body.peer_id !== 'string' || typeof body.api_key !== 'string') {
      throw notTheContract(answer);
    }
    return { peerId: body.peer_id, apiKey: body.api_key, status: 'active' };
  }

  /**
   * Follows the verdict stream, so that reads become local. Needs the group's salt, unless the game knows players by
   * their subject hashes. While the stream is lost, reads call the node. Called again it returns the same feed; one
   * that was refused is tried again.
   */
  follow(options: FollowOptions = {}): Feed {
    if (this.#closing !== null) throw closed();
    if (this.#feed !== null && !this.#feed.isClosed) {
      this.#feed.retry();
      return this.#feed;
    }
    // Both would write to one table.
    const before = this.#feed?.close();
    const { transports, runtime, apiKey, groupId } = this.#settings;
    const { onState, onErased } = options;
    const feed = new VerdictFeed({
      transports,
      runtime,
      floor: this.#floor,
      ages: this.#ages,
      table: this.#table,
      key: apiKey,
      path: `${api}/verdicts/stream`,
      readyPath: `${api}/ready`,
      groupId,
      salt: this.#salt,
      onState,
      onErased,
    });
    feed.start(before);
    this.#feed = feed;
    return feed;
  }

  /**
   * Ends the client: the stream at once, calls under way after 5 s at most. Further calls reject with `closed`.
   */
  close(): Promise<void> {
    this.#closing ??= this.#end();
    return this.#closing;
  }

  async #end(): Promise<void> {
    const { runtime, transports } = this.#settings;
    await this.#feed?.close();
    // Those are on their way to the node.
    const cancel = runtime.after(bounds.closeMs, () => this.#stop.abort(closed({ outcomeUnknown: true })));
    await Promise.allSettled(this.#running);
    cancel();
    await Promise.all(transports.map((transport) => transport.close()));
  }

  #kinds(): readonly string[] | null | undefined {
    const { playerIdKinds } = this.#settings;
    return playerIdKinds === undefined ? this.#salt?.kinds : playerIdKinds;
  }

  /** Whether ids wait for the node to say how the group spells them. */
  get #lacksKinds(): boolean {
    return this.#settings.playerIdKinds === undefined && this.#salt !== null && this.#salt.kinds === undefined;
  }

  /**
   * Resolves once it is known how the group's ids are spelled, with what is left of the deadline. Rejects with what
   * keeps the node from saying so.
   */
  async #groupKnown({ signal }: CallOptions): Promise<number> {
    const { runtime, deadlineMs } = this.#settings;
    const endsAt = runtime.elapsedMs() + deadlineMs;
    await this.#during(signal, (whole) => this.#salt!.verify(whole));
    return Math.max(0, endsAt - runtime.elapsedMs());
  }

  /**
   * Resolves once it is known how the group's ids are spelled, or the node has not said so within a second; then ids
   * count as they are written, and the node is asked again after a minute. For the spool, which takes events without
   * the node.
   */
  async ready({ signal }: CallOptions = {}): Promise<void> {
    const { runtime } = this.#settings;
    if (!this.#lacksKinds || runtime.elapsedMs() < this.#kindsAskAgainMs || this.#closing !== null) return;
    const { controller, release } = linked(signal);
    const cancel = runtime.after(bounds.kindsWaitMs, () => controller.abort());
    try {
      await this.#groupKnown({ signal: controller.signal });
    } catch {
      signal?.throwIfAborted();
      this.#kindsAskAgainMs = runtime.elapsedMs() + bounds.saltRecheckMs;
    } finally {
      cancel();
      release();
    }
  }

  #sentId(playerId: string): string {
    return sentId(normalizedFor(this.#kinds(), playerId), this.#settings.groupSalt);
  }

  #call(
    ask: Request,
    repeat: Ask['repeat'],
    { signal }: CallOptions,
    { hashes = false, deadlineMs = this.#settings.deadlineMs }: CallNeeds = {},
  ): Promise<Answer> {
    const { runtime } = this.#settings;
    return this.#during(signal, async (whole) => {
      const endsAt = runtime.elapsedMs() + deadlineMs;
      if (hashes && this.#salt?.isVerified === false) await this.#salt.verify(whole);
      return this.#send(ask, repeat, whole, Math.max(0, endsAt - runtime.elapsedMs()));
    });
  }

  #send(
    ask: Request,
    repeat: Ask['repeat'],
    signal: AbortSignal,
    deadlineMs = this.#settings.deadlineMs,
  ): Promise<Answer> {
    const { attemptMs } = this.#settings;
    return this.#caller.call({ ...ask, path: api + ask.path, repeat, attemptMs, deadlineMs, signal });
  }

  /** Runs work that ends with the caller's signal or the client, whichever is first. */
  async #during<T>(signal: AbortSignal | undefined, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
    if (this.#closing !== null) throw closed();
    signal?.throwIfAborted();
    const { controller, release } = linked(signal);
    const { signal: stop } = this.#stop;
    const releaseStop = onAbort(stop, () => controller.abort(stop.reason));
    const running = work(controller.signal);
    this.#running.add(running);
    try {
      return await running;
    } finally {
      this.#running.delete(running);
      releaseStop();
      release();
    }
  }
}

function closed(facts: TrustErrorFacts = {}): TrustError {
  return new TrustError('closed', 'the client is closed', facts);
}

/** Implements `TrustClient`, the client of a game server, over the callers, the cache and the feed. */
import type { EventBody, RegistrationBody } from '../contract/request-bodies.js';
import type { TrustScoreBody } from '../contract/response-bodies.js';
import { bounds } from './bounds.js';
import type {
  CallOptions,
  ErasedSubject,
  Feed,
  FollowOptions,
  ReadOptions,
  RegisteredPeer,
  Registration,
  SubmitManyOptions,
} from './call-types.js';
import { type Settings, settingsOf, type TrustClientOptions } from './client-options.js';
import { VerdictFeed } from './feed/live-feed.js';
import { valuesOf } from './feed/stream-frames.js';
import { TrustTable } from './feed/trust-table.js';
import { normalizedFor } from './ids/normalize.js';
import { SaltCheck } from './ids/salt-check.js';
import { isSubjectHash, sentId } from './ids/subject.js';
import { isRecord } from './json-text.js';
import type { PlayerTrust, Verdict } from './player-trust.js';
import { ScoreReader } from './read/score-reader.js';
import { type Answer, type Ask, Caller, notTheContract } from './transport/caller.js';
import { abortable, linked, notify, onAbort } from './transport/listeners.js';
import { ReadFloor } from './transport/read-floor.js';
import { AgeClock, pause, within } from './transport/time.js';
import { invalidArgument, namingEach, TrustError, type TrustErrorFacts } from './trust-error.js';
import type { DeliveryResult, EventOutcome, SubmitManyOutcome, TrustEvent } from './write/client-event.js';
import * as clientEvent from './write/client-event.js';
import { deliverAll } from './write/deliver-all.js';

const api = '/api/v1';

type Request = Pick<Ask, 'method' | 'path' | 'json' | 'key' | 'repeat'>;

/**
 * A client of one node, or of the nodes of one cluster. Create one per process and share it; `close` it at the end.
 *
 * Reads (`scores`, `score`, `verdict`) never reject because of the node: within their budget they answer from the node
 * or the cache, else with the last known values or neutral ones, marked by `source` and `cause`. Every other call
 * rejects with a {@link TrustError} once its deadline is over.
 *
 * The first call that sends a hash compares the client's salt with the group's. If they differ, reads answer neutral
 * values with the cause `salt_mismatch`, and every other call that would send a hash rejects with it.
 *
 * The first of several nodes is preferred. A call moves on to the next one at once if a node fails, and back as soon as
 * the preferred one answers again. An event that is sent twice because an answer was lost is stored once.
 *
 * Retries wait with full jitter and at least as long as `Retry-After` says. Answers of 4xx are never retried, except
 * 408 and 429. @public
 */
export class TrustClient {
  readonly #settings: Settings;
  readonly #floor: ReadFloor;
  readonly #caller: Caller;
  readonly #ages: AgeClock;
  readonly #table: TrustTable;
  readonly #reader: ScoreReader;
  /** Null if ids are not hashed here. */
  readonly #salt: SaltCheck | null;
  readonly #stop = new AbortController();
  readonly #running = new Set<Promise<unknown>>();
  #feed: VerdictFeed | null = null;
  #closing: Promise<void> | null = null;
  #kindsAskAgainMs = 0;
  /** Shared by all events that wait, so that they keep their order. */
  #kindsWait: Promise<unknown> = Promise.resolve();

  /** @param options - the address of the node, and the credentials of the peer. The constructor sends nothing. */
  constructor(options: TrustClientOptions) {
    this.#settings = settingsOf(options);
    const { transports, runtime, playersMax, groupSalt, signer } = this.#settings;
    this.#floor = new ReadFloor(runtime);
    this.#caller = new Caller(transports, runtime, this.#floor, signer);
    const readPeers = () => this.#send({ method: 'GET', path: '/peers?limit=1', repeat: 'always' }, this.#stop.signal);
    this.#salt = groupSalt === undefined ? null : new SaltCheck(groupSalt, runtime, readPeers);
    this.#table = new TrustTable(playersMax);
    this.#ages = new AgeClock(runtime);
    this.#reader = new ScoreReader({
      // Reads have a circuit of their own: a node that is too slow for a read's budget may be fast enough for writes.
      caller: new Caller(transports, runtime, this.#floor),
      runtime,
      ages: this.#ages,
      table: this.#table,
      sentId: (playerId) => this.subjectOf(playerId),
      salt: this.#salt,
      needsKinds: this.#settings.playerIdKinds === undefined,
      feed: () => this.#feed,
    });
  }

  /**
   * Returns the trust of all players of a match, in the order of the ids. Takes one call per 128 players, or none if
   * the cache is current.
   * @param playerIds - the players; repeats are allowed. An invalid id rejects with `invalid_argument`, which names its
   * index.
   * @param options - budget, fallback and signal of this read.
   */
  scores(playerIds: readonly string[], options: ReadOptions = {}): Promise<PlayerTrust[]> {
    const budgetMs = options.budgetMs ?? this.#settings.readBudgetMs;
    const fallback = options.fallback ?? this.#settings.fallback;
    return this.#during(options.signal, (signal) => this.#reader.scores(playerIds, { budgetMs, fallback, signal }));
  }

  /** The trust of one player; see {@link TrustClient.scores}. */
  async score(playerId: string, options: ReadOptions = {}): Promise<PlayerTrust> {
    return (await this.scores([playerId], options))[0]!;
  }

  /**
   * The service's verdict on one player; also `neutral` if nothing is known. Use {@link TrustClient.score} to tell the
   * two apart.
   */
  async verdict(playerId: string, options: ReadOptions = {}): Promise<Verdict> {
    return (await this.score(playerId, options)).verdict;
  }

  /**
   * Explains a player's score, read from the node, in the contract's own form; null for a player without events. Meant
   * for tools, not for matches: it waits and rejects like a write.
   */
  async explain(playerId: string, options: CallOptions = {}): Promise<TrustScoreBody | null> {
    const deadlineMs = this.#lacksKinds ? await this.#groupKnown(options) : this.#settings.deadlineMs;
    const id = encodeURIComponent(this.subjectOf(playerId));
    try {
      const ask = { method: 'GET', path: `/players/${id}/trust-score?explain=true`, repeat: 'always' } as const;
      const answer = await this.#call(ask, options, { hashes: true, deadlineMs });
      if (!isRecord(answer.body) || valuesOf(answer.body) === null) throw notTheContract(answer);
      return answer.body as TrustScoreBody;
    } catch (error) {
      if (error instanceof TrustError && error.code === 'player_not_found') return null;
      throw error;
    }
  }

  /**
   * Submits one event and resolves once it is durable on the node's disk. A repetition of a stored event counts as
   * success. Rejects with the service's code if the event is not acceptable; `duplicate_event` means that another peer
   * used the same id.
   */
  async submit(event: TrustEvent, options: CallOptions = {}): Promise<EventOutcome> {
    const deadlineMs = this.#lacksKinds ? await this.#groupKnown(options) : this.#settings.deadlineMs;
    const body = this.prepare(event);
    try {
      const { apiKey: key } = this.#settings;
      const ask = { method: 'POST', path: '/events', json: body, key, repeat: 'always' } as const;
      const answer = await this.#call(ask, options, { hashes: true, deadlineMs });
      clientEvent.expectEvent(answer, body.event_id);
      return clientEvent.acceptedOutcome(body.event_id, answer.body);
    } catch (error) {
      const isStored =
        error instanceof TrustError && error.code === 'duplicate_event' && !clientEvent.isOfAnotherPeer(error.details);
      if (!isStored) throw error;
      return clientEvent.duplicateOutcome(body.event_id, error.details);
    }
  }

  /**
   * Submits many events, in order, 500 per call, or fewer if so many take too long or a proxy refuses them. The result
   * reports an event that the node does not accept, and the others are still sent. An event that cannot be sent at all
   * rejects with `invalid_argument`, which names its index, before anything is sent. Rejects also if the node accepts
   * nothing for longer than the deadline, or refuses the key; the same call may then be repeated if every event has an
   * `eventId` of its own.
   */
  async submitMany(events: readonly TrustEvent[], options: SubmitManyOptions = {}): Promise<SubmitManyOutcome> {
    const { onProgress } = options;
    const results: EventOutcome[] = [];
    const { runtime, attemptMs, deadlineMs } = this.#settings;
    const call = { size: bounds.eventsPerCall };
    if (this.#lacksKinds) await this.#groupKnown(options);
    const bodies = namingEach('events', events, (event) => this.prepare(event));
    for (const batch of clientEvent.batchesOf(bodies)) {
      const deliver = (part: readonly EventBody[], leftMs: number) =>
        this.#deliver(part, options, Math.min(attemptMs, leftMs));
      const wait = (ms: number) => this.#during(options.signal, (signal) => pause(runtime, ms, signal));
      results.push(...(await deliverAll(batch, { deliver, wait, runtime, deadlineMs, call })));
      notify((done: number) => onProgress?.(done, events.length), results.length);
    }
    return clientEvent.countedOutcome(results);
  }

  /**
   * Returns the text that is sent for a player id: the subject hash if the client has the salt, else the id itself.
   * Throws `invalid_argument` if the id is invalid.
   */
  subjectOf(playerId: string): string {
    const { playerIdKinds, groupSalt } = this.#settings;
    const kinds = playerIdKinds === undefined ? this.#salt?.kinds : playerIdKinds;
    return sentId(normalizedFor(kinds, playerId), groupSalt);
  }

  /**
   * Returns an event in the form in which it is sent, with all defaults filled in. The spool stores events in this
   * form.
   */
  prepare(event: TrustEvent): EventBody {
    const { peerId, runtime } = this.#settings;
    if (peerId === undefined) throw invalidArgument('peerId is required to submit');
    return clientEvent.wireEvent(event, peerId, (playerId) => this.subjectOf(playerId), runtime);
  }

  /**
   * Sends at most 500 events in one call, and returns the result of each; `later` means that the node could not accept
   * the event now. Used by the spool.
   */
  async deliver(events: readonly EventBody[], options: CallOptions = {}): Promise<DeliveryResult[]> {
    return this.#deliver(events, options, this.#settings.deadlineMs);
  }

  async #deliver(events: readonly EventBody[], options: CallOptions, deadlineMs: number): Promise<DeliveryResult[]> {
    const { apiKey, peerId } = this.#settings;
    const ask = { method: 'POST', path: '/events/batch', json: { events }, key: apiKey, repeat: 'always' } as const;
    const { body } = await this.#call(ask, options, { hashes: true, deadlineMs });
    return clientEvent.resultsOf(body, events, peerId);
  }

  /** Withdraws an own event. Resolves also if an earlier attempt of this call withdrew it and its answer was lost. */
  async withdraw(eventId: string, options: CallOptions = {}): Promise<void> {
    clientEvent.checkEventId(eventId);
    const ask = { method: 'DELETE', path: `/events/${eventId}`, key: this.#settings.apiKey, repeat: 'always' } as const;
    try {
      clientEvent.expectEvent(await this.#call(ask, options), eventId);
    } catch (error) {
      const done = error instanceof TrustError && error.code === 'event_not_found' && error.outcomeUnknown;
      if (!done) throw error;
    }
  }

  /**
   * Erases everything that the group holds of a player. The call is not sent again if the node may have acted, since it
   * returns the receipt only once: the call then rejects with `outcomeUnknown`, and a further call answers
   * `subject_not_found` if the player is erased.
   * @param playerId - the player's subject hash, or the id if the client has the salt.
   */
  async eraseSubject(playerId: string, options: CallOptions = {}): Promise<ErasedSubject> {
    const deadlineMs = this.#lacksKinds ? await this.#groupKnown(options) : this.#settings.deadlineMs;
    const hash = this.subjectOf(playerId);
    if (!isSubjectHash(hash)) {
      throw invalidArgument('a subject hash is required: give the client the salt, or use subjectHash');
    }
    const token = this.#table.reading(hash);
    try {
      const { apiKey: key } = this.#settings;
      const ask = { method: 'DELETE', path: `/subjects/${hash}`, key, repeat: 'unsent' } as const;
      const answer = await this.#call(ask, options, { hashes: true, deadlineMs });
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

  /**
   * Registers a peer. Each success creates a new one, so that the call is not sent again if the node may have created
   * it.
   */
  async register(registration: Registration, options: CallOptions = {}): Promise<RegisteredPeer> {
    const { peerName, gameIds, contactEmail, publicKey } = registration;
    const email = contactEmail === undefined ? {} : { contact_email: contactEmail };
    const named = { peer_name: peerName, game_ids: gameIds, ...email };
    const json: RegistrationBody = publicKey === undefined ? named : { ...named, public_key: publicKey };
    const answer = await this.#call({ method: 'POST', path: '/peers/register', json, repeat: 'unsent' }, options);
    const { body } = answer;
    if (!isRecord(body) || typeof body.peer_id !== 'string' || typeof body.api_key !== 'string') {
      throw notTheContract(answer);
    }
    return { peerId: body.peer_id, apiKey: body.api_key, status: 'active' };
  }

  /**
   * Follows the verdict stream, so that reads become local. Needs the group's salt, unless the game knows players by
   * their subject hashes. While the stream is lost, reads call the node. A second call returns the same feed; if it was
   * refused, it connects again.
   */
  follow(options: FollowOptions = {}): Feed {
    if (this.#closing !== null) throw closed();
    if (this.#feed !== null && !this.#feed.isClosed) {
      this.#feed.retry();
      return this.#feed;
    }
    // Awaited, because both feeds would write to the same table.
    const before = this.#feed?.close();
    const feed = new VerdictFeed({
      ...this.#settings,
      ...options,
      floor: this.#floor,
      ages: this.#ages,
      table: this.#table,
      key: this.#settings.apiKey,
      salt: this.#salt,
    });
    feed.start(before);
    this.#feed = feed;
    return feed;
  }

  /** Closes the client: the stream at once, calls in progress after 5 s at most. Further calls reject with `closed`. */
  close(): Promise<void> {
    this.#closing ??= this.#end();
    return this.#closing;
  }

  async #end(): Promise<void> {
    const { runtime, transports } = this.#settings;
    await this.#feed?.close();
    // Lets calls in progress end before they are aborted.
    const cancel = runtime.after(bounds.closeMs, () => this.#stop.abort(closed({ outcomeUnknown: true })));
    await Promise.allSettled(this.#running);
    cancel();
    // The check of the salt may go on after the call that began it.
    this.#stop.abort(closed());
    await Promise.all(transports.map((transport) => transport.close()));
  }

  /** True if ids must wait for the node to state the group's kinds. */
  get #lacksKinds(): boolean {
    return this.#settings.playerIdKinds === undefined && this.#salt !== null && this.#salt.kinds === undefined;
  }

  /** Resolves with the remaining ms once the kinds of ids are known. Rejects with the error that prevents it. */
  async #groupKnown({ signal }: CallOptions): Promise<number> {
    const { runtime, deadlineMs } = this.#settings;
    const endsAt = runtime.elapsedMs() + deadlineMs;
    await this.#during(signal, (whole) => this.#salt!.verify(whole));
    return Math.max(0, endsAt - runtime.elapsedMs());
  }

  /**
   * Resolves once the group's kinds of ids are known, or after a second without an answer; ids are then used as
   * written, and the node is asked again after a minute. For the spool, which accepts events without the node.
   */
  async ready({ signal }: CallOptions = {}): Promise<void> {
    const { runtime } = this.#settings;
    if (!this.#lacksKinds || this.#closing !== null) return;
    if (runtime.elapsedMs() >= this.#kindsAskAgainMs) {
      this.#kindsAskAgainMs = runtime.elapsedMs() + bounds.saltRecheckMs;
      const known = within(runtime, bounds.kindsWaitMs, undefined, (ending) => this.#groupKnown({ signal: ending }));
      this.#kindsWait = known.catch(() => undefined);
    }
    await abortable(this.#kindsWait, signal);
  }

  /** `hashes`: the call sends subject hashes, so that the salt must be the group's. */
  #call(ask: Request, { signal }: CallOptions, { hashes = false, deadlineMs = this.#settings.deadlineMs } = {}) {
    const { runtime } = this.#settings;
    return this.#during(signal, async (whole) => {
      const endsAt = runtime.elapsedMs() + deadlineMs;
      if (hashes && this.#salt?.isVerified === false) await this.#salt.verify(whole);
      return this.#send(ask, whole, Math.max(0, endsAt - runtime.elapsedMs()));
    });
  }

  #send(ask: Request, signal: AbortSignal, deadlineMs = this.#settings.deadlineMs): Promise<Answer> {
    const { attemptMs } = this.#settings;
    return this.#caller.call({ ...ask, path: api + ask.path, attemptMs, deadlineMs, signal });
  }

  /** Runs work that is aborted by the caller's signal or by the end of the client, whichever comes first. */
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

/**
 * Defines the order of checks on a request. The router handles an unknown path or method before these checks; the group
 * decides the meaning of an event after them.
 *
 *   readiness -> rate of the address -> key or session -> rate of the peer -> signature of a write
 *   -> path parameters -> encoding, media type -> size -> pace of refused batches -> room for events -> turn of a body
 *   -> digest of a signed body -> JSON -> schema -> key again, if the body came after the head
 *   -> turn of a long read, registrations of the address -> handler
 */
import type { IncomingHttpHeaders } from 'node:http';
import type { Socket } from 'node:net';
import { eventValidator } from '../../contract/event-validator.js';
import { type BodyOf, type OperationId, type Route, routes } from '../../contract/routes.js';
import { granted, type Outcome, type Refusal, refused } from '../../errors.js';
import { nothingNotOffered, type PeerView } from '../../group/api.js';
import type { ClusterHealth } from '../../group/cluster-api.js';
import type { Holder } from '../../group/ports/pool.js';
import { limits } from '../../limits.js';
import { addressKeyOf } from '../../validation/address-key.js';
import { type Validator, validatorOf } from '../../validation/validator.js';
import type { HttpDeps } from '../deps.js';
import { cutCount } from '../public-counts.js';
import type { BatchPace, PacedBatch } from '../room/batch-pace.js';
import { eventsWithin, type WorkTurns } from '../room/work-turns.js';
import type { RequestVerifier } from '../signing/request-verifier.js';
import type { BodyCheck } from '../signing/signature-fields.js';
import { callerOf, mayRegister } from './auth.js';
import { bodyRefusal } from './body.js';
import { decodeText, type Target } from './head.js';
import type { CallerLimit, createRateLimits } from './rate-limits.js';
import { refusalReply } from './reply.js';
import {
  type ApiReply,
  type BodyAdmission,
  type BodyReading,
  type Handler,
  holderOf,
  type MaybeAsync,
  then,
} from './request.js';

export interface Incoming extends Target {
  readonly headers: IncomingHttpHeaders;
  /** Path parameters as sent, in the order of the template. */
  readonly captures: readonly string[];
  readonly remote: Socket;
  readonly readBody: (reading: BodyReading) => MaybeAsync<ApiReply>;
}

type BodyUse = Pick<BodyReading, 'check' | 'use'>;

export interface Endpoint {
  readonly route: Route;
  /** Answers, synchronously if nothing must be awaited. */
  readonly answer: (incoming: Incoming) => MaybeAsync<ApiReply>;
}

export interface SharedBounds {
  readonly rates: ReturnType<typeof createRateLimits>;
  readonly bodies: BodyAdmission;
  readonly pace: BatchPace;
  readonly work: WorkTurns;
  readonly signing: RequestVerifier;
}

/** Joins a route, its handler and the checks, one method for each step. A step that refuses ends the request. */
export class CheckedEndpoint<Id extends OperationId> implements Endpoint {
  readonly route: Route;
  readonly #isRead: boolean;
  readonly #isLong: boolean;
  readonly #byAddress: CallerLimit | null;
  readonly #registrations: CallerLimit | null;
  readonly #names: readonly string[];
  readonly #validate: Validator<BodyOf<Id>>;

  constructor(
    private readonly id: Id,
    private readonly handle: Handler<BodyOf<Id>>,
    private readonly deps: Pick<HttpDeps, 'node' | 'settings' | 'clock' | 'sessionHolds'>,
    private readonly bounds: SharedBounds,
  ) {
    const { rates } = bounds;
    const isProbe = id === 'getHealth' || id === 'getReadiness';
    this.route = routes[id];
    this.#isRead = this.route.method === 'GET';
    this.#isLong = id === 'listPeers' || id === 'listAudit';
    this.#byAddress = isProbe ? null : rates.address;
    this.#registrations = id === 'registerPeer' ? rates.registrations : null;
    this.#names = [...this.route.path.matchAll(/\{(\w+)\}/g)].map((found) => found[1] ?? '');
    this.#validate = bodyValidator(id);
  }

  answer(incoming: Incoming): MaybeAsync<ApiReply> {
    const { node } = this.deps;
    if (!node.isReady && !this.route.whileNotReady) {
      const { reason } = node.health();
      return refusalReply(refused('dependency_unavailable', { details: reason === undefined ? {} : { reason } }));
    }
    const { cluster } = node;
    if (cluster === null || !this.#isRead) return this.#answerReady(incoming);
    if (cluster.isStale && !this.route.whileNotReady) return positioned(refusalReply(refused('stale')), cluster);
    // Read before the request is answered, so that the answer is never older than the stated position.
    const { appliedSeq } = cluster;
    return then(this.#answerReady(incoming), (reply) => positioned(reply, cluster, appliedSeq));
  }

  #answerReady(incoming: Incoming): MaybeAsync<ApiReply> {
    if (this.#byAddress === null) return this.#answerAdmitted(incoming);
    const address = addressKeyOf(incoming.remote.remoteAddress);
    return then(this.#byAddress.consume(address), (refusal) => refusal ?? this.#answerAdmitted(incoming));
  }

  #answerAdmitted(incoming: Incoming): MaybeAsync<ApiReply> {
    return then(this.#admit(incoming.headers), (admitted) => {
      if (!admitted.ok) return refusalReply(admitted);
      const caller = admitted.value;
      const { peer: byPeer } = this.bounds.rates;
      if (byPeer === null || caller === null) return this.#answerVerified(incoming, caller);
      return then(byPeer.consume(caller.peerId), (refusal) => refusal ?? this.#answerVerified(incoming, caller));
    });
  }

  #admit(headers: IncomingHttpHeaders): MaybeAsync<Outcome<PeerView | null>> {
    if (this.id === 'registerPeer') return mayRegister(this.deps, headers.cookie);
    const { node } = this.deps;
    const { authEnabled } = this.deps.settings;
    const find = () => callerOf(this.route.auth, authEnabled, headers, node);
    const caller = find();
    if (caller.ok || caller.code !== 'invalid_api_key' || node.cluster === null) return caller;
    // Another node may have issued the key a moment ago.
    return node.group.refresh().then((isFresh) => (isFresh ? find() : refused('stale')));
  }

  #answerVerified(incoming: Incoming, caller: PeerView | null): MaybeAsync<ApiReply> {
    const { path, query, headers, remote } = incoming;
    const request = { method: this.route.method, path, query, headers };
    return then(this.bounds.signing.check(this.route, request, caller, remote), (verified) =>
      verified.ok ? this.#answerCaller(incoming, caller, verified.value) : refusalReply(verified),
    );
  }

  #answerCaller(incoming: Incoming, caller: PeerView | null, check: BodyCheck | null): MaybeAsync<ApiReply> {
    const params = namedParams(this.#names, incoming.captures);
    if (!params.ok) return refusalReply(params);
    let isLater = false;
    const answer = this.#readBody(incoming, caller, check, (body) => {
      if (!body.ok) return refusalReply(body);
      const { query, headers, remote } = incoming;
      // While a body arrives, its peer may be suspended, or its key replaced.
      const late = isLater && caller ? callerOf(this.route.auth, true, headers, this.deps.node) : body;
      if (!late.ok) return refusalReply(late);
      this.#charge(incoming, caller, body.value);
      const request = { params: params.value, query, body: body.value, headers, caller, remote };
      if (this.#isRead && (this.#isLong || query.length > limits.shortQueryLength)) {
        return then(this.bounds.work.nextRead(holderOf(caller, remote)), () => this.handle(request));
      }
      if (this.#registrations === null) return this.handle(request);
      const address = addressKeyOf(incoming.remote.remoteAddress);
      return then(this.#registrations.consume(address), (refusal) => refusal ?? this.handle(request));
    });
    isLater = true;
    return answer;
  }

  #readBody(
    incoming: Incoming,
    caller: PeerView | null,
    check: BodyCheck | null,
    use: (body: Outcome<BodyOf<Id>>) => MaybeAsync<ApiReply>,
  ): MaybeAsync<ApiReply> {
    const { body } = this.route;
    if (body === undefined) return use(this.#validate(undefined));
    const refusal = bodyRefusal(incoming.headers, body.bytesMax);
    if (refusal !== undefined) return use(refusal);
    const holder = holderOf(caller, incoming.remote);
    const useValid = (parsed: Outcome<unknown>) => {
      const valid = parsed.ok ? this.#validate(parsed.value) : parsed;
      // The handler of a batch checks its events. A refused body may have had no turn: the present one is another's.
      if (valid.ok && this.id !== 'submitEvents') this.bounds.work.parsed(1);
      return use(valid);
    };
    if (this.id === 'submitEvents') return this.#readBatch(incoming, holder, { check, use: useValid });
    const inTurn = (bytes: number) =>
      (this.id === 'submitEvent' ? this.#roomRefusal(1, holder) : undefined) ??
      this.bounds.work.nextBody(holder, eventsWithin(bytes))?.then(() => undefined);
    return incoming.readBody({ arriving: null, check, inTurn, use: useValid });
  }

  #readBatch(incoming: Incoming, holder: Holder, reading: BodyUse): MaybeAsync<ApiReply> {
    const { remote, headers } = incoming;
    // The length of a chunked body is unknown; one read of it counts.
    const bytes = Number(headers['content-length'] ?? limits.readBytes);
    const paced = this.bounds.pace.begin(holder, bytes, this.deps.node.group.overloaded, performance.now());
    if (paced.waitMs === null) return reading.use(refused('overloaded'));
    const use = (parsed: Outcome<unknown>) => {
      paced.ended(!parsed.ok && parsed.code === 'overloaded', performance.now());
      return reading.use(parsed);
    };
    const read = () => this.#readAdmitted(incoming, holder, bytes, { ...reading, use });
    return onFailure(paced.waitMs === 0 ? read() : pause(paced.waitMs, remote).then(read), endOf(paced));
  }

  #readAdmitted(incoming: Incoming, holder: Holder, bytes: number, reading: BodyUse): MaybeAsync<ApiReply> {
    // A caller that has disconnected receives no answer, so the code of the refusal does not matter.
    if (incoming.remote.destroyed) return reading.use(refused('malformed_json'));
    const { group } = this.deps.node;
    const { overloaded } = group;
    const events = eventsWithin(bytes);
    const isFirst = overloaded && group.hasRoom(events, holder);
    const now = performance.now();
    const arriving = this.bounds.bodies.beginBody({ holder, socket: incoming.remote, now, overloaded, isFirst });
    if (arriving === undefined) {
      group.noteRefusal();
      return reading.use(refused('overloaded'));
    }
    const use = (parsed: Outcome<unknown>) => {
      arriving.end();
      return reading.use(parsed);
    };
    const inTurn = () => this.#turnOf(events, holder);
    return onFailure(incoming.readBody({ ...reading, use, arriving, inTurn }), arriving.end);
  }

  #turnOf(events: number, holder: Holder): MaybeAsync<Refusal | undefined> {
    const { work } = this.bounds;
    const notOffered = { before: work.eventsBefore(holder, events), own: work.eventsOf(holder) };
    const isAdmitted = this.deps.node.group.admits(events, holder, notOffered) && work.hasRoomFor(holder, events);
    if (!isAdmitted) return refused('overloaded');
    // Events of others may have been admitted meanwhile.
    return work.nextBody(holder, events)?.then(() => this.#roomRefusal(events, holder));
  }

  #roomRefusal(events: number, holder: Holder): Refusal | undefined {
    return this.deps.node.group.admits(events, holder, nothingNotOffered) ? undefined : refused('overloaded');
  }

  /** Charges the events of a batch beyond the first, which counted as the request. */
  #charge(incoming: Incoming, caller: PeerView | null, body: unknown): void {
    const events = typeof body === 'object' && body !== null && 'events' in body ? body.events : undefined;
    const more = Array.isArray(events) ? events.length - 1 : 0;
    if (more < 1) return;
    void this.#byAddress?.charge(addressKeyOf(incoming.remote.remoteAddress), more);
    if (caller !== null) void this.bounds.rates.peer?.charge(caller.peerId, more);
  }
}

/** Adds the newest applied record and the staleness, rounded: exact numbers would reveal when an event came. */
function positioned(reply: ApiReply, cluster: ClusterHealth, appliedSeq = cluster.appliedSeq): ApiReply {
  const { status, body, json, tag, contentType, headers, error, stream } = reply;
  const position = { appliedSeq: cutCount(appliedSeq), stalenessMs: Math.ceil(cluster.stalenessMs) };
  // A copy by spread took a tenth of the time of a read, because its objects have slow properties.
  const all = { status, body, json, tag, contentType, headers, position, error, stream };
  return all satisfies Record<keyof ApiReply, unknown>;
}

function onFailure<T>(answer: MaybeAsync<T>, act: () => void): MaybeAsync<T> {
  if (answer instanceof Promise) answer.catch(act);
  return answer;
}

/** Refers to nothing else of the request, whose body would otherwise be kept until its answer. */
const endOf = (paced: PacedBatch) => () => paced.ended(false, performance.now());

function pause(ms: number, remote: Socket): Promise<void> {
  return new Promise((resolve) => {
    const end = (): void => {
      clearTimeout(timer);
      remote.off('close', end);
      resolve();
    };
    const timer = setTimeout(end, ms);
    remote.once('close', end);
  });
}

/** Converts bytes to types: the schema of a route's row and `BodyOf` of that row are equivalent. */
function bodyValidator<Id extends OperationId>(id: Id): Validator<BodyOf<Id>> {
  const route: Route = routes[id];
  const validate =
    route.body === undefined
      ? () => granted(undefined)
      : id === 'submitEvent'
        ? eventValidator()
        : validatorOf(route.body.schema);
  return validate as Validator<BodyOf<Id>>;
}

function namedParams(names: readonly string[], captures: readonly string[]): Outcome<Record<string, string>> {
  const params: Record<string, string> = {};
  for (let place = 0; place < names.length; place++) {
    const value = decodeText(captures[place] ?? '');
    if (value === undefined)
      return refused('invalid_parameter', { text: `${names[place]} is not percent-encoded UTF-8` });
    params[names[place]!] = value;
  }
  return granted(params);
}

/**
 * The order of checks, in one place. What stands before it (an unknown path or method) is the router's; what comes after
 * (the meaning of an event) is the group's.
 *
 *   readiness -> rate of the address -> key or session -> rate of the peer
 *   -> encoding, media type -> size -> room for events -> JSON -> schema -> handler
 */
import type { IncomingHttpHeaders } from 'node:http';
import { granted, type Outcome, type Refusal, refused } from '../errors.js';
import type { PeerView } from '../group/api.js';
import { limits } from '../limits.js';
import { ArrivingBatches } from './arriving.js';
import { callerOf, mayRegister } from './auth.js';
import { bodyFault } from './body.js';
import { type BodyOf, type OperationId, type Route, routes } from './contract/routes.js';
import { type Validator, validatorOf } from './contract/validators.js';
import type { FaceDeps } from './deps.js';
import { decodeText } from './head.js';
import { addressKeyOf, type RateLimits } from './rate-limits.js';
import { refusalReply } from './reply.js';
import type { ApiReply, Handler } from './request.js';

/** A request whose route is known. */
export interface Incoming {
  readonly headers: IncomingHttpHeaders;
  /** Path parameters as sent, in the order of the template. */
  readonly captures: readonly string[];
  readonly query: string;
  /** The connection: its address is looked up where a limit asks for it. */
  readonly remote: { readonly remoteAddress?: string | undefined };
  /**
   * Reads and parses the body, at most as long as the route takes. `fault` is asked as late as can be before it is parsed: a
   * body that will be refused costs little until then.
   */
  readonly readBody: (fault: () => Refusal | undefined) => Outcome<unknown> | Promise<Outcome<unknown>>;
}

export interface Endpoint {
  readonly route: Route;
  /** At once where nothing has to be waited for. */
  readonly answer: (incoming: Incoming) => ApiReply | Promise<ApiReply>;
}

/** Goes on with a value at once, or when it is there: most requests wait for nothing, and a promise has its price. */
function then<T, R>(value: T | Promise<T>, next: (value: T) => R | Promise<R>): R | Promise<R> {
  return value instanceof Promise ? value.then(next) : next(value);
}

/** Joins a route of the table, its handler and the checks between them. */
export function createEndpoint<Id extends OperationId>(
  id: Id,
  handle: Handler<BodyOf<Id>>,
  deps: FaceDeps,
  rates: RateLimits,
): Endpoint {
  const route: Route = routes[id];
  const names = [...route.path.matchAll(/\{(\w+)\}/g)].map((found) => found[1] ?? '');
  const validate = bodyValidator(id);
  const isProbe = id === 'getHealth' || id === 'getReadiness';
  const byAddress = isProbe ? null : rates.address;
  const byPeer = rates.peer;
  const batches = new ArrivingBatches();
  const eventsMax = id === 'submitEvents' ? limits.batchEventsMax : id === 'submitEvent' ? 1 : 0;

  function answer(incoming: Incoming): ApiReply | Promise<ApiReply> {
    const health = deps.group.health();
    if (!health.ready && !route.whileNotReady) {
      return refusalReply(refused('dependency_unavailable', { details: { reason: health.reason } }));
    }
    if (byAddress === null) return answerAdmitted(incoming);
    const address = addressKeyOf(incoming.remote.remoteAddress);
    return then(byAddress.take(address), (refusal) => refusal ?? answerAdmitted(incoming));
  }

  function answerAdmitted(incoming: Incoming): ApiReply | Promise<ApiReply> {
    return then(admit(incoming.headers), (caller) => {
      if (!caller.ok) return refusalReply(caller);
      if (byPeer === null || caller.value === null) return answerCaller(incoming, caller.value);
      return then(byPeer.take(caller.value.peerId), (refusal) => refusal ?? answerCaller(incoming, caller.value));
    });
  }

  function answerCaller(incoming: Incoming, caller: PeerView | null): ApiReply | Promise<ApiReply> {
    const params = namedParams(names, incoming.captures);
    if (!params.ok) return refusalReply(params);
    return then(readBody(incoming), (body) => {
      if (!body.ok) return refusalReply(body);
      if (byAddress !== null || byPeer !== null) charge(incoming, caller, body.value);
      const { query, headers } = incoming;
      return handle({ params: params.value, query, body: body.value, headers, caller });
    });
  }

  /** `overloaded` where no further events are let in. */
  function roomFault(): Refusal | undefined {
    return eventsMax === 0 || deps.group.admits(eventsMax) ? undefined : refused('overloaded');
  }

  /** The events of a batch beyond the first, which was counted as the request. */
  function charge(incoming: Incoming, caller: PeerView | null, body: unknown): void {
    const more = eventsIn(body) - 1;
    if (more < 1) return;
    void byAddress?.charge(addressKeyOf(incoming.remote.remoteAddress), more);
    if (caller !== null) void byPeer?.charge(caller.peerId, more);
  }

  function admit(headers: IncomingHttpHeaders): Outcome<PeerView | null> | Promise<Outcome<PeerView | null>> {
    if (id === 'registerPeer') return registrant(headers.cookie);
    return callerOf(route.auth, deps.settings.authEnabled, headers, deps.group);
  }

  async function registrant(cookies: string | undefined): Promise<Outcome<null>> {
    return mayRegister(deps, cookies);
  }

  function readBody(incoming: Incoming): Outcome<BodyOf<Id>> | Promise<Outcome<BodyOf<Id>>> {
    if (route.body === undefined) return validate(undefined);
    const fault = bodyFault(incoming.headers, route.body.bytesMax);
    if (fault !== undefined) return fault;
    return then(readJson(incoming), (parsed) => (parsed.ok ? validate(parsed.value) : parsed));
  }

  function readJson(incoming: Incoming): Outcome<unknown> | Promise<Outcome<unknown>> {
    if (id !== 'submitEvents') return incoming.readBody(roomFault);
    const arriving = batches.begin(performance.now(), deps.group.overloaded);
    if (arriving === undefined) {
      deps.group.turnedAway();
      return refused('overloaded');
    }
    const read = incoming.readBody(() => {
      batches.end(arriving);
      return roomFault();
    });
    return then(read, (parsed) => {
      batches.end(arriving);
      return parsed;
    });
  }

  return { route, answer };
}

/** Events of a batch's body; 0 for any other. */
function eventsIn(body: unknown): number {
  return typeof body === 'object' && body !== null && 'events' in body && Array.isArray(body.events)
    ? body.events.length
    : 0;
}

/** Where bytes become types: the schema of a route's row and `BodyOf` of the same row are one. */
function bodyValidator<Id extends OperationId>(id: Id): Validator<BodyOf<Id>> {
  const route: Route = routes[id];
  const validate = route.body === undefined ? () => granted(undefined) : validatorOf(route.body.schema);
  return validate as Validator<BodyOf<Id>>;
}

function namedParams(names: readonly string[], captures: readonly string[]): Outcome<Record<string, string>> {
  const params: Record<string, string> = {};
  for (const [place, name] of names.entries()) {
    const value = decodeText(captures[place] ?? '');
    if (value === undefined) return refused('invalid_parameter', { text: `${name} is not percent-encoded UTF-8` });
    params[name] = value;
  }
  return granted(params);
}

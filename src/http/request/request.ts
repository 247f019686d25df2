/** The input and output of handlers: plain values, which both Koa and the fast path can give and take. */
import type { IncomingHttpHeaders } from 'node:http';
import type { Socket } from 'node:net';
import type { Writable } from 'node:stream';
import type { ErrorBody } from '../../contract/error-bodies.js';
import type { BodyOf, OperationId } from '../../contract/routes.js';
import type { Outcome, Refusal } from '../../errors.js';
import type { PeerView } from '../../group/api.js';
import type { Holder } from '../../group/ports/pool.js';
import { addressKeyOf } from '../../validation/address-key.js';
import type { BodyCheck } from '../signing/signature-fields.js';

/** A connection as handlers see it. Its address is read if a limit needs it. */
export interface Remote {
  readonly remoteAddress?: string | undefined;
  readonly destroyed?: boolean;
}

/** Returns the holder to which a request is charged: the peer, or the address if no peer acts. */
export function holderOf(caller: PeerView | null, remote: Remote): Holder {
  return caller === null ? addressKeyOf(remote.remoteAddress) : caller.index;
}

export interface ApiRequest<Body> {
  readonly params: Readonly<Record<string, string>>;
  /** The query as sent, without `?` and not decoded, see `request-parameters.ts`. */
  readonly query: string;
  readonly body: Body;
  readonly headers: IncomingHttpHeaders;
  /** The acting, active peer. Null without a valid key on a public read, and always if peer authentication is off. */
  readonly caller: PeerView | null;
  readonly remote: Remote;
}

/** How recent the state was from which a node of a cluster answered a read. */
export interface Position {
  readonly appliedSeq: number;
  /** Whole ms. */
  readonly stalenessMs: number;
}

export interface ApiReply {
  readonly status: number;
  readonly body: unknown;
  /** The body as ASCII-only JSON, instead of `body`, if a template is faster than `JSON.stringify`. */
  readonly json?: string | undefined;
  /** The entity tag, if it is not computed from the body. Its text has characters of base64url, without quotes. */
  readonly tag?: { readonly text: string } | undefined;
  readonly contentType?: string | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Undefined on a node without a cluster, and for a change. */
  readonly position?: Position;
  /** The body of a refusal, repeated here because it has a second wire form and its code is counted. */
  readonly error?: ErrorBody | undefined;
  /** Writes server-sent events after the head, without a defined end. There is no body then. */
  readonly stream?: ((to: Writable) => void) | undefined;
}

export interface BodyStart {
  readonly holder: Holder;
  readonly socket: Socket;
  /** Time by `performance.now()`. */
  readonly now: number;
  readonly overloaded: boolean;
  /** Whether the holder has priority in an overload. */
  readonly isFirst: boolean;
}

export interface ArrivingBody {
  /** Frees the received part of the body. The reader of the body sets it. */
  onDrop: () => void;
  /** Counts further bytes. Returns false if the body was ended; the bytes must then be dropped. */
  arrived(bytes: number): boolean;
  end(): void;
}

export interface BodyReading {
  readonly arriving: ArrivingBody | null;
  readonly check: BodyCheck | null;
  /** Called once the body has arrived: refuses it unparsed if its events have no room; else it waits for its turn. */
  readonly inTurn: (bytes: number) => MaybeAsync<Refusal | undefined>;
  /** Gets the parsed body or its refusal, once: a promise that has waited would keep it until a full collection. */
  readonly use: (body: Outcome<unknown>) => MaybeAsync<ApiReply>;
}

export interface BodyAdmission {
  beginBody(start: BodyStart): ArrivingBody | undefined;
}

export type Handler<Body> = (request: ApiRequest<Body>) => MaybeAsync<ApiReply>;

export type Handlers = { readonly [Id in OperationId]: Handler<BodyOf<Id>> };

/** A value, or the promise of one. Most requests wait for nothing, and a promise costs time. */
export type MaybeAsync<T> = T | Promise<T>;

export function then<T, R>(value: MaybeAsync<T>, next: (value: T) => MaybeAsync<R>): MaybeAsync<R> {
  return value instanceof Promise ? value.then(next) : next(value);
}

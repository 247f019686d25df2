/**
 * What a handler gets and gives: plain values, free of Koa and of sockets, so that Koa and the fast path
 * can call the handlers. Whatever was checked before a handler runs stands in `pipeline.ts`.
 */
import type { IncomingHttpHeaders } from 'node:http';
import type { Socket } from 'node:net';
import type { Writable } from 'node:stream';
import type { ErrorBody } from '../../contract/error-bodies.js';
import type { BodyOf, OperationId } from '../../contract/routes.js';
import type { PeerView } from '../../group/api.js';
import type { Holder } from '../../group/holder.js';

/** A connection as far as handlers look at it: its address is read where a limit asks for it. */
export interface Remote {
  readonly remoteAddress?: string | undefined;
}

export interface ApiRequest<Body> {
  /** Path parameters, percent-decoded once. */
  readonly params: Readonly<Record<string, string>>;
  /** The query as sent, without `?` and not decoded: see `parameters.ts`. */
  readonly query: string;
  /** The body as the schema admitted it. */
  readonly body: Body;
  readonly headers: IncomingHttpHeaders;
  /**
   * The acting peer, active; null without a valid key on a public read, and always where peer authentication is off.
   */
  readonly caller: PeerView | null;
  /** The connection. */
  readonly remote: Remote;
}

export interface ApiReply {
  readonly status: number;
  /** A value to be sent as JSON; bytes where `contentType` is given. */
  readonly body: unknown;
  /** The body as JSON of ASCII alone, in place of `body`, where a template makes it faster than `JSON.stringify`. */
  readonly json?: string;
  /**
   * The entity tag, where it need not be told from the body; its text is of characters of base64url, without quotes.
   */
  readonly tag?: { readonly text: string } | undefined;
  readonly contentType?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** The body again where this is a refusal: it has a second form, and its code is counted. */
  readonly error?: ErrorBody;
  /** Writes server-sent events after the head, for as long as it likes. There is no body then. */
  readonly stream?: (to: Writable) => void;
}

/** A batch whose head has arrived. */
export interface BodyStart {
  readonly holder: Holder;
  readonly socket: Socket;
  /** Events that it may hold. */
  readonly events: number;
  /** By `performance.now()`. */
  readonly now: number;
  /** Whether the node is overloaded. */
  readonly overloaded: boolean;
  /** Whether the holder comes before others in an overload. */
  readonly isFirst: boolean;
}

/** The body of a batch on its way in. */
export interface ArrivingBody {
  /** Frees the part of the body that was read. The reader of the body sets it. */
  onDrop: () => void;
  /** Events that the batch may hold. */
  readonly events: number;
  /** Counts further bytes. False where the body is over: the bytes must not be kept. */
  arrived(bytes: number): boolean;
  /** The body has arrived, or never will. */
  end(): void;
}

/** Admits bodies of batches. */
export interface BodyAdmission {
  /** Undefined where too many bodies are on their way. */
  beginBody(start: BodyStart): ArrivingBody | undefined;
}

export type Handler<Body> = (request: ApiRequest<Body>) => ApiReply | Promise<ApiReply>;

export type Handlers = { readonly [Id in OperationId]: Handler<BodyOf<Id>> };

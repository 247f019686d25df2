/** Declares the interface through which requests leave the client, so that a game can plug in its own HTTP library. */
import { abortable } from './listeners.js';

/** One request as the client passes it to a transport. @public */
export interface TransportRequest {
  /** The HTTP method. */
  readonly method: 'GET' | 'POST' | 'DELETE';
  /** Path and query, to be appended to the node's address. */
  readonly path: string;
  /** Header fields, names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** JSON text, if the request has a body. */
  readonly body?: string;
  /** Aborts the request and, while it is being read, the answer. */
  readonly signal: AbortSignal;
}

/** The head of an answer, and its body as it arrives. @public */
export interface TransportResponse {
  /** The HTTP status. */
  readonly status: number;
  /** The value of a header field by its name in lower case. */
  header(name: string): string | undefined;
  /** The body. The client always reads it to its end or calls `return` of the iterator. */
  readonly body: AsyncIterable<Uint8Array>;
}

/**
 * Sends requests. `request` rejects if no answer arrived: with a {@link TransportError} if the request certainly was
 * not sent, with any other error if it may have arrived. @public
 */
export interface Transport {
  /** Sends one request and resolves with the head of its answer. */
  request(request: TransportRequest): Promise<TransportResponse>;
  /** Closes all connections. */
  close(): Promise<void>;
}

/**
 * Resolves with the head of an answer. Rejects with the signal's reason as soon as the signal is aborted: a transport
 * may react late, as undici does while it connects or waits for a free connection. An answer that arrives later is
 * discarded, so that its connection is free again.
 */
export async function answerOf(transport: Transport, request: TransportRequest): Promise<TransportResponse> {
  const { signal } = request;
  signal.throwIfAborted();
  const answer = transport.request(request).then(async (response) => {
    if (signal.aborted) for await (const _ of response.body) break;
    return response;
  });
  return abortable(answer, signal);
}

/** No answer arrived, and it is known whether the node can have received the request. @public */
export class TransportError extends Error {
  /** The name of the class. */
  override readonly name = 'TransportError';
  /** True if the request may have arrived. */
  readonly sent: boolean;

  /** @param sent - true if the request may have arrived. */
  constructor(message: string, sent: boolean, cause?: unknown) {
    super(message, { cause });
    this.sent = sent;
  }
}

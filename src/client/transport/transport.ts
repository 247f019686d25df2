/**
 * How requests leave the client: one small port, so that a game server can bring its own HTTP, and a test none at all.
 */
import { onAbort } from './runtime.js';

/**
 * One request as the client hands it to a transport.
 * @public
 */
export interface TransportRequest {
  /** The method. */
  readonly method: 'GET' | 'POST' | 'DELETE';
  /** Path and query, to be appended to the node's address. */
  readonly path: string;
  /** Header fields, names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** JSON text, where the request has a body. */
  readonly body?: string;
  /** Ends the request and, while it is being read, the answer. */
  readonly signal: AbortSignal;
}

/**
 * The head of an answer, and its body as it arrives.
 * @public
 */
export interface TransportResponse {
  /** The HTTP status. */
  readonly status: number;
  /** The value of a header field by its name in lower case. */
  header(name: string): string | undefined;
  /** The body. It is always read to its end, or left by a `return` of the iterator. */
  readonly body: AsyncIterable<Uint8Array>;
}

/**
 * What carries requests. `request` rejects where no answer came: with a {@link TransportError} where it knows that the
 * request never left, with anything else where it may have arrived.
 * @public
 */
export interface Transport {
  /** Sends one request and resolves with the head of its answer. */
  request(request: TransportRequest): Promise<TransportResponse>;
  /** Ends every connection. */
  close(): Promise<void>;
}

/**
 * The head of an answer. Rejects with the signal's reason as soon as it is aborted: a transport may heed its signal
 * late, as undici does while it connects or waits for a connection that is free. An answer that comes after all is
 * left, so that its connection is free again.
 */
export function answerOf(transport: Transport, request: TransportRequest): Promise<TransportResponse> {
  const { signal } = request;
  return new Promise((resolve, reject) => {
    const giveUp = () => reject(signal.reason);
    if (signal.aborted) {
      giveUp();
      return;
    }
    const release = onAbort(signal, giveUp);
    transport
      .request(request)
      .finally(release)
      .then((response) => (signal.aborted ? leave(response) : resolve(response)))
      .catch(reject);
  });
}

async function leave({ body }: TransportResponse): Promise<void> {
  for await (const _ of body) return;
}

/**
 * No answer came, and it is known whether the node can have seen the request.
 * @public
 */
export class TransportError extends Error {
  /** The name of the class. */
  override readonly name = 'TransportError';
  /** Whether the request may have arrived. */
  readonly sent: boolean;

  /** @param sent - whether the request may have arrived. */
  constructor(message: string, sent: boolean, cause?: unknown) {
    super(message, { cause });
    this.sent = sent;
  }
}

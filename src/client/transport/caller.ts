/** Makes JSON calls with time limits, circuit breakers, failover and retries; every failure is a `TrustError`. */
import { bounds } from '../bounds.js';
import { isRecord, jsonIn } from '../json-text.js';
import { isRetryable, TrustError, type TrustErrorCode } from '../trust-error.js';
import { Breaker, type CallNode, Round } from './node-choice.js';
import { appliedSeqOf, type ReadFloor } from './read-floor.js';
import type { RequestSigner } from './request-signer.js';
import { Retries } from './retries.js';
import { pause, type Runtime, within } from './time.js';
import { answerOf, type Transport, TransportError, type TransportResponse } from './transport.js';

export interface Ask {
  readonly method: 'GET' | 'POST' | 'DELETE';
  readonly path: string;
  readonly json?: unknown;
  /** The key of the acting peer. Public reads have none, so that the node and proxies may cache the answer. */
  readonly key?: string | undefined;
  /** `always`: sent again after any failure. `unsent`: sent again only if the node certainly did not act. */
  readonly repeat: 'always' | 'unsent';
  /** Time limits of one attempt, and of all attempts with the pauses between them. */
  readonly attemptMs: number;
  readonly deadlineMs: number;
  readonly signal: AbortSignal | undefined;
}

export interface Answer {
  readonly status: number;
  readonly body: unknown;
}

const timedOut = Symbol('timed out');

/** Makes calls of one kind: calls of the same caller share a circuit breaker per node. */
export class Caller {
  readonly #nodes: readonly CallNode[];

  /** `transports`: one per node, the preferred one first. `signer` signs writes that are sent with a key. */
  constructor(
    transports: readonly Transport[],
    private readonly runtime: Runtime,
    private readonly floor: ReadFloor,
    private readonly signer: RequestSigner | null = null,
  ) {
    this.#nodes = transports.map((transport) => ({ transport, breaker: new Breaker(runtime) }));
  }

  /** Resolves with the first answer of 2xx. Rejects with a `TrustError`, or with the reason of `ask.signal`. */
  async call(ask: Ask): Promise<Answer> {
    const retries = new Retries(this.runtime, ask.deadlineMs);
    const round = new Round(this.#nodes, this.runtime);
    let repeated = false;
    let last: TrustError | undefined;
    for (;;) {
      try {
        return await this.#attempt(ask, round, retries.leftMs);
      } catch (error) {
        if (!(error instanceof TrustError)) throw error;
        repeated ||= error.outcomeUnknown;
        // An open circuit does not say why it opened.
        if (error.code !== 'circuit_open') last = error;
        const mayRepeat = isRetryable(error) && (ask.repeat === 'always' || !error.outcomeUnknown);
        const canMove = isOfNode(error, ask);
        if (mayRepeat && canMove && round.hasNext && retries.leftMs > 0) continue;
        const waitMs = mayRepeat ? retries.pauseMs(round.end(error, canMove)) : null;
        if (waitMs === null) throw markedUnknown(last ?? error, repeated);
        await pause(this.runtime, waitMs, ask.signal);
      }
    }
  }

  async #attempt(ask: Ask, round: Round, leftMs: number): Promise<Answer> {
    ask.signal?.throwIfAborted();
    // A request that is given up at once would count as a failure of the node, which may act on it.
    if (leftMs <= 0) throw new TrustError('timeout', 'no time was left to send the request');
    const node = round.next();
    const { transport, breaker } = node;
    const timeoutMs = attemptMsOf(ask, leftMs, round.hasNext);
    try {
      const exchange = (signal: AbortSignal) => this.#exchange(ask, transport, signal);
      const answer = await within(this.runtime, timeoutMs, ask.signal, exchange, timedOut);
      breaker.succeeded();
      return answer;
    } catch (error) {
      if (ask.signal?.aborted) {
        breaker.abandoned();
        throw ask.signal.reason;
      }
      const known = trustErrorOf(error, timeoutMs);
      if (isRetryable(known) && !isFromWellNode(known)) breaker.failed();
      else breaker.succeeded();
      if (known.retryAfterMs !== undefined) round.skipFor(node, known.retryAfterMs);
      throw known;
    }
  }

  async #exchange(ask: Ask, transport: Transport, signal: AbortSignal): Promise<Answer> {
    const headers: Record<string, string> = { accept: 'application/json' };
    if (ask.key !== undefined) headers['x-peer-api-key'] = ask.key;
    if (ask.json !== undefined) headers['content-type'] = 'application/json';
    const body = ask.json === undefined ? {} : { body: JSON.stringify(ask.json) };
    const request = { method: ask.method, path: ask.path, headers, ...body };
    const signer = ask.key !== undefined && ask.method !== 'GET' ? this.signer : null;
    const signed = signer === null ? headers : await signer(request);
    const response = await answerOf(transport, { ...request, headers: signed, signal });
    const parsed = jsonIn(await readText(response));
    if (response.status < 200 || response.status >= 300) throw refusalOf(response, parsed, this.runtime.now());
    if (parsed === undefined) throw unexpected(response, 'the answer is not JSON');
    if (ask.method === 'GET') this.#checkFloor(response);
    return { status: response.status, body: parsed };
  }

  /** Throws `behind` if the node has not applied yet what this client has read from another one. */
  #checkFloor(response: TransportResponse): void {
    const seq = appliedSeqOf(response);
    if (seq === undefined) return;
    if (!this.floor.admits(seq.most)) {
      throw new TrustError('behind', 'the node has not yet applied changes that this client read from another node');
    }
    this.floor.note(seq.least);
  }
}

/** While another node remains, an attempt leaves it half of the time. A call that must not be sent twice has it all. */
function attemptMsOf(ask: Ask, leftMs: number, hasNext: boolean): number {
  if (ask.repeat === 'unsent') return leftMs;
  const wholeMs = Math.min(ask.attemptMs, leftMs);
  return hasNext ? Math.min(wholeMs, leftMs / 2, bounds.failoverAttemptMs) : wholeMs;
}

/** False if the peer sends too much or too slowly, or a write meets an overload: all nodes forward it to one leader. */
function isOfNode({ code, status }: TrustError, { method }: Ask): boolean {
  if (code === 'overloaded') return method === 'GET';
  return code === 'unexpected_answer' || (status !== 408 && status !== 429);
}

/** A refusal, including 408 and 429, comes from a healthy node; so does the answer of one that waits for a leader. */
function isFromWellNode({ code, status }: TrustError): boolean {
  if (code === 'behind' || code === 'no_leader') return true;
  return code !== 'unexpected_answer' && (status ?? 500) < 500;
}

function trustErrorOf(error: unknown, timeoutMs: number): TrustError {
  if (error instanceof TrustError) return error;
  if (error === timedOut) {
    return new TrustError('timeout', `no answer within ${Math.round(timeoutMs)} ms`, { outcomeUnknown: true });
  }
  const text = error instanceof Error && error.message !== '' ? error.message : 'the connection broke';
  const outcomeUnknown = !(error instanceof TransportError) || error.sent;
  return new TrustError('unreachable', text, { outcomeUnknown, cause: error });
}

/** Returns the same error, marked if an earlier attempt of the call has an unknown outcome. */
export function markedUnknown(error: TrustError, repeated: boolean): TrustError {
  if (!repeated || error.outcomeUnknown) return error;
  return new TrustError(error.code, error.message, { ...error, cause: error.cause, outcomeUnknown: true });
}

/** The error for an answer outside the contract, such as a proxy's page or a truncated body. */
export function unexpected({ status }: Pick<TransportResponse, 'status'>, what: string, retryAfterMs?: number) {
  // A proxy with a smaller bound than the node's refuses a request in its own words.
  if (status === 413) return new TrustError('payload_too_large', what, { status });
  if (status === 414) return new TrustError('uri_too_long', what, { status });
  if (status === 431) return new TrustError('headers_too_large', what, { status });
  return new TrustError('unexpected_answer', what, { status, retryAfterMs, outcomeUnknown: true });
}

/** The error for an answer of 2xx whose body does not follow the contract. */
export function notTheContract({ status }: Pick<Answer, 'status'>): TrustError {
  return unexpected({ status }, 'the answer does not follow the contract');
}

export function refusalOf(response: TransportResponse, body: unknown, now: number): TrustError {
  const pauseMs = retryAfterMs(response.header('retry-after'), now);
  if (!isRecord(body) || typeof body.code !== 'string' || typeof body.error !== 'string') {
    return unexpected(response, `the answer ${response.status} does not come from the service`, pauseMs);
  }
  const details = isRecord(body.details) ? body.details : undefined;
  return new TrustError(body.code as TrustErrorCode, body.error, {
    status: response.status,
    retryAfterMs: pauseMs,
    details,
    requestId: response.header('x-request-id'),
    // A node that shuts down completes a change that it has recorded.
    outcomeUnknown: response.status === 500 || details?.recorded === true,
  });
}

/** `Retry-After` in ms from now: a number of seconds, or a date (RFC 9110, section 10.2.3). */
export function retryAfterMs(value: string | undefined, now: number): number | undefined {
  if (value === undefined) return undefined;
  if (/^\d+$/.test(value)) return Number(value) * 1_000;
  const at = Date.parse(value);
  return Number.isNaN(at) ? undefined : Math.max(0, at - now);
}

/** Returns the whole body as text; throws if it is larger than any answer of the contract. */
export async function readText(response: TransportResponse): Promise<string> {
  const decoder = new TextDecoder();
  let text = '';
  let bytes = 0;
  for await (const chunk of response.body) {
    bytes += chunk.byteLength;
    if (bytes > bounds.answerBytes) throw unexpected(response, 'the answer is too large');
    text += decoder.decode(chunk, { stream: true });
  }
  return text + decoder.decode();
}

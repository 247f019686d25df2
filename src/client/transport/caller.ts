/**
 * One JSON call of the contract: key, time limits, circuit breakers, the move to the next node, retries with full
 * jitter, and every failure as a `TrustError`. What may be sent twice is said by whoever calls.
 */
import { bounds } from '../bounds.js';
import { isRetryable, TrustError, type TrustErrorCode } from '../trust-error.js';
import { Breaker } from './breaker.js';
import { appliedSeqOf, type ReadFloor } from './read-floor.js';
import type { RequestSigner } from './request-signer.js';
import { Retries } from './retries.js';
import { type CallNode, Round } from './round.js';
import { linked, pause, type Runtime } from './runtime.js';
import { answerOf, type Transport, TransportError, type TransportResponse } from './transport.js';

export interface Ask {
  readonly method: 'GET' | 'POST' | 'DELETE';
  readonly path: string;
  /** Sent as JSON. */
  readonly json?: unknown;
  /** The key of the acting peer; public reads go without, so that the node and proxies may keep the answer. */
  readonly key?: string | undefined;
  /** `always`: sent again after any trouble. `unsent`: only where the node certainly did not act. */
  readonly repeat: 'always' | 'unsent';
  /** For one attempt, and for all of them with the pauses between. */
  readonly attemptMs: number;
  readonly deadlineMs: number;
  readonly signal: AbortSignal | undefined;
}

export interface Answer {
  readonly status: number;
  readonly body: unknown;
}

const timedOut = Symbol('timed out');

/** Calls of one kind: those that share it share a circuit breaker for each node. */
export class Caller {
  readonly #nodes: readonly CallNode[];
  readonly #runtime: Runtime;
  readonly #floor: ReadFloor;
  readonly #signer: RequestSigner | null;

  /**
   * `transports`: one per node, the preferred one first. `signer` signs what is sent with a key and changes something.
   */
  constructor(
    transports: readonly Transport[],
    runtime: Runtime,
    floor: ReadFloor,
    signer: RequestSigner | null = null,
  ) {
    this.#signer = signer;
    this.#nodes = transports.map((transport) => ({ transport, breaker: new Breaker(runtime) }));
    this.#runtime = runtime;
    this.#floor = floor;
  }

  /** The first answer of 2xx. Rejects with a `TrustError`, or with the reason of `ask.signal`. */
  async call(ask: Ask): Promise<Answer> {
    const retries = new Retries(this.#runtime, ask.deadlineMs);
    const round = new Round(this.#nodes, this.#runtime);
    let repeated = false;
    let last: TrustError | undefined;
    for (;;) {
      try {
        return await this.#attempt(ask, round, retries.leftMs);
      } catch (error) {
        if (!(error instanceof TrustError)) throw error;
        repeated ||= error.outcomeUnknown;
        // An open circuit says nothing about why it opened.
        if (error.code !== 'circuit_open') last = error;
        const mayRepeat = isRetryable(error) && (ask.repeat === 'always' || !error.outcomeUnknown);
        const canMove = isOfNode(error, ask);
        if (mayRepeat && canMove && round.hasNext && retries.leftMs > 0) continue;
        const waitMs = mayRepeat ? retries.pauseMs(round.end(error, canMove)) : null;
        if (waitMs === null) throw markedUnknown(last ?? error, repeated);
        await pause(this.#runtime, waitMs, ask.signal ?? never);
      }
    }
  }

  async #attempt(ask: Ask, round: Round, leftMs: number): Promise<Answer> {
    ask.signal?.throwIfAborted();
    const node = round.next();
    const { transport, breaker } = node;
    const timeoutMs = attemptMsOf(ask, leftMs, round.hasNext);
    const { controller, release } = linked(ask.signal);
    const stop = this.#runtime.after(Math.max(0, timeoutMs), () => controller.abort(timedOut));
    try {
      const answer = await this.#exchange(ask, transport, controller.signal);
      breaker.succeeded();
      return answer;
    } catch (error) {
      if (ask.signal?.aborted) {
        breaker.abandoned();
        throw ask.signal.reason;
      }
      const known = controller.signal.reason === timedOut ? timeout(timeoutMs) : trustErrorOf(error);
      if (isRetryable(known) && !isFromWellNode(known)) breaker.failed();
      else breaker.succeeded();
      if (known.retryAfterMs !== undefined) round.rests(node, known.retryAfterMs);
      throw known;
    } finally {
      stop();
      release();
    }
  }

  async #exchange(ask: Ask, transport: Transport, signal: AbortSignal): Promise<Answer> {
    const headers: Record<string, string> = { accept: 'application/json' };
    if (ask.key !== undefined) headers['x-peer-api-key'] = ask.key;
    if (ask.json !== undefined) headers['content-type'] = 'application/json';
    const body = ask.json === undefined ? {} : { body: JSON.stringify(ask.json) };
    const request = { method: ask.method, path: ask.path, headers, ...body };
    const signer = ask.key !== undefined && ask.method !== 'GET' ? this.#signer : null;
    const signed = signer === null ? headers : await signer.signedHeaders(request);
    const response = await answerOf(transport, { ...request, headers: signed, signal });
    const parsed = parse(await readText(response), response);
    if (response.status < 200 || response.status >= 300) throw refusalOf(response, parsed, this.#runtime.now());
    if (ask.method === 'GET') this.#checkFloor(response);
    return { status: response.status, body: parsed };
  }

  /** Throws `behind` where the node has not applied yet what this client has read from another. */
  #checkFloor(response: TransportResponse): void {
    const seq = appliedSeqOf(response);
    if (seq === undefined) return;
    if (!this.#floor.admits(seq)) {
      throw new TrustError('behind', 'the node has not applied yet what was read from another node');
    }
    this.#floor.note(seq);
  }
}

/**
 * While another node is left to ask, an attempt leaves it half of the time. A call that may not be sent twice gets all
 * of its time at the one node that has it.
 */
function attemptMsOf(ask: Ask, leftMs: number, hasNext: boolean): number {
  const wholeMs = Math.min(ask.attemptMs, leftMs);
  if (!hasNext || ask.repeat === 'unsent') return wholeMs;
  return Math.min(wholeMs, leftMs / 2, bounds.failoverAttemptMs);
}

/**
 * Whether another node may do better: not where the peer sends too much or too slowly, and not where a write meets an
 * overload, since every node hands writes to the same leader.
 */
function isOfNode({ code, status }: TrustError, { method }: Ask): boolean {
  if (code === 'overloaded') return method === 'GET';
  return code === 'unexpected_answer' || (status !== 408 && status !== 429);
}

/** A refusal, 408 and 429 too, comes from a node that is well; so does the answer of one that waits for a leader. */
function isFromWellNode({ code, status }: TrustError): boolean {
  if (code === 'behind' || code === 'no_leader') return true;
  return code !== 'unexpected_answer' && (status ?? 500) < 500;
}

const never = new AbortController().signal;

function timeout(ms: number): TrustError {
  return new TrustError('timeout', `no answer within ${Math.round(ms)} ms`, { outcomeUnknown: true });
}

function trustErrorOf(error: unknown): TrustError {
  if (error instanceof TrustError) return error;
  const text = error instanceof Error && error.message !== '' ? error.message : 'the connection broke';
  const outcomeUnknown = !(error instanceof TransportError) || error.sent;
  return new TrustError('unreachable', text, { outcomeUnknown, cause: error });
}

/** The same error, where an earlier attempt of the call left open what came of it. */
export function markedUnknown(error: TrustError, repeated: boolean): TrustError {
  if (!repeated || error.outcomeUnknown) return error;
  const { status, retryAfterMs, details, requestId, cause } = error;
  const facts = { status, retryAfterMs, details, requestId, cause, outcomeUnknown: true };
  return new TrustError(error.code, error.message, facts);
}

function parse(text: string, response: TransportResponse): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw unexpected(response, 'the answer is not JSON');
  }
}

/** An answer that is none of the contract's: a proxy's page, a body cut short. */
export function unexpected(response: Pick<TransportResponse, 'status'>, what: string): TrustError {
  return new TrustError('unexpected_answer', what, { status: response.status, outcomeUnknown: true });
}

/** The error of an answer of 2xx whose body is not what the contract says. */
export function notTheContract({ status }: Pick<Answer, 'status'>): TrustError {
  return unexpected({ status }, 'the answer does not hold to the contract');
}

/** The error that an answer outside of 2xx stands for. */
export function refusalOf(response: TransportResponse, body: unknown, now: number): TrustError {
  if (!isRecord(body) || typeof body.code !== 'string' || typeof body.error !== 'string') {
    return unexpected(response, `the answer ${response.status} is none of the service's`);
  }
  const details = isRecord(body.details) ? body.details : undefined;
  // What a node that ends has recorded it goes on with by itself.
  const isOpen = response.status === 500 || details?.recorded === true;
  const facts = {
    status: response.status,
    retryAfterMs: retryAfterMs(response.header('retry-after'), now),
    details,
    requestId: response.header('x-request-id'),
    outcomeUnknown: isOpen,
  };
  return new TrustError(body.code as TrustErrorCode, body.error, facts);
}

/** `Retry-After` in ms from now: a number of seconds, or a date (RFC 9110, section 10.2.3). */
function retryAfterMs(value: string | undefined, now: number): number | undefined {
  if (value === undefined) return undefined;
  if (/^\d+$/.test(value)) return Number(value) * 1_000;
  const at = Date.parse(value);
  return Number.isNaN(at) ? undefined : Math.max(0, at - now);
}

/** The whole body as text; throws once it is larger than any answer of the contract. */
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

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Declares the only error type of the client, distinguished by the codes of the service and of the client itself. */
import type { ErrorBody } from '../contract/error-bodies.js';

/**
 * A code that the service answers with; see the contract. A newer node may send codes that this list does not contain.
 * @public
 */
export type ServiceErrorCode = ErrorBody['code'];

/**
 * Codes of failures on the client's side:
 *
 * - `timeout`: no answer within the time limit.
 * - `unreachable`: no connection, or a broken one.
 * - `circuit_open`: the node failed several times in a row; requests to it are paused.
 * - `behind`: the node has not applied yet what this client has read from another node of the cluster.
 * - `unexpected_answer`: the answer does not follow the contract, such as a proxy's error page.
 * - `invalid_argument`: the call itself is wrong; nothing was sent.
 * - `salt_mismatch`: the client's salt is not the group's, so that its hashes match no player; nothing was sent.
 * - `closed`: the client or the spool is closed.
 * - `spool_full`: the spool is full, and its policy is to refuse.
 * - `spool_failed`: the disk failed; the event was not accepted, or the spool not opened.
 * - `spool_in_use`: another process uses the folder.
 *
 * @public
 */
export type ClientErrorCode =
  | 'timeout'
  | 'unreachable'
  | 'circuit_open'
  | 'behind'
  | 'unexpected_answer'
  | 'invalid_argument'
  | 'salt_mismatch'
  | 'closed'
  | 'spool_full'
  | 'spool_failed'
  | 'spool_in_use';

/** Any code of a {@link TrustError}. @public */
export type TrustErrorCode = ServiceErrorCode | ClientErrorCode;

/** The facts of a {@link TrustError} besides its code. @public */
export interface TrustErrorFacts {
  /** The HTTP status, if there was an answer. */
  readonly status?: number | undefined;
  /** The pause that the node requested, in ms. */
  readonly retryAfterMs?: number | undefined;
  /** The service's details of the error; see the contract. */
  readonly details?: Readonly<Record<string, unknown>> | undefined;
  /** `X-Request-Id` of the answer, by which the operator finds the node's log line. */
  readonly requestId?: string | undefined;
  /** True if the node may have acted although no answer says so. */
  readonly outcomeUnknown?: boolean | undefined;
  /** The underlying error. */
  readonly cause?: unknown;
}

/**
 * The error with which every call of this package rejects, except that an aborted `signal` rejects with its own reason.
 * Contains no key, no salt and no player id. @public
 */
export class TrustError extends Error {
  /** The name of the class. */
  override readonly name = 'TrustError';
  /** The failure, for programs. */
  readonly code: TrustErrorCode;
  /** The HTTP status, if there was an answer. */
  readonly status: number | undefined;
  /** The pause that the node requested, in ms. */
  readonly retryAfterMs: number | undefined;
  /** The service's details of the error. */
  readonly details: Readonly<Record<string, unknown>> | undefined;
  /** `X-Request-Id` of the answer. */
  readonly requestId: string | undefined;
  /** True if the node may have acted although no answer says so. */
  readonly outcomeUnknown: boolean;

  /**
   * @param code - the failure, for programs.
   * @param message - the failure, for people.
   * @param facts - further facts.
   */
  constructor(code: TrustErrorCode, message: string, facts: TrustErrorFacts = {}) {
    super(message, facts.cause === undefined ? undefined : { cause: facts.cause });
    this.code = code;
    this.status = facts.status;
    this.retryAfterMs = facts.retryAfterMs;
    this.details = facts.details;
    this.requestId = facts.requestId;
    this.outcomeUnknown = facts.outcomeUnknown ?? false;
  }
}

export function invalidArgument(text: string, details?: TrustErrorFacts['details']): TrustError {
  return new TrustError('invalid_argument', text, { details });
}

/** Applies `make` to each item; an error thrown by it gets the index of its item, unless that is the only one. */
export function namingEach<T, Made>(name: string, all: readonly T[], make: (one: T) => Made): Made[] {
  if (!Array.isArray(all)) throw invalidArgument(`${name} must be an array`);
  return all.map((one, index) => {
    try {
      return make(one);
    } catch (error) {
      if (!(error instanceof TrustError) || all.length === 1) throw error;
      throw new TrustError(error.code, `${name}[${index}]: ${error.message}`, { details: error.details });
    }
  });
}

const codesOfWay: readonly TrustErrorCode[] = ['timeout', 'unreachable', 'circuit_open', 'behind', 'unexpected_answer'];

/** True if the error concerns the node or the connection, so that the same call may succeed later. */
export function isRetryable({ code, status }: TrustError): boolean {
  if (status !== undefined && code !== 'unexpected_answer') return status === 408 || status === 429 || status >= 500;
  return codesOfWay.includes(code);
}

/** True if time ran out on the way, so that a smaller call may succeed. */
export function isTooSlow({ code }: TrustError): boolean {
  return code === 'timeout' || code === 'request_timeout';
}

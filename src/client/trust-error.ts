/**
 * The one error of the client, told apart by its code: the service's own codes, and those of what happens on the way.
 */
import type { ErrorBody } from '../contract/error-bodies.js';

/**
 * A code that the service answers with; see the contract. A newer node may send codes that this list does not name.
 * @public
 */
export type ServiceErrorCode = ErrorBody['code'];

/**
 * What can go wrong on this side:
 *
 * - `timeout`: no answer within the time given.
 * - `unreachable`: no connection, or one that broke.
 * - `circuit_open`: the node failed several times in a row and is left alone for a moment.
 * - `behind`: the node has not applied yet what this client has read from another node of the cluster.
 * - `unexpected_answer`: something answered that does not speak the contract, such as a proxy's error page.
 * - `invalid_argument`: the call itself is at fault; nothing was sent.
 * - `salt_mismatch`: the client's salt is not the group's, so its hashes name nobody; nothing was sent.
 * - `closed`: the client or the spool is closed.
 * - `spool_full`: the spool is at its bound, and its policy is to refuse.
 * - `spool_failed`: the disk refused; the event was not accepted, or the spool not opened.
 * - `spool_in_use`: another process works on the folder.
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

/**
 * Any code of a {@link TrustError}.
 * @public
 */
export type TrustErrorCode = ServiceErrorCode | ClientErrorCode;

/**
 * What a {@link TrustError} knows beside its code.
 * @public
 */
export interface TrustErrorFacts {
  /** The HTTP status, where there was an answer. */
  readonly status?: number | undefined;
  /** How long the node asked to wait, in ms. */
  readonly retryAfterMs?: number | undefined;
  /** What the service says about the fault; see the contract. */
  readonly details?: Readonly<Record<string, unknown>> | undefined;
  /** `X-Request-Id` of the answer: the operator finds the node's log line by it. */
  readonly requestId?: string | undefined;
  /** True where the node may have done what was asked although no answer says so. */
  readonly outcomeUnknown?: boolean | undefined;
  /** What caused it. */
  readonly cause?: unknown;
}

/**
 * Every rejection of this package but one: an aborted `signal` rejects with its own reason. Holds no key, no salt and
 * no player id.
 * @public
 */
export class TrustError extends Error {
  /** The name of the class. */
  override readonly name = 'TrustError';
  /** What happened, for programs. */
  readonly code: TrustErrorCode;
  /** The HTTP status, where there was an answer. */
  readonly status: number | undefined;
  /** How long the node asked to wait, in ms. */
  readonly retryAfterMs: number | undefined;
  /** What the service says about the fault. */
  readonly details: Readonly<Record<string, unknown>> | undefined;
  /** `X-Request-Id` of the answer. */
  readonly requestId: string | undefined;
  /** True where the node may have done what was asked although no answer says so. */
  readonly outcomeUnknown: boolean;

  /**
   * @param code - what happened, for programs.
   * @param message - what happened, for people.
   * @param facts - what else is known.
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

/** What `make` makes of each; what it throws names the place of the one that it is about. */
export function namingEach<T, Made>(name: string, all: readonly T[], make: (one: T) => Made): Made[] {
  return all.map((one, index) => {
    try {
      return make(one);
    } catch (error) {
      if (!(error instanceof TrustError)) throw error;
      throw new TrustError(error.code, `${name}[${index}]: ${error.message}`, { details: error.details });
    }
  });
}

const codesOfWay: ReadonlySet<TrustErrorCode> = new Set<TrustErrorCode>([
  'timeout',
  'unreachable',
  'circuit_open',
  'behind',
  'unexpected_answer',
]);

/** Whether the fault is the node's or the way's, so that the same call may succeed later. */
export function isRetryable(error: TrustError): boolean {
  const { code, status } = error;
  if (status !== undefined && code !== 'unexpected_answer') return status === 408 || status === 429 || status >= 500;
  return codesOfWay.has(code);
}

/** Whether time ran out on the way, so that less in one call may get through. */
export function isTooSlow({ code }: TrustError): boolean {
  return code === 'timeout' || code === 'request_timeout';
}

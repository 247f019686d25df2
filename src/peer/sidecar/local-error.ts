/** Declares a refusal of the sidecar, whose body has the form of those of the node. */
import { TrustError } from '../../client/entry.js';
import { diskError, PeerError } from '../peer-error.js';

export class LocalError extends Error {
  override readonly name = 'LocalError';

  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
    readonly details?: Readonly<Record<string, unknown>>,
  ) {
    super(message);
  }
}

/** Returns the refusal of a member of a body, with the JSON pointer of the member. */
export function memberFault(field: string, violation: string, message: string): LocalError {
  return new LocalError(400, 'schema_validation_failed', message, { field, violation });
}

/** Converts the error of a request. An unexpected error reveals nothing about itself. */
export function refusalOf(thrown: unknown): LocalError {
  if (thrown instanceof LocalError) return thrown;
  const error = diskError(thrown) ?? thrown;
  if (error instanceof TrustError || error instanceof PeerError) {
    if (error.code === 'invalid_argument') return new LocalError(400, 'invalid_parameter', error.message);
    if (error.code === 'spool_full' || error.code === 'spool_failed' || error.code === 'closed') {
      return new LocalError(503, error.code, error.message);
    }
  }
  return new LocalError(500, 'internal_error', 'the sidecar failed; its log says why');
}

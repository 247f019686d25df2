/** Declares the only error type of `ptf-peer`. An error never contains a key, a salt or a raw player id. */
import { TrustError } from '../client/trust-error.js';
import { plainWords } from './node/plain-words.js';

/** 0 done, 1 some lines or checks refused, 2 wrong usage, 3 node unreachable or peer refused, 4 format unknown. */
export type ExitCode = 0 | 1 | 2 | 3 | 4;

export class PeerError extends Error {
  override readonly name = 'PeerError';
  readonly code: string;
  readonly exitCode: ExitCode;

  constructor(code: string, message: string, exitCode: ExitCode = 2) {
    super(message);
    this.code = code;
    this.exitCode = exitCode;
  }
}

/** The error of wrong usage: exit code 2. */
export function wrongUsage(message: string): PeerError {
  return new PeerError('wrong_usage', message, 2);
}

/** Runs calls of a command to the node at `url`; converts their errors into errors of the command in plain words. */
export async function talkingTo<T>(url: string, calls: () => Promise<T>): Promise<T> {
  try {
    return await calls();
  } catch (error) {
    if (!(error instanceof TrustError)) throw error;
    throw new PeerError(error.code, plainWords(error, url), endOf(error).exitCode);
  }
}

/** Converts a client's error: `invalid_argument` is wrong usage, any other code has exit code 3. */
export function endOf(error: TrustError): PeerError {
  return new PeerError(error.code, error.message, error.code === 'invalid_argument' ? 2 : 3);
}

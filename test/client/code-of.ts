/** How a call of the client ends. */
import { TrustError } from '../../src/client/trust-error.js';

/** Returns the code of the error with which a call rejects, or `no error`. */
export async function codeOf(call: Promise<unknown>): Promise<string> {
  try {
    await call;
    return 'no error';
  } catch (error) {
    return error instanceof TrustError ? error.code : String(error);
  }
}

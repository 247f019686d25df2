/** Creates the default transport: undici's pool of keep-alive connections, without the layers of `fetch`. */
import { Pool } from 'undici';
import { bounds } from '../bounds.js';
import { invalidArgument } from '../trust-error.js';
import { type Transport, TransportError } from './transport.js';

/** Codes of errors that occur before the first byte of the request is sent. */
const unsent = new Set('ECONNREFUSED ENOTFOUND EAI_AGAIN EHOSTUNREACH ENETUNREACH UND_ERR_CONNECT_TIMEOUT'.split(' '));

/** The options of {@link poolTransport}. @public */
export interface PoolTransportOptions {
  /** Largest number of connections; a stream takes one of its own. Default: 16. */
  readonly connections?: number | undefined;
}

/**
 * Creates the default transport, over a pool of keep-alive connections (undici).
 * @param url - the node's address.
 * @param options - the number of connections.
 * @public
 */
export function poolTransport(url: string, options: PoolTransportOptions = {}): Transport {
  const { origin, prefix } = addressOf(url);
  // Every request brings its own signal, and a stream is silent for long, so that the pool needs no time limits.
  const pool = new Pool(origin, {
    connections: (options.connections ?? bounds.connections) + 1,
    keepAliveTimeout: bounds.keepAliveMs,
    headersTimeout: 0,
    bodyTimeout: 0,
  });
  return {
    async request({ method, path, headers, body, signal }) {
      try {
        const answer = await pool.request({ method, path: prefix + path, headers, body: body ?? null, signal });
        return {
          status: answer.statusCode,
          header(name) {
            const value = answer.headers[name];
            return typeof value === 'object' ? value.join(', ') : value;
          },
          body: answer.body,
        };
      } catch (error) {
        throw new TransportError(messageOf(error), !isUnsent(error), error);
      }
    },
    close: () => pool.destroy(),
  };
}

/** Returns the origin of an address, and the path that precedes the paths of the contract. */
export function addressOf(url: string): { readonly origin: string; readonly prefix: string } {
  const { origin, pathname, username, password, search, hash } = new URL(url);
  if (username + password + search + hash !== '') {
    throw invalidArgument('url must have no credentials, query or fragment: none of them would be sent');
  }
  return { origin, prefix: pathname.replace(/\/+$/, '') };
}

/** True if an error shows that nothing was sent. Errors of several addresses come as one aggregate error. */
export function isUnsent(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  if (error instanceof AggregateError) return error.errors.length > 0 && error.errors.every(isUnsent);
  if ('code' in error && typeof error.code === 'string' && unsent.has(error.code)) return true;
  return error.cause !== undefined && isUnsent(error.cause);
}

export function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (error.message !== '') return error.message;
  return 'code' in error ? String(error.code) : error.name;
}

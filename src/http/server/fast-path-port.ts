/** The port through which the server uses a fast path. The server knows no implementation; `node.ts` plugs one in. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { FaceDeps } from '../deps.js';
import type { Endpoints } from '../koa/endpoints.js';

/** Answers frequent requests in front of node:http and Koa. */
export interface FastPath {
  /**
   * Takes a new connection. `handOver` gives it to node:http; `rest`, which may be empty, are the bytes that node:http
   * reads first.
   */
  open(socket: Socket, fallBack: (unread: Buffer) => void): void;
  /** Whether a connection of the fast path has no request under way; true of any other. */
  isIdle(socket: Socket): boolean;
  /** Closes its connections that have no request under way; the others close with their answer. */
  closeIdle(): void;
  /**
   * Answers a request that node:http has parsed. False where the request is not for the fast path; nothing was touched
   * then.
   */
  answer(request: IncomingMessage, response: ServerResponse): boolean;
}

/** `isDraining`: true once connections are to be closed after their answer. */
export type CreateFastPath = (
  endpoints: Endpoints,
  deps: Pick<FaceDeps, 'metrics' | 'log'>,
  isDraining: () => boolean,
) => FastPath;

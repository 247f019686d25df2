/** The interface through which the server uses a fast path, which `node.ts` plugs in. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Endpoints } from '../koa/endpoints.js';
import type { AnsweringDeps } from '../request/answering.js';

export type FallBack = (unread: Buffer, isEnded: boolean) => void;

export interface FastPath {
  /** Opens a connection. `fallBack` passes it to node:http, which first reads `unread`, and the end if it was read. */
  open(socket: Socket, fallBack: FallBack): void;
  /** Returns whether a connection of the fast path has no request in progress. True for any other connection. */
  isIdle(socket: Socket): boolean;
  /** Closes its connections without a request in progress. The others close with their answer. */
  closeIdle(): void;
  /** Answers a request that node:http has parsed. Returns false, without any effect, if it is not its own. */
  answer(request: IncomingMessage, response: ServerResponse): boolean;
}

export type CreateFastPath = (endpoints: Endpoints, deps: AnsweringDeps) => FastPath;

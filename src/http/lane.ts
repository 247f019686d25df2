/**
 * A lane between node:http and Koa for hot shapes on connections that the lane on the socket has let go. It finds the route and
 * reads the body; the checks, the handlers and the form of answers are the same endpoints that Koa calls. Whatever is not
 * exactly such a shape is left to Koa untouched.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { type Outcome, type Refusal, refused } from '../errors.js';
import type { Holder } from '../group/holder.js';
import { brokeOff, exchangeOf, isAnswerable, recordAnswer, send, targetOf } from './answering.js';
import type { FaceDeps } from './deps.js';
import { bodyText, type HotShape, type HotShapes, parseJson } from './hot-shapes.js';
import type { Incoming, RoomFault } from './pipeline.js';
import { type Exchange, internalErrorReply, wireReply } from './reply.js';
import type { ApiReply, ArrivingBody } from './request.js';

/** Takes a request and answers it, or says that it is not for this lane, having touched nothing. */
export type Lane = (request: IncomingMessage, response: ServerResponse) => boolean;

export function createLane(shapeOf: HotShapes, deps: FaceDeps, isDraining: () => boolean): Lane {
  function finish(request: IncomingMessage, response: ServerResponse, answering: Answering, reply: ApiReply): void {
    if (brokeOff(request)) return;
    const { route } = answering.shape.endpoint;
    const { exchange, startedAt } = answering;
    send(request, response, wireReply(route, reply, exchange), isDraining());
    const ms = performance.now() - startedAt;
    recordAnswer(deps, { route, reply, method: request.method ?? '', requestId: exchange.requestId, ms });
  }

  return (request, response) => {
    const target = targetOf(request);
    if ('code' in target) return false;
    const shape = shapeOf(request.method ?? '', target.path, request.headers);
    if (shape === undefined) return false;
    const answering: Answering = { shape, exchange: exchangeOf(request.headers), startedAt: performance.now() };
    const fail = (error: unknown): void => {
      deps.log.error({ err: error, request_id: answering.exchange.requestId }, 'a request failed');
      finish(request, response, answering, internalErrorReply(answering.exchange.requestId));
    };
    const incoming: Incoming = {
      headers: request.headers,
      captures: shape.captures,
      query: target.query,
      remote: request.socket,
      readBody: (fault, holder, arriving) => readJson(request, fault, holder, arriving),
    };
    try {
      const reply = shape.endpoint.answer(incoming);
      if (reply instanceof Promise) reply.then((late) => finish(request, response, answering, late)).catch(fail);
      else finish(request, response, answering, reply);
    } catch (error) {
      fail(error);
    }
    return true;
  };
}

interface Answering {
  readonly shape: HotShape;
  readonly exchange: Exchange;
  readonly startedAt: number;
}

/**
 * The parsed body, its fault, or `malformed_json`: also where it breaks off or comes too late, since neither is a fault of ours.
 * Nothing of it is kept: the request stays with its connection until the next one, and with it its listeners and what they hold.
 */
function readJson(
  request: IncomingMessage,
  fault: RoomFault,
  holder: Holder,
  arriving: ArrivingBody | null,
): Promise<Outcome<unknown>> {
  return new Promise((resolve) => {
    let chunks: Buffer[] = [];
    // Not `resolve` itself, which holds the promise, and the promise what was read.
    let pending: typeof resolve | undefined = resolve;
    const take = (): Buffer[] => {
      const taken = chunks;
      chunks = [];
      return taken;
    };
    const settle = (outcome: Outcome<unknown>): void => {
      pending?.(outcome);
      pending = undefined;
    };
    const giveUp = (): void => {
      take();
      settle(refused('malformed_json'));
    };
    if (arriving !== null) arriving.onDrop = giveUp;
    request.on('data', (chunk: Buffer) => {
      if (arriving?.arrived(chunk.length) !== false) chunks.push(chunk);
    });
    request.once('end', () => settle(parsed(request, take(), fault(holder, arriving))));
    request.once('error', giveUp);
  });
}

function parsed(request: IncomingMessage, chunks: readonly Buffer[], fault: Refusal | undefined): Outcome<unknown> {
  if (fault !== undefined) return fault;
  const body = chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks);
  return isAnswerable(request) ? parseJson(bodyText(body)) : refused('malformed_json');
}

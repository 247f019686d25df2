/** Serves the operator: HTTP with JSON over a Unix socket that only the node's own user may open. */
import { once } from 'node:events';
import { chmodSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Logger } from 'pino';
import { errorMembers, errors, granted, type Outcome, refused } from '../../errors.js';
import type { OnProgress } from '../../group/api.js';
import { UnreadError } from '../../group/ports/storage.js';
import { limits, serverBounds } from '../../limits.js';
import type { AskedNode } from '../../operations/operation.js';
import { asksOf, isOperationName } from '../../operations/table.js';
import { commandPath, removeSocket, socketPathOf } from './socket-path.js';

type OperatorSocketDeps = AskedNode & { readonly dir: string; readonly log: Logger };

export async function startOperatorSocket({ dir, log, ...node }: OperatorSocketDeps) {
  const ask = asksOf(node);
  const server = createServer(serverBounds, (request, response) => {
    respond(request, response).catch((error: unknown) => {
      log.error({ err: error }, 'the operator could not be answered');
      response.destroy();
    });
  });

  async function respond(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const outcome = await outcomeOf(request, (done, total) => {
      // Progress lines before the last line, which is the answer. A client that does not read them misses some.
      if (!response.headersSent) response.writeHead(200, { 'Content-Type': 'application/x-ndjson' });
      if (!response.writableNeedDrain) response.write(`${JSON.stringify({ progress: [done, total] })}\n`);
    });
    const status = outcome.ok ? 200 : errors[outcome.code].status;
    const body = outcome.ok ? outcome : { ok: false, ...errorMembers(outcome) };
    if (!response.headersSent) response.writeHead(status, { 'Content-Type': 'application/json' });
    response.end(JSON.stringify(body));
  }

  async function outcomeOf(request: IncomingMessage, onProgress: OnProgress): Promise<Outcome<unknown>> {
    const name = request.url?.startsWith(commandPath) ? request.url.slice(commandPath.length) : '';
    if (!isOperationName(name)) return refused('route_not_found', { text: 'no such command' });
    if (request.method !== 'POST') return refused('method_not_allowed');
    const body = await readBody(request);
    if (!body.ok) return body;
    try {
      const outcome = await ask(name, body.value, onProgress);
      log.debug({ command: name, code: outcome.ok ? '' : outcome.code }, 'operator command');
      return outcome;
    } catch (error) {
      log.error({ err: error, command: name }, 'an operator command failed');
      if (error instanceof UnreadError) return refused('dependency_unavailable', { text: error.message });
      return refused('internal_error');
    }
  }

  removeSocket(dir);
  const { path, end } = socketPathOf(dir);
  try {
    const up = once(server, 'listening');
    server.listen(path);
    // `listen` binds a path synchronously; the folder is closed to other users as well.
    if (server.listening) chmodSync(path, 0o600);
    await up;
  } catch (error) {
    server.close();
    end();
    throw error;
  }
  server.on('error', (error) => log.error({ err: error }, "the operator's socket failed"));

  return {
    path,
    /** Completes requests in progress within a short time, and removes the socket. */
    async close() {
      await closeServer(server);
      removeSocket(dir);
      end();
    },
  };
}

/** Returns the parsed body. Codes: payload_too_large, malformed_json. */
async function readBody(request: IncomingMessage): Promise<Outcome<unknown>> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    // The body is read to its end nevertheless, since stopping would close the connection before the answer.
    if (bytes <= limits.eventBodyBytes) chunks.push(chunk);
  }
  if (bytes > limits.eventBodyBytes) return refused('payload_too_large');
  try {
    return granted(JSON.parse(Buffer.concat(chunks).toString('utf8')));
  } catch {
    return refused('malformed_json');
  }
}

export async function closeServer(server: Server): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  // A verification may take minutes; the shutdown of a node does not wait for it.
  const cut = setTimeout(() => server.closeAllConnections(), limits.connectionsCheckingIntervalMs);
  await closed;
  clearTimeout(cut);
}

/** A node whose answers the test gives. */
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface Asked {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

export interface FakeNode extends AsyncDisposable {
  readonly url: string;
  readonly asked: readonly Asked[];
  close(): Promise<void>;
}

export interface FakeAnswer {
  readonly status?: number;
  readonly body?: object;
  readonly headers?: Readonly<Record<string, string>>;
  /** False: no header `Date` is sent beside those given. */
  readonly sendsDate?: boolean;
  /** The frames of a stream, which then stays open. */
  readonly stream?: AsyncIterable<string>;
}

/** A pause that the client does not wait for: the node names one longer than any deadline. */
export const noRetry = { 'retry-after': '3600' };

/** Starts a node; `null` cuts the connection off, and a promise that stays open lets the caller wait. */
export async function fakeNode(answer: (asked: Asked) => FakeAnswer | null | Promise<null>): Promise<FakeNode> {
  const asked: Asked[] = [];
  const server = createServer(async (request, response) => {
    let text = '';
    for await (const part of request.setEncoding('utf8')) text += part;
    const { method = '', url: path = '', headers } = request;
    const one = { method, path, headers, text };
    asked.push(one);
    const found = await answer(one);
    if (found === null) return void request.socket.destroy();
    if (found.stream !== undefined) {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      for await (const piece of found.stream) response.write(piece);
      return;
    }
    response.sendDate = found.sendsDate !== false;
    response.writeHead(found.status ?? 200, { 'content-type': 'application/json', ...found.headers });
    response.end(JSON.stringify(found.body));
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const close = async () => {
    server.closeAllConnections();
    await new Promise<void>((resolve) => server.close(() => resolve()));
  };
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { url, asked, close, [Symbol.asyncDispose]: close };
}

/** The answer of `GET /peers`. */
export function groupAnswer(group: object = {}, data: readonly object[] = [], next: string | null = null): FakeAnswer {
  return { body: { group: { group_id: 'local', identity_mode: 'open', ...group }, data, next_cursor: next } };
}

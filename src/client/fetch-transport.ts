/** A transport over the platform's own `fetch`, for where undici is not wanted. */
import { addressOf, isUnsent, messageOf } from './pool-transport.js';
import { type Transport, TransportError } from './transport.js';

/** The part of `fetch` that the transport uses. */
export type Fetch = typeof fetch;

/** A transport to the node at `url` that calls `using`, by default the platform's `fetch`. Its connections are the platform's. */
export function fetchTransport(url: string, using: Fetch = fetch): Transport {
  const { origin, prefix } = addressOf(url);
  return {
    async request({ method, path, headers, body, signal }) {
      let answer: Response;
      try {
        answer = await using(origin + prefix + path, {
          method,
          headers,
          body: body ?? null,
          signal,
          redirect: 'manual',
        });
      } catch (error) {
        throw new TransportError(messageOf(error), !isUnsent(error), error);
      }
      return { status: answer.status, header: (name) => answer.headers.get(name) ?? undefined, body: chunksOf(answer) };
    },
    async close() {},
  };
}

async function* chunksOf({ body }: Response): AsyncGenerator<Uint8Array> {
  if (body === null) return;
  const reader = body.getReader();
  try {
    for (let read = await reader.read(); !read.done; read = await reader.read()) yield read.value;
  } finally {
    await reader.cancel();
  }
}

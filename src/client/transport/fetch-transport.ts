/** A transport over the platform's own `fetch`, for where undici is not wanted. */
import { addressOf, isUnsent, messageOf } from './pool-transport.js';
import { type Transport, TransportError } from './transport.js';

/**
 * What the transport calls: the platform's `fetch`, or something that stands in for it.
 * @public
 */
export type Fetch = typeof fetch;

/**
 * A transport over the platform's own `fetch`, for where undici is not wanted. Its connections are the platform's.
 * @param url - the node's address.
 * @param using - what to call; the platform's `fetch` where it is left out.
 * @public
 */
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

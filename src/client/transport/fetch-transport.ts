/** Creates a transport over the platform's own `fetch`, for programs that do not want undici. */
import { addressOf, isUnsent, messageOf } from './pool-transport.js';
import { type Transport, TransportError } from './transport.js';

/** The function that the transport calls: the platform's `fetch` or a replacement. @public */
export type Fetch = typeof fetch;

/**
 * Creates a transport over the platform's own `fetch`, for programs that do not want undici. The platform manages its
 * connections.
 * @param url - the node's address.
 * @param using - the function to call. Default: the platform's `fetch`.
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

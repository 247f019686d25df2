/** Handles requests for the verdict stream: who may read it, and from where. `verdict-stream/` writes it. */
import { keyDigestOf } from '../request/auth.js';
import { refusalReply } from '../request/reply.js';
import { type ApiReply, type ApiRequest, type Handlers, holderOf } from '../request/request.js';
import type { StreamReaders } from '../verdict-stream/readers.js';

/** A proxy must not buffer this answer, because it never ends. */
const headers = { 'Cache-Control': 'private, no-store', 'X-Accel-Buffering': 'no' };

export function streamHandlers(readers: StreamReaders) {
  function streamVerdicts({ headers: sent, caller, remote }: ApiRequest<undefined>): ApiReply {
    const holder = holderOf(caller, remote);
    const refusal = readers.refusal({ peer: caller, holder });
    if (refusal !== undefined) return refusalReply(refusal);
    const id = sent['last-event-id'];
    const opening = {
      lastEventId: typeof id === 'string' ? id.trim() : '',
      peer: caller,
      holder,
      keyDigest: keyDigestOf(sent) ?? '',
    };
    return { status: 200, body: undefined, headers, stream: (to) => readers.open(to, opening) };
  }

  return { streamVerdicts } satisfies Partial<Handlers>;
}

/** A verdict stream out of memory, for measuring the client's cache alone: one snapshot of the given players, then heartbeats. */
import { setTimeout as delay } from 'node:timers/promises';
import type { Transport } from '../../src/client/transport.js';
import type { StreamEvents } from '../../src/http/contract/verdict-stream.js';

const rowsPerFrame = 500;
const heartbeatMs = 1_000;

function frame<Name extends keyof StreamEvents>(event: Name, data: StreamEvents[Name], id?: string): Uint8Array {
  return Buffer.from(`event: ${event}\n${id === undefined ? '' : `id: ${id}\n`}data: ${JSON.stringify(data)}\n\n`);
}

/** A transport that knows nothing but the stream: any other request fails, so that a read that is no cache hit shows. */
export function toldStream(subjectHashes: readonly string[]): Transport {
  return {
    async request({ path, signal }) {
      if (!path.endsWith('/verdicts/stream'))
        throw new Error(`${path} was asked for, and should have been in the cache`);
      const body = told(subjectHashes, signal);
      return { status: 200, header: (name) => (name === 'content-type' ? 'text/event-stream' : undefined), body };
    },
    async close() {},
  };
}

async function* told(subjectHashes: readonly string[], signal: AbortSignal): AsyncGenerator<Uint8Array> {
  const now = () => new Date().toISOString();
  const steps = { score_step: 1, confidence_step: 0.05 };
  const group = { group_id: 'local', identity_mode: 'privacy-first', now: now(), heartbeat_ms: heartbeatMs } as const;
  yield frame('hello', { version: 1, ...group, ...steps });
  for (let from = 0; from < subjectHashes.length; from += rowsPerFrame) {
    const hashes = subjectHashes.slice(from, from + rowsPerFrame);
    const players = hashes.map((subject_hash, i) => {
      return { subject_hash, score: ((from + i) % 10_000) / 100, confidence: 0.4567, verdict: 'neutral' } as const;
    });
    yield frame('snapshot', { players, last: false, as_of: now() });
  }
  yield frame('snapshot', { players: [], last: true, as_of: now() }, '1-0');
  while (!signal.aborted) {
    await delay(heartbeatMs, undefined, { signal });
    yield frame('heartbeat', { as_of: now() }, '1-0');
  }
}

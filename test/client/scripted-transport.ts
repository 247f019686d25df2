/** A transport that answers from a script, and notes what it was asked. */
import {
  type Transport,
  TransportError,
  type TransportRequest,
  type TransportResponse,
} from '../../src/client/transport/transport.js';

export const event = {
  eventType: 'report_cheating',
  playerId: 'p',
  gameId: 'g',
  severity: 0.5,
  eventId: 'e-1',
} as const;
/** The answer to `event`. */
export const stored: Scripted = { status: 201, body: { event_id: 'e-1', status: 'accepted' } };
export const refusedConnection = () => new TransportError('connect ECONNREFUSED', false);
export const brokenConnection = () => new TransportError('other side closed', true);

export interface Scripted {
  readonly status: number;
  readonly body: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

/**
 * An answer, an error, `silence`: nothing until the request is given up, or an answer that comes when it comes,
 * whatever the signal says.
 */
export type Step = Scripted | Error | 'silence' | Promise<TransportResponse>;

export class ScriptedTransport implements Transport {
  readonly requests: TransportRequest[] = [];
  readonly #answer: (request: TransportRequest, index: number) => Step;
  isClosed = false;
  /** The salt check in the answer of `GET /peers`; that read is neither recorded nor part of the script. */
  saltCheck: string | null = null;
  /** The group's kinds of ids in the same answer. */
  playerIdKinds: readonly string[] | null = null;

  constructor(answer: (request: TransportRequest, index: number) => Step) {
    this.#answer = answer;
  }

  async request(request: TransportRequest): Promise<TransportResponse> {
    if (request.path === saltCheckPath) return responseOf(peersAnswer(this.saltCheck, this.playerIdKinds));
    this.requests.push(request);
    const step = this.#answer(request, this.requests.length - 1);
    if (step === 'silence') return silence(request.signal);
    if (step instanceof Error) throw step;
    if (step instanceof Promise) return step;
    return responseOf(step);
  }

  async close(): Promise<void> {
    this.isClosed = true;
  }
}

/** The read by which a client compares its salt with the group's. */
export const saltCheckPath = '/api/v1/peers?limit=1';

export function peersAnswer(saltCheck: string | null, kinds: readonly string[] | null = null): Scripted {
  const group = { group_id: 'local', salt_check: saltCheck, player_id_kinds: kinds };
  return { status: 200, body: { group, data: [], next_cursor: null } };
}

function silence(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    if (signal.aborted) reject(signal.reason);
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
  });
}

export function responseOf({ status, body, headers = {} }: Scripted): TransportResponse {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  return { status, header: (name) => headers[name], body: chunks(text) };
}

async function* chunks(text: string): AsyncGenerator<Uint8Array> {
  yield new TextEncoder().encode(text);
}

/** The body of an error of the service. */
export function refusal(status: number, code: string, headers: Readonly<Record<string, string>> = {}): Scripted {
  return { status, body: { error: `text of ${code}`, code }, headers };
}

/** A match read's answer: every asked player has the score 42.5, but those whose id starts with `unknown`. */
export function matchAnswer(request: TransportRequest): Scripted {
  const query = new URLSearchParams(request.path.split('?')[1]);
  const ids = [...(query.get('ids')?.split(',') ?? []), ...query.getAll('id')];
  const data = ids.map((id) =>
    id.startsWith('unknown')
      ? { player_id: id, code: 'player_not_found' }
      : {
          player_id: id,
          score: 42.5,
          confidence: 0.5,
          verdict: 'neutral',
          event_count: 3,
          updated_at: '2026-01-01T00:00:00.000Z',
        },
  );
  return { status: 200, body: { data } };
}

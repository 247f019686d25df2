/** Calls the dashboard's server. A refusal becomes an error with its code; a lost session leads to the sign-in form. */
import type { OperationName, Requests, Values } from '../../../operations/table.js';
import type { RefusalValue } from '../wire.js';

export class Refused extends Error {
  override readonly name = 'Refused';

  constructor(
    readonly code: string,
    message: string,
  ) {
    super(message);
  }
}

/** Rejects with `Refused`; the code is `unreachable` if the server cannot be reached. */
export async function get<T>(path: string, signal: AbortSignal | null = null): Promise<T> {
  return answerOf(fetch(path, { headers: { Accept: 'application/json' }, signal }));
}

export async function post<T>(path: string, body: object): Promise<T> {
  const headers = { Accept: 'application/json', 'Content-Type': 'application/json' };
  return answerOf(fetch(path, { method: 'POST', headers, body: JSON.stringify(body) }));
}

export function command<C extends OperationName>(name: C, request: Omit<Requests[C], 'by'>): Promise<Values[C]> {
  return post(`commands/${name}`, request);
}

async function answerOf<T>(asked: Promise<Response>): Promise<T> {
  const response = await asked.catch(() => {
    throw new Refused('unreachable', 'The node cannot be reached.');
  });
  if (response.ok) return response.json();
  const refusal: Partial<RefusalValue> = await response.json().catch(() => ({}));
  // The form says that the session has ended, and then returns to this view.
  if (refusal.code === 'invalid_session') location.assign(`sign-in?ended${location.hash}`);
  const further = refusal.details?.more ?? [];
  const texts = [refusal.error ?? `The node answered ${response.status}.`, ...further.map(({ error }) => error)];
  throw new Refused(refusal.code ?? 'unknown', texts.map(sentence).join(' '));
}

function sentence(text: string): string {
  const capital = text.charAt(0).toUpperCase() + text.slice(1);
  return /[.!?]$/.test(capital) ? capital : `${capital}.`;
}

export function errorText(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

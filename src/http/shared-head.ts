/**
 * The part of an answer's head that is the same for all answers of a kind: its status line, security headers, caching and type. Put
 * together for each answer, it cost more than the score that it carried; here each kind is made once.
 */
import { STATUS_CODES } from 'node:http';

export interface SharedHead {
  readonly fields: Readonly<Record<string, string>>;
  /** The status line and the fields. */
  readonly text: string;
}

const securityFields = {
  'X-Content-Type-Options': 'nosniff',
  'X-Frame-Options': 'DENY',
  'Referrer-Policy': 'no-referrer',
  'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'",
};

/** By status, type, caching and what answers vary by: each is one of few, which nobody outside chooses. */
const known = new Map<number, Map<string, Map<string, Map<string, SharedHead>>>>();

/** `type` is empty where there is no body. `more`: fields of one answer, which win over those of its kind. */
export function sharedHead(
  status: number,
  type: string,
  caching: string,
  vary: string,
  more: Readonly<Record<string, string>> | undefined,
): SharedHead {
  if (more !== undefined) return made(status, { ...kindFields(type, caching, vary), ...more });
  const found = known.get(status)?.get(type)?.get(caching)?.get(vary);
  return found ?? remembered(status, type, caching, vary);
}

function remembered(status: number, type: string, caching: string, vary: string): SharedHead {
  const head = made(status, kindFields(type, caching, vary));
  const ofStatus = under(known, status);
  under(under(ofStatus, type), caching).set(vary, head);
  return head;
}

function under<K, L, V>(map: Map<K, Map<L, V>>, key: K): Map<L, V> {
  const inner = map.get(key) ?? new Map<L, V>();
  map.set(key, inner);
  return inner;
}

function kindFields(type: string, caching: string, vary: string): Record<string, string> {
  const fields = { ...securityFields, 'Cache-Control': caching, Vary: vary };
  return type === '' ? fields : { ...fields, 'Content-Type': type };
}

function made(status: number, fields: Record<string, string>): SharedHead {
  const lines = Object.entries(fields).map(([name, value]) => `${name}: ${value}\r\n`);
  return { fields, text: `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join('')}` };
}

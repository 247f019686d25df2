/**
 * The part of an answer's head that is the same for all answers of a kind: its status line, security headers, caching and type. Put
 * together for each answer, its text cost more than the score that it carried; here each kind is made once.
 */
import { STATUS_CODES } from 'node:http';
import { getOrMake } from '../core/get-or-make.js';

export interface SharedHead {
  readonly status: number;
  /** Empty where there is no body. */
  readonly type: string;
  readonly caching: string;
  readonly vary: string;
  /** The status line and the fields. */
  readonly text: string;
}

/** By status, type, caching and what answers vary by: each is one of few, which nobody outside chooses. */
const known = new Map<number, Map<string, Map<string, Map<string, SharedHead>>>>();
/** Most answers are of the kind of the one before. */
let newest: SharedHead | undefined;

/** `type` is empty where there is no body. */
export function sharedHead(status: number, type: string, caching: string, vary: string): SharedHead {
  if (newest?.status === status && newest.type === type && newest.caching === caching && newest.vary === vary)
    return newest;
  newest = known.get(status)?.get(type)?.get(caching)?.get(vary) ?? remembered(status, type, caching, vary);
  return newest;
}

/** The fields of a kind, for each answer anew: to copy an object took six times as long as this literal. */
export function fieldsOf({
  type,
  caching,
  vary,
}: Omit<SharedHead, 'status' | 'text'>): Record<string, string | number> {
  const fields: Record<string, string> = {
    'X-Content-Type-Options': 'nosniff',
    'X-Frame-Options': 'DENY',
    'Referrer-Policy': 'no-referrer',
    'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'",
    'Cache-Control': caching,
    Vary: vary,
  };
  if (type !== '') fields['Content-Type'] = type;
  return fields;
}

function remembered(status: number, type: string, caching: string, vary: string): SharedHead {
  const lines = Object.entries(fieldsOf({ type, caching, vary })).map(([name, value]) => `${name}: ${value}\r\n`);
  const head = { status, type, caching, vary, text: `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join('')}` };
  const ofStatus = getOrMake(known, status, () => new Map());
  const ofType = getOrMake(ofStatus, type, () => new Map());
  getOrMake(ofType, caching, () => new Map()).set(vary, head);
  return head;
}

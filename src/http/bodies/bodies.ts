/** Builds the response bodies, except those of scores: rounds figures, cuts counts, formats times. */
import type {
  BatchResultBody,
  explanationSchema,
  PeerListBody,
  StoredEventBody,
  VerdictBody,
} from '../../contract/response-bodies.js';
import { reasonsOf } from '../../core/scoring/reasons.js';
import { publishedFigures } from '../../core/scoring/score.js';
import type { Verdict } from '../../core/vocabulary.js';
import { errors, type Outcome } from '../../errors.js';
import type { AcceptedEvent, OwnEvent, PeerView, TrustExplanation, TrustView } from '../../group/api.js';
import { HOUR_MS, limits } from '../../limits.js';
import type { FromSchema } from '../../validation/schema.js';
import { cutCount } from '../public-counts.js';

export function timeText(ms: number): string {
  return new Date(ms).toISOString();
}

/** Never returns `-0`. */
export function rounded(value: number, decimals: number): number {
  const unit = 10 ** decimals;
  return Math.round(value * unit) / unit + 0;
}

export type ExplanationBody = FromSchema<typeof explanationSchema>;

export function explanationBody(verdict: Verdict, explanation: TrustExplanation): ExplanationBody {
  return {
    reasons: reasonsOf(verdict, explanation),
    peers: explanation.peers,
    witnesses: explanation.witnesses,
    two_sided: explanation.oneSided < 0.5,
    half_life_days: explanation.halfLifeDays,
    ban_half_life_days: explanation.banHalfLifeDays,
    weights_based_on_seq: cutCount(explanation.weightsBasedOnSeq),
    ...(explanation.peers >= limits.summaryPeersMin && {
      lowering: rounded(explanation.lowering, 4),
      raising: rounded(explanation.raising, 4),
      bans: explanation.bans,
      pre_trusted: explanation.preTrusted,
    }),
  };
}

/** Returns the hour, in hours since 1970. A finer time would reveal which peer's report moved the score. */
export function updatedHour({ updatedAt }: TrustView): number {
  return Math.floor(updatedAt / HOUR_MS);
}

/** Characters that JSON writes unescaped, one byte each. */
export const plainText = /^[\x20\x21\x23-\x5b\x5d-\x7e]*$/;

/** Returns a string as ASCII-only JSON, so that bodies written by template have one byte for each character. */
export function quoted(text: string): string {
  return plainText.test(text) ? `"${text}"` : asciiJson(text);
}

const hexDigits = Buffer.from('0123456789abcdef');

/** Writes unit by unit: callers choose long texts, and a replacement by a function takes ten times as long. */
export function asciiJson(value: unknown): string {
  const json = JSON.stringify(value);
  if (!/[^ -~]/.test(json)) return json;
  const ascii = Buffer.allocUnsafe(6 * json.length);
  let end = 0;
  for (let i = 0; i < json.length; i++) {
    const unit = json.charCodeAt(i);
    if (unit < 0x7f) ascii[end++] = unit;
    else {
      ascii[end++] = 0x5c;
      ascii[end++] = 0x75;
      for (let shift = 12; shift >= 0; shift -= 4) ascii[end++] = hexDigits[(unit >>> shift) & 15]!;
    }
  }
  return ascii.toString('latin1', 0, end);
}

export function verdictBody(playerId: string, view: TrustView): VerdictBody {
  return {
    player_id: playerId,
    verdict: view.verdict,
    confidence: publishedFigures(view).confidence,
    ...(view.allowed === undefined ? {} : { allowed: view.allowed }),
    updated_at: timeText(updatedHour(view) * HOUR_MS),
  };
}

/** Returns an event as stored. `peerId` and `playerId` are the caller's own names for itself and the player. */
export function storedEventBody(
  peerId: string,
  playerId: string,
  event: Omit<OwnEvent, 'seq' | 'receivedAt' | 'counts'>,
  { receivedAt, counts }: AcceptedEvent,
): StoredEventBody {
  return {
    schema_version: event.schemaVersion,
    event_id: event.eventId,
    event_type: event.eventType,
    peer_id: peerId,
    player_id: playerId,
    game_id: event.gameId,
    severity: event.severity,
    timestamp: timeText(event.timestamp),
    ...(event.origin === undefined ? {} : { origin: event.origin }),
    ...(event.reference === undefined ? {} : { reference: event.reference }),
    ...(event.disputed === undefined ? {} : { disputed: event.disputed }),
    received_at: timeText(receivedAt),
    status: 'accepted',
    ...(counts === undefined ? {} : { counts }),
  };
}

/** Returns the outcome of one event of a batch as ASCII-only JSON. `eventId` is as sent; null if it was no string. */
export function batchEntryText(eventId: string | null, outcome: Outcome<AcceptedEvent>): string {
  // The schema admits only ids whose characters need no escapes.
  if (outcome.ok)
    return `{"event_id":"${eventId}","status":201${outcome.value.counts === false ? ',"counts":false' : ''}}`;
  const { code, text, details } = outcome;
  const entry: BatchResultBody['results'][number] = {
    event_id: eventId,
    status: errors[code].status,
    code,
    error: text ?? errors[code].text,
    ...(details === undefined ? {} : { details }),
  };
  return asciiJson(entry);
}

/** Returns `BatchResultBody` as ASCII-only JSON. `results` are JSON texts in the order sent. */
export function batchResultText(counts: Omit<BatchResultBody, 'results'>, results: readonly string[]): string {
  const { accepted, duplicates, rejected } = counts;
  return `{"accepted":${accepted},"duplicates":${duplicates},"rejected":${rejected},"results":[${results.join(',')}]}`;
}

/** `delayedCount`: the event count for active peers; null for a caller that may see neither it nor pre-trust. */
export function peerBody(peer: PeerView, delayedCount: number | null): PeerListBody['data'][number] {
  return {
    peer_id: peer.peerId,
    peer_name: peer.peerName,
    game_ids: peer.gameIds,
    status: peer.status,
    registered_at: timeText(peer.registeredAt),
    ...(delayedCount === null ? {} : { event_count: cutCount(delayedCount), pre_trusted: peer.preTrusted }),
  };
}

/** Returns whether `value` needs at most `bytesMax` bytes. Must not recurse, because values may be nested deeply. */
export function isJsonWithin(value: unknown, bytesMax: number): boolean {
  const waiting: unknown[] = [value];
  let bytes = 0;
  while (waiting.length > 0 && bytes <= bytesMax) {
    const one = waiting.pop();
    if (typeof one !== 'object' || one === null) {
      bytes += writtenBytes(one);
      continue;
    }
    const names = Array.isArray(one) ? [] : Object.keys(one);
    const members: readonly unknown[] = Array.isArray(one) ? one : Object.values(one);
    bytes += '[]'.length + Math.max(0, members.length - 1);
    for (const name of names) bytes += writtenBytes(name) + ':'.length;
    for (const member of members) waiting.push(member);
  }
  return bytes <= bytesMax;
}

/** Measures plain scalars without encoding them, which would take as long as the parsing. */
function writtenBytes(scalar: unknown): number {
  if (typeof scalar === 'string' && plainText.test(scalar)) return scalar.length + '""'.length;
  if (scalar === null || typeof scalar === 'boolean' || Number.isFinite(scalar)) return String(scalar).length;
  return Buffer.byteLength(JSON.stringify(scalar));
}

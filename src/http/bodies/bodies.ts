/**
 * Response bodies from views of the group: rounding, cutting and naming, each a pure function. Bodies of scores are
 * written in `score-json.ts`. No body is written in two places.
 */

import type {
  BatchResultBody,
  explanationSchema,
  PeerListBody,
  PlayerEventsBody,
  StoredEventBody,
  VerdictBody,
} from '../../contract/response-bodies.js';
import { reasonsOf } from '../../core/scoring/reasons.js';
import { CONFIDENCE_UNIT, wholeConfidence } from '../../core/scoring/score.js';
import type { Verdict } from '../../core/vocabulary.js';
import { errors, type Outcome } from '../../errors.js';
import type { OwnEvent, PeerView, SummaryRow, TrustExplanation, TrustView } from '../../group/api.js';
import { DAY_MS, HOUR_MS, limits } from '../../limits.js';
import type { FromSchema } from '../../validation/schema.js';

/**
 * Days as text by their number since 1970: most times are of the same few, such as those of a turn and of a game's
 * backlog.
 */
const dayStrings = new Map<number, string>();
const twoDigits = Array.from({ length: 100 }, (_, n) => String(n).padStart(2, '0'));
const threeDigits = Array.from({ length: 1000 }, (_, n) => String(n).padStart(3, '0'));

/** `2026-01-02T03:04:05.678Z`; what `toISOString` gives, in a fifth of the time. `ms`: a whole number. */
export function timeText(ms: number): string {
  const days = Math.floor(ms / DAY_MS);
  const day = dayText(days);
  const rest = ms - days * DAY_MS;
  const seconds = Math.floor(rest / 1000);
  const minutes = Math.floor(seconds / 60);
  return `${day}${twoDigits[Math.floor(minutes / 60)]}:${twoDigits[minutes % 60]}:${twoDigits[seconds % 60]}.${threeDigits[rest % 1000]}Z`;
}

/** `2026-01-02T`. */
export function dayText(days: number): string {
  const known = dayStrings.get(days);
  if (known !== undefined) return known;
  // Few days are asked for, again and again; so a map that is full may begin anew.
  if (dayStrings.size >= limits.timeStringsMax) dayStrings.clear();
  const text = new Date(days * DAY_MS).toISOString().slice(0, -13);
  dayStrings.set(days, text);
  return text;
}

/** Rounded to `decimals`, never `-0`. */
export function rounded(value: number, decimals: number): number {
  const unit = 10 ** decimals;
  return Math.round(value * unit) / unit + 0;
}

/** Cut to two significant digits, so that a counter that moves by one does not tell who caused it. */
export function cutCount(count: number): number {
  const unit = unitOf(count);
  return Math.floor(count / unit) * unit;
}

/** Raised to two significant digits. */
export function raisedCount(count: number): number {
  const unit = unitOf(count);
  return Math.ceil(count / unit) * unit;
}

/** The worth of the second significant digit. */
function unitOf(count: number): number {
  let unit = 1;
  while (count / unit >= 100) unit *= 10;
  return unit;
}

export type ExplanationBody = FromSchema<typeof explanationSchema>;

export function explanationBody(verdict: Verdict, explanation: TrustExplanation): ExplanationBody {
  const split =
    explanation.peers < limits.summaryPeersMin
      ? {}
      : { lowering: rounded(explanation.lowering, 4), raising: rounded(explanation.raising, 4) };
  return {
    reasons: reasonsOf(verdict, explanation),
    peers: explanation.peers,
    witnesses: explanation.witnesses,
    two_sided: explanation.oneSided < 0.5,
    pre_trusted: explanation.preTrusted,
    half_life_days: explanation.halfLifeDays,
    weights_based_on_seq: cutCount(explanation.weightsBasedOnSeq),
    ...split,
  };
}

/** The hour only, in hours since 1970: a finer time would tell which peer's report moved the score. */
export function updatedHour({ updatedAt }: TrustView): number {
  return Math.floor(updatedAt / HOUR_MS);
}

function updatedText(view: TrustView): string {
  return timeText(updatedHour(view) * HOUR_MS);
}

/** Characters that stand for themselves in JSON, a byte each. */
export const plainText = /^[\x20\x21\x23-\x5b\x5d-\x7e]*$/;

/** A string as JSON of ASCII alone, so that bodies written by template have one byte for each character. */
export function quoted(text: string): string {
  return plainText.test(text) ? `"${text}"` : asciiJson(text);
}

/** A value as JSON of ASCII alone. */
export function asciiJson(value: unknown): string {
  return JSON.stringify(value).replace(
    /[\u007f-\uffff]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

export function verdictBody(playerId: string, view: TrustView): VerdictBody {
  return {
    player_id: playerId,
    verdict: view.verdict,
    confidence: wholeConfidence(view) / CONFIDENCE_UNIT,
    ...(view.allowed === undefined ? {} : { allowed: view.allowed }),
    updated_at: updatedText(view),
  };
}

/** An event as stored. `peerId` and `playerId` are the caller's own words for itself and the player. */
export function storedEventBody(
  peerId: string,
  playerId: string,
  event: Omit<OwnEvent, 'seq' | 'receivedAt'>,
  receivedAt: number,
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
    received_at: timeText(receivedAt),
    status: 'accepted',
  };
}

type BatchEntry = BatchResultBody['results'][number];

/** What became of one event of a batch, as JSON of ASCII alone. `eventId`: as sent; null where it was no string. */
export function batchEntryText(eventId: string | null, outcome: Outcome<unknown>): string {
  // Its id has passed the schema, whose characters stand for themselves.
  if (outcome.ok) return `{"event_id":"${eventId}","status":201}`;
  const { code, text, details } = outcome;
  const entry: BatchEntry = {
    event_id: eventId,
    status: errors[code].status,
    code,
    error: text ?? errors[code].text,
    ...(details === undefined ? {} : { details }),
  };
  return asciiJson(entry);
}

/** `BatchResultBody` as JSON of ASCII alone; `results` are such texts, in the order sent. */
export function batchResultText(counts: Omit<BatchResultBody, 'results'>, results: readonly string[]): string {
  const { accepted, duplicates, rejected } = counts;
  return `{"accepted":${accepted},"duplicates":${duplicates},"rejected":${rejected},"results":[${results.join(',')}]}`;
}

export function summaryRowBody(row: SummaryRow): PlayerEventsBody['summary'][number] {
  return { event_type: row.eventType, ...(row.week === undefined ? {} : { week: row.week }), count: row.count };
}

/** `delayedCount`: the peer's events as active peers may know them; null for a caller that is none, who sees less. */
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

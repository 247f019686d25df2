/** Parses each frame of the verdict stream, applies it to the table of players, and returns its effect. */
import type { EventSourceMessage } from 'eventsource-parser';
import type { ChangedPlayer, StreamEvents } from '../../contract/verdict-stream.js';
import { isRecord, jsonIn } from '../json-text.js';
import type { TrustValues } from '../player-trust.js';

export type FrameEffect =
  | { readonly kind: 'hello'; readonly heartbeatMs: number; readonly now: number }
  | { readonly kind: 'snapshot' }
  /** Everything up to `at`, by the `AgeClock`, is known. `beat`: the node had nothing else to report. */
  | { readonly kind: 'current'; readonly at: number; readonly beat: boolean }
  | { readonly kind: 'ended'; readonly text: string; readonly afterMs: number }
  | { readonly kind: 'bad'; readonly text: string }
  /** One part of several; more parts follow. */
  | { readonly kind: 'part' }
  | { readonly kind: 'unknown' };

const part: FrameEffect = { kind: 'part' };
const hash = /^[0-9a-f]{64}$/;
const verdicts: Readonly<Record<ChangedPlayer['verdict'], true>> = {
  trusted: true,
  neutral: true,
  suspicious: true,
  untrusted: true,
};

/** Converts ms of the node's clock to a time of the `AgeClock`. */
export type NodeTime = (nodeMs: number) => number;

/** The table keeps track of a snapshot in progress, which its first frame begins. `onErased`: see `FollowOptions`. */
export function applyFrame(
  { event, data, id }: EventSourceMessage,
  table: StreamTable,
  timeAt: NodeTime,
  onErased: (subjectHash: string) => void,
): FrameEffect {
  switch (event) {
    case 'hello':
      return hello(parse(data));
    case 'reset':
      return part;
    case 'snapshot':
      return snapshot(parse(data), table, timeAt);
    case 'change':
      return change(parse(data), table, timeAt, onErased, id !== undefined);
    case 'heartbeat':
      return heartbeat(parse(data), timeAt);
    case 'resume': {
      const { reason, after_ms }: Frame<'resume'> = parse(data);
      return {
        kind: 'ended',
        text: `the node ended the stream: ${String(reason)}`,
        afterMs: Math.max(0, Number(after_ms) || 0),
      };
    }
    default:
      return { kind: 'unknown' };
  }
}

/** The members of a frame, any of which may be missing. */
type Frame<Name extends keyof StreamEvents> = { readonly [Member in keyof StreamEvents[Name]]?: unknown };

function parse(data: string): Readonly<Record<string, unknown>> {
  const value = jsonIn(data);
  return isRecord(value) ? value : {};
}

function bad(what: string): FrameEffect {
  return { kind: 'bad', text: `a ${what} frame of the stream is malformed` };
}

function hello({ version, group_id, heartbeat_ms, now }: Frame<'hello'>): FrameEffect {
  if (version !== 1) return { kind: 'bad', text: 'this client does not know the version of the stream' };
  const at = timeOf(now);
  if (typeof group_id !== 'string' || typeof heartbeat_ms !== 'number' || at === null) return bad('hello');
  if (!(heartbeat_ms > 0)) return bad('hello');
  return { kind: 'hello', heartbeatMs: heartbeat_ms, now: at };
}

function snapshot({ players, last, as_of }: Frame<'snapshot'>, table: StreamTable, timeAt: NodeTime): FrameEffect {
  const asOf = timeOf(as_of);
  if (!Array.isArray(players) || typeof last !== 'boolean' || asOf === null) return bad('snapshot');
  const at = timeAt(asOf);
  if (!table.inSnapshot) table.snapshotBegins();
  for (const player of players) if (!publish(player, table, at)) return bad('snapshot');
  if (!last) return { kind: 'snapshot' };
  table.snapshotEnds();
  return { kind: 'current', at, beat: false };
}

function change(
  { changes, as_of }: Frame<'change'>,
  table: StreamTable,
  timeAt: NodeTime,
  onErased: (subjectHash: string) => void,
  isWhole: boolean,
): FrameEffect {
  const asOf = timeOf(as_of);
  if (!Array.isArray(changes) || asOf === null) return bad('change');
  const at = timeAt(asOf);
  const rows: readonly unknown[] = changes;
  for (const row of rows) {
    if (!publish(row, table, at)) return bad('change');
    if (isRecord(row) && row.subject_erased === true) onErased(String(row.subject_hash));
  }
  return isWhole ? { kind: 'current', at, beat: false } : part;
}

function heartbeat({ as_of }: Frame<'heartbeat'>, timeAt: NodeTime): FrameEffect {
  const asOf = timeOf(as_of);
  return asOf === null ? bad('heartbeat') : { kind: 'current', at: timeAt(asOf), beat: true };
}

/** Returns false if the row is malformed. */
function publish(row: unknown, table: StreamTable, at: number): boolean {
  if (!isRecord(row) || typeof row.subject_hash !== 'string' || !hash.test(row.subject_hash)) return false;
  if (row.gone === true) {
    table.removePublished(row.subject_hash);
    return true;
  }
  const values = valuesOf(row);
  if (values === null) return false;
  table.setPublished(row.subject_hash, values, at);
  return true;
}

/** Returns the values in a row of the stream or of a score read; null if the row is malformed. */
export function valuesOf(row: Readonly<Record<string, unknown>>): TrustValues | null {
  const { score, confidence, verdict } = row;
  if (typeof score !== 'number' || typeof confidence !== 'number') return null;
  if (typeof verdict !== 'string' || !Object.hasOwn(verdicts, verdict)) return null;
  const values = { score, confidence, verdict: verdict as ChangedPlayer['verdict'], known: true };
  return row.allowed === true ? { ...values, allowed: true } : values;
}

function timeOf(value: unknown): number | null {
  const at = typeof value === 'string' ? Date.parse(value) : Number.NaN;
  return Number.isNaN(at) ? null : at;
}

export interface StreamTable {
  readonly size: number;
  /** True while every player of the group is held: a player that is not held has no events. */
  readonly complete: boolean;
  readonly inSnapshot: boolean;
  /** How long an answer counts as current, in ms: as long as the stream may be silent. */
  answerMs: number;
  /** Stores the published values of a player, which are true at `at` by the `AgeClock`. */
  setPublished(key: string, values: TrustValues, at: number): void;
  removePublished(key: string): void;
  snapshotBegins(): void;
  /** Ends a snapshot: a player that it did not name has no events. */
  snapshotEnds(): void;
  /** Notes that a connection ended. The next one begins its snapshot anew, and may omit players that this one named. */
  streamBroke(): void;
  /** Notes that the stream ended for good; it kept the table current until `at`. */
  orphan(at: number): void;
  /** Called with the newest event id after each frame; reading continues once it resolves, and ends if it rejects. */
  settle?(lastEventId: string): Promise<void>;
}

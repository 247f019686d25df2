/** Writes the frames of the verdict stream, and reads the position from an event id (docs/VERDICT-STREAM.md). */
import type { StreamEvents } from '../../contract/verdict-stream.js';
import type { RefusedErasure } from '../../group/api.js';
import type { FeedPosition, PublishedPlayer } from '../../group/verdict-changes.js';
import { limits } from '../../limits.js';
import { timeText } from '../bodies/bodies.js';

/** An event id: record, generation, position; in a cluster the tag of the log, and the time in base 36. */
const idForm = /^(\d{1,16})-([\da-f]{12})\.(\d{1,10})(?:\.([\da-f]{12})\.([\da-z]{1,9}))?$/;

function frame(event: string, data: string, id?: string): string {
  return `event: ${event}\n${id === undefined ? '' : `id: ${id}\n`}data: ${data}\n\n`;
}

function idOf({ seq, generation, position, logTag, asOf }: FeedPosition): string {
  const elsewhere = logTag === undefined ? '' : `.${logTag}.${asOf.toString(36)}`;
  return `${seq}-${generation}.${position}${elsewhere}`;
}

/** Returns the position in an event id; undefined if no node makes it. `asOf` is 0 for a node without a cluster. */
export function placeOf(id: string): FeedPosition | undefined {
  const found = idForm.exec(id);
  if (found === null) return undefined;
  const [, seq, generation, position, logTag, asOf = '0'] = found;
  const shared = logTag === undefined ? {} : { logTag };
  return { seq: Number(seq), generation: generation!, position: Number(position), asOf: parseInt(asOf, 36), ...shared };
}

export function helloFrame(hello: StreamEvents['hello']): string {
  return `retry: ${limits.streamRetryMs}\n${frame('hello', JSON.stringify(hello))}`;
}

export function resetFrame(reason: StreamEvents['reset']['reason']): string {
  return frame('reset', JSON.stringify({ reason } satisfies StreamEvents['reset']), '');
}

/** `rows` are JSON texts, joined by commas. Only the last frame of a snapshot has an id. */
export function snapshotFrame(rows: string, isLast: boolean, mark: FeedPosition): string {
  const data = `{"players":[${rows}],"last":${isLast},"as_of":"${timeText(mark.asOf)}"}`;
  return frame('snapshot', data, isLast ? idOf(mark) : undefined);
}

/** `isWhole`: with this frame, all changes up to `mark` have been sent. */
export function changeFrame(rows: string, isWhole: boolean, mark: FeedPosition): string {
  return frame('change', `{"changes":[${rows}],"as_of":"${timeText(mark.asOf)}"}`, isWhole ? idOf(mark) : undefined);
}

export function erasedFrame(rows: readonly string[], asOf: number): string {
  return frame('change', `{"changes":[${rows.join(',')}],"as_of":"${timeText(asOf)}"}`);
}

/** `isOwn`: events of the reader's peer were erased with the player. */
export function erasedRow(subject: string, isOwn: boolean): string {
  return `{"subject_hash":"${subject}","gone":true${isOwn ? ',"subject_erased":true' : ''}}`;
}

export interface RowMarks {
  readonly disputed: boolean;
  /** The operator refused the peer's request to erase the player, for this reason. */
  readonly erasureRefused: string | undefined;
}

const noMarks: RowMarks = { disputed: false, erasureRefused: undefined };

/** `peer` null: the reader has no key. */
export function marksFor(peer: number | null, disputed: readonly number[], refused: readonly RefusedErasure[]) {
  if (peer === null) return noMarks;
  const erasureRefused = refused.find(({ peers }) => peers.includes(peer))?.reason;
  return { disputed: disputed.includes(peer), erasureRefused };
}

/** Returns the row of a player (`changedPlayerSchema`). A template takes half of the time of `JSON.stringify`. */
export function playerRow(player: PublishedPlayer, { disputed, erasureRefused }: RowMarks): string {
  const { subject, score, confidence, verdict, allowed } = player;
  const marks = `${allowed ? ',"allowed":true' : ''}${disputed ? ',"disputed":true' : ''}`;
  const refusal = erasureRefused === undefined ? '' : `,"erasure_refused":${JSON.stringify(erasureRefused)}`;
  return `{"subject_hash":"${subject}","score":${score},"confidence":${confidence},"verdict":"${verdict}"${marks}${refusal}}`;
}

export function heartbeatFrame(mark: FeedPosition): string {
  return frame('heartbeat', `{"as_of":"${timeText(mark.asOf)}"}`, idOf(mark));
}

export function resumeFrame(reason: StreamEvents['resume']['reason']): string {
  return frame('resume', JSON.stringify({ reason, after_ms: limits.streamRetryMs } satisfies StreamEvents['resume']));
}

/** Shows the reader that the connection is alive while no heartbeat is possible. */
export const comment = ': still here\n\n';

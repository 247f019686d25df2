/**
 * The frames of the verdict stream as text (docs/decisions/0160-verdict-stream-wire.md). Rows come as JSON, as the pool
 * made them.
 */

import type { HelloData, ResetData, ResumeData } from '../../contract/verdict-stream.js';
import type { FeedPosition } from '../../group/verdict-changes.js';
import { limits } from '../../limits.js';
import { timeText } from '../bodies/bodies.js';

const idForm = /^\d{1,16}-([\da-f]{12})\.(\d{1,10})$/;

function frame(event: string, data: string, id?: string): string {
  return `event: ${event}\n${id === undefined ? '' : `id: ${id}\n`}data: ${data}\n\n`;
}

/** What a reader sends back to resume after everything up to `mark`. */
function idOf({ seq, generation, position }: FeedPosition): string {
  return `${seq}-${generation}.${position}`;
}

/** The place that an id names; undefined where this node has never made such an id. */
export function placeOf(id: string): Pick<FeedPosition, 'generation' | 'position'> | undefined {
  const found = idForm.exec(id);
  return found === null ? undefined : { generation: found[1]!, position: Number(found[2]) };
}

export function helloFrame(hello: HelloData): string {
  return `retry: ${limits.streamRetryMs}\n${frame('hello', JSON.stringify(hello))}`;
}

export function resetFrame(reason: ResetData['reason']): string {
  return frame('reset', JSON.stringify({ reason } satisfies ResetData), '');
}

/** `rows`: as JSON, joined by commas. Only the last frame of a snapshot has an id. */
export function snapshotFrame(rows: string, isLast: boolean, mark: FeedPosition): string {
  const data = `{"players":[${rows}],"last":${isLast},"as_of":"${timeText(mark.asOf)}"}`;
  return frame('snapshot', data, isLast ? idOf(mark) : undefined);
}

/** `isWhole`: all up to `mark` has been told with it. */
export function changeFrame(rows: string, isWhole: boolean, mark: FeedPosition): string {
  const data = `{"changes":[${rows}],"as_of":"${timeText(mark.asOf)}"}`;
  return frame('change', data, isWhole ? idOf(mark) : undefined);
}

/** Erased players alone, for who is not told the rest yet. */
export function erasedFrame(rows: readonly string[], asOf: number): string {
  return frame('change', `{"changes":[${rows.join(',')}],"as_of":"${timeText(asOf)}"}`);
}

/** `isOwn`: events of the reader's peer went with the player. */
export function erasedRow(subject: string, isOwn: boolean): string {
  return `{"subject_hash":"${subject}","gone":true${isOwn ? ',"subject_erased":true' : ''}}`;
}

export function heartbeatFrame(mark: FeedPosition): string {
  return frame('heartbeat', `{"as_of":"${timeText(mark.asOf)}"}`, idOf(mark));
}

export function resumeFrame(reason: ResumeData['reason']): string {
  return frame('resume', JSON.stringify({ reason, after_ms: limits.streamRetryMs } satisfies ResumeData));
}

/** A sign of life where nothing can be told yet. */
export const comment = ': still here\n\n';

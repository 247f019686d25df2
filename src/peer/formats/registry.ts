/** All formats of ban lists, and which of them a text is of. */
import { battlemetrics } from './battlemetrics.js';
import { genericCsv, ndjson } from './generic.js';
import type { ListFormat, ReadOptions, RowSink, Sample } from './list-row.js';
import { litebans } from './litebans.js';
import { minecraft } from './minecraft.js';
import { rust } from './rust.js';
import { source } from './source.js';
import { sourcebans, sourcebansSql } from './sourcebans.js';
import { squad } from './squad.js';
import { tf2bd } from './tf2bd.js';
import { txadmin } from './txadmin.js';

/** In the order in which they are asked: the ones with the strictest marks first. */
export const formats: readonly ListFormat[] = [
  minecraft,
  txadmin,
  tf2bd,
  battlemetrics,
  ndjson,
  sourcebansSql,
  litebans,
  sourcebans,
  rust,
  source,
  squad,
  genericCsv,
];

export interface Detected {
  readonly format: ListFormat;
  /** Why, for people. */
  readonly why: string;
}

const sampleLength = 65_536;
const sampleLines = 200;

/** Which format the text is of, and why; null where it is of none that is known. */
export function detectFormat(text: string): Detected | null {
  const sample = sampleOf(text);
  for (const format of formats) {
    const why = format.recognise(sample);
    if (why !== null) return { format, why };
  }
  return null;
}

/** The format of a name; undefined where there is none. */
export function formatNamed(name: string): ListFormat | undefined {
  return formats.find((format) => format.name === name);
}

/** Reads a list. Rows and refused lines come in the order of the file; no text makes it throw. */
export function readList(format: ListFormat, text: string, sink: RowSink, options: ReadOptions): void {
  format.read(text, sink, options);
}

function sampleOf(text: string): Sample {
  const head = text.slice(0, sampleLength);
  const lines = head
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')
    .slice(0, sampleLines);
  return { head, lines };
}

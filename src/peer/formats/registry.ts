/** Lists all formats of ban lists, recognises the format of a text, and reads a list in a given format. */
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

/** In the order of recognition: the formats with the strictest marks first. */
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
  /** The reason, for people. */
  readonly why: string;
}

const sampleLength = 65_536;
const sampleLines = 200;

/** Returns the format of the text and the reason; null if it has no known format. */
export function detectFormat(text: string): Detected | null {
  const sample = sampleOf(text);
  for (const format of formats) {
    const why = format.recognise(sample);
    if (why !== null) return { format, why };
  }
  return null;
}

/** Returns the format with a name; undefined if there is none. */
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

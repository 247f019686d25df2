/**
 * Declares the interface of a format of ban lists, and the result of reading a list: one row for each measure against
 * one person, and one refusal for each other line.
 */

/** An id as the list spells it, with its kind if the format or the column states it. */
export interface RowId {
  readonly text: string;
  readonly kind?: string;
}

/** The list's statement about the person: banned, or marked as a cheater or as toxic. */
export type RowKind = 'ban' | 'cheating' | 'toxicity';

export interface ListRow {
  readonly ids: readonly RowId[];
  /** Begin of the measure in ms since 1970; null if the list does not state it. */
  readonly bannedAt: number | null;
  /** End of the measure in ms since 1970; null if it is permanent or the list does not state it. */
  readonly expiresAt: number | null;
  /** Length of the measure in ms, if the list states it without a begin and an end. */
  readonly lengthMs?: number;
  readonly lifted: boolean;
  readonly kind: RowKind;
  /** Line of the file at which the row begins, from 1. */
  readonly line: number;
  /** A remark about the reading of the row, for people. Contains no id, name, reason or address. */
  readonly note?: string;
}

/** Receives the rows and the refused lines of a list, in the order of the file. */
export interface RowSink {
  row(row: ListRow): void;
  /**
   * Refuses a line that is damaged or contains no measure against a person. `reason` contains no text of the line.
   * `isEnd`: nothing after this line is read.
   */
  refuse(line: number, reason: string, isEnd?: boolean): void;
}

export interface ReadOptions {
  /** IANA name of the zone for times without a zone. */
  readonly timeZone: string;
}

/** One format: how to recognise it, and how to turn its text into rows. Both functions are pure. */
export interface ListFormat {
  /** The name for `--format`. */
  readonly name: string;
  /** The tool or game of the list, for people. */
  readonly title: string;
  /** Name for event ids if another format can hold the same list; `name` otherwise. */
  readonly sameAs?: string;
  /** Returns the reason why the text has this format; null if it does not. */
  readonly recognise: (sample: Sample) => string | null;
  readonly read: (text: string, sink: RowSink, options: ReadOptions) => void;
}

/** The beginning of a list, prepared for recognition. */
export interface Sample {
  /** The first characters of the text. */
  readonly head: string;
  /** Non-blank lines, trimmed. The last one may be truncated. */
  readonly lines: readonly string[];
}

/**
 * What a format makes of a ban list: one row for each measure against one person, and one refusal for each line that
 * is none.
 */

/** An id as the list writes it, with its kind where the format or the column says it. */
export interface RowId {
  readonly text: string;
  readonly kind?: string;
}

/** What the list says about the person: banned, or marked as a cheater or as toxic. */
export type RowKind = 'ban' | 'cheating' | 'toxicity';

export interface ListRow {
  /** All ids of one person. */
  readonly ids: readonly RowId[];
  /** When the measure began, in ms since 1970; null where the list does not say. */
  readonly bannedAt: number | null;
  /** When it ends or ended, in ms since 1970; null where it is permanent or the list does not say. */
  readonly expiresAt: number | null;
  /** Whether somebody took the measure back. */
  readonly lifted: boolean;
  readonly kind: RowKind;
  /** The line of the file where the row begins, from 1. */
  readonly line: number;
  /** What a person should know about how the row was read. Holds no id, name, reason or address. */
  readonly note?: string;
}

/** A line that is no measure against a person, or one that is damaged. The reason holds nothing of the line. */
export interface RefusedLine {
  readonly line: number;
  readonly reason: string;
}

/** Takes the rows and the refused lines of a list, in the order of the file. */
export interface RowSink {
  row(row: ListRow): void;
  refuse(line: number, reason: string): void;
}

export interface ReadOptions {
  /** IANA name of the zone of times that carry none. */
  readonly timeZone: string;
}

/** One format: how it is recognised, and how its text becomes rows. Both are pure. */
export interface ListFormat {
  /** The name that `--format` takes. */
  readonly name: string;
  /** Whose list it is, for people. */
  readonly title: string;
  /** The name in event ids, where another format holds the same list; else `name`. */
  readonly sameAs?: string;
  /** Why the text is of this format; null where it is not. */
  readonly recognise: (sample: Sample) => string | null;
  readonly read: (text: string, sink: RowSink, options: ReadOptions) => void;
}

/** The beginning of a list, prepared for recognition. */
export interface Sample {
  /** The first characters of the text. */
  readonly head: string;
  /** Lines that are not blank, without blanks at their ends. The last one may be cut. */
  readonly lines: readonly string[];
}

/** Declares the result of reading a ban list: one row for each measure against one person, one refusal for the rest. */
import type { RecordSink } from './reading/records.js';

/** An id as the list spells it, with its kind if the description or the row states it. */
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
  /** True if the list says that the measure has run out, whatever its end. */
  readonly over: boolean;
  readonly kind: RowKind;
  /** Line of the file at which the row begins, from 1. */
  readonly line: number;
  /** A remark about the reading of the row, for people. Contains no id, name, reason or address. */
  readonly note: string | undefined;
}

/** Receives the rows and the refused lines of a list, in the order of the file. */
export interface RowSink extends Pick<RecordSink, 'refuse' | 'damaged'> {
  row(row: ListRow): void;
  /** Names a cell that the description does not know. `isDangerous`: it may state an end, a type or a removal. */
  unknown(cell: string, isDangerous: boolean): void;
  /** Names a cell or a path that the list lacks and the description needs. */
  lacks(cell: string): void;
}

export interface ReadOptions {
  /** IANA name of the zone for times without a zone. */
  readonly timeZone: string;
  /** Cells to ignore although their name looks like an end, a type or a removal. */
  readonly ignore?: readonly string[] | undefined;
}

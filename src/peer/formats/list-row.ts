/** Declares the result of reading a ban list: one row for each measure against one person, one refusal for the rest. */
import type { Player } from './player-of.js';
import type { RecordSink } from './reading/records.js';

/** The list's statement about the person: banned, or marked as a cheater or as toxic. */
export type RowKind = 'ban' | 'cheating' | 'toxicity';

export interface ListRow {
  readonly players: readonly Player[];
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
  /** A remark about the reading of the row, for people. Contains no id, name, reason or address. */
  readonly note: string | undefined;
}

export interface RowRefusal {
  readonly reason: string;
  /** The name of a measure that is no ban, such as a mute. */
  readonly measure?: string;
}

/** Receives the rows and the refused lines of a list, in the order of the file. */
export interface RowSink extends Pick<RecordSink, 'refuse' | 'damaged'> {
  /** `line`: that at which the row begins, from 1. */
  row(row: ListRow, line: number): void;
  /** Names a cell that the description does not know. `isDangerous`: it may state an end, a type or a removal. */
  unknown(cell: string, isDangerous: boolean): void;
  /** Names a cell or a path that the list lacks and the description needs. */
  lacks(cell: string): void;
}

/** A state whose records change tables follow, and what the readers of a table hold. */
import * as assert from 'uvu/assert';
import { type AsOf, asOfTime } from '../../../src/core/evidence/decay.js';
import { subjectHex } from '../../../src/core/hashing/pseudonym.js';
import type { LogRecord } from '../../../src/core/records/records.js';
import { decideErasure } from '../../../src/core/rules/decide-removal.js';
import { trustOf } from '../../../src/core/scoring/score.js';
import type { GroupState } from '../../../src/core/state.js';
import type { ChangeTable } from '../../../src/group/feed/change-table.js';
import type { ChangeRow, PublishedPlayer } from '../../../src/group/verdict-changes.js';
import { Given, subjectOf, t0 } from '../../support/given.js';
import { readInto } from '../../support/published-players.js';
import { weightsOf } from '../../support/weights.js';

export type Players = Map<string, PublishedPlayer>;

export const hexOf = (player: string): string => subjectHex(subjectOf(player));

export class FollowedState {
  readonly given: Given;
  readonly tables: ChangeTable[] = [];
  now = t0;
  readonly #publishedTo: (now: number) => number;

  /** `publishedTo`: the time whose scores the tables publish. */
  constructor(halfLifeDays: number, publishedTo = (now: number) => now) {
    this.given = new Given(halfLifeDays).peers(4).weigh({ a: [3, 3, 3, 3], b: [3, 3, 3, 3], z: [1, 1, 1, 1] });
    this.#publishedTo = publishedTo;
  }

  get state(): GroupState {
    return this.given.state;
  }

  get asOf(): AsOf {
    return asOfTime(this.state, this.#publishedTo(this.now));
  }

  apply(records: readonly LogRecord[]): void {
    for (const record of records) {
      for (const table of this.tables) table.before(record);
      this.added(() => this.given.apply([record], this.now));
    }
  }

  /** The tables follow the records that `act` adds. */
  added(act: () => void): void {
    const before = this.given.records.length;
    act();
    for (const { record } of this.given.records.slice(before)) for (const table of this.tables) table.after(record);
  }

  event(peer: number, player: string, more: object = {}): void {
    this.added(() => this.given.event(peer, player, { timestamp: this.now, ...more }, this.now));
  }

  erase(player: string): void {
    const group = { peersMax: 9, erasureQuotaPerDay: 9, erasureMode: 'peer' } as const;
    const command = { caller: -2, subject: subjectOf(player), commitment: 'c', by: 'test' };
    this.apply(decideErasure(this.state, group, command, this.now).records);
  }

  weigh(tau: number): void {
    const all = (value: number) => new Array<number>(4).fill(value);
    const weights = weightsOf(4, { tau: all(tau), a: all(2), b: all(2), z: all(0.5) }, 0.1);
    this.apply([{ type: 'weights_published', ...weights, computed_at: this.now }]);
  }

  /** Asserts that a reader holds each player of the state and no other, with its verdict, and less than a step off. */
  holds(players: ReadonlyMap<string, PublishedPlayer>): void {
    const { subjects } = this.state;
    assert.is(players.size, subjects.size);
    for (let row = 0; row < subjects.rows; row++) {
      if (!subjects.has(row)) continue;
      const view = trustOf(this.state, row, this.asOf);
      const held = players.get(subjectHex(subjects.keyOf(row)));
      assert.is(held?.verdict, view.verdict);
      // The step, and half of the last digit on both sides.
      assert.ok(Math.abs(held!.score - view.score) < 1.01, `${held!.score} for ${view.score}`);
      assert.ok(Math.abs(held!.confidence - view.confidence) < 0.0501);
    }
  }
}

/** A reader takes in the rows of a piece. */
export function readRows(reader: Players, rows: readonly ChangeRow[]): void {
  for (const { subject, player } of rows) {
    if (player === null) reader.delete(subject);
    else reader.set(subject, player);
  }
}

/** A reader takes in all pieces of a walk; returns how many rows each had. */
export function readWalk(reader: Players, pieceFrom: (row: number) => ReturnType<ChangeTable['walk']>): number[] {
  const sizes: number[] = [];
  for (let from: number | null = 0; from !== null; ) {
    const piece = pieceFrom(from);
    readInto(reader, piece.players);
    sizes.push(piece.players.scores.length);
    from = piece.next;
  }
  return sizes;
}

import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { BatchWriter, chainStart, NONCE_BYTES } from '../../../src/core/records/batch.js';
import { decideDispute, decideDisputeOpened } from '../../../src/core/rules/decide-dispute.js';
import { decideErasure, decideErasureRefused } from '../../../src/core/rules/decide-removal.js';
import { EventColumns } from '../../../src/core/tables/event-columns.js';
import { ChangeTable } from '../../../src/group/feed/change-table.js';
import type { ChangePiece } from '../../../src/group/verdict-changes.js';
import { dayMs, subjectOf, t0 } from '../../support/given.js';
import { Random } from '../../support/random.js';
import { FollowedState, hexOf, type Players, readRows, readWalk } from './followed-state.js';

const steps = { score: 100, confidence: 500 };
const bounds = { rowsMax: 3, lookedAtMax: 5, touchedMax: 4 };

/** A table, and a reader of what it publishes. */
class TableReader extends FollowedState {
  readonly table = new ChangeTable(this.state, steps, bounds);
  readonly reader: Players = new Map();
  #isBegun = false;

  constructor() {
    super(30);
    this.tables.push(this.table);
  }

  /** A group with an event of peer 0 about each of the players `p0`, `p1`, …, all of them published. */
  static of(players: number): TableReader {
    const reader = new TableReader();
    for (let i = 0; i < players; i++) reader.event(0, `p${i}`);
    reader.all();
    return reader;
  }

  piece(): ChangePiece {
    const piece = this.table.next(this.asOf, this.now);
    if (!this.#isBegun && piece.upTo !== null) {
      this.#isBegun = true;
      this.walk(0, this.reader);
    }
    readRows(this.reader, piece.rows);
    return piece;
  }

  walk(since: number, into: Players): void {
    const sizes = readWalk(into, (from) => this.table.walk(from, since));
    assert.ok(Math.max(...sizes) <= bounds.rowsMax);
  }

  /** Publishes everything; returns the last piece. */
  all(): ChangePiece {
    for (;;) {
      const piece = this.piece();
      if (!piece.more) return piece;
    }
  }

  /** Publishes everything, and asserts that the reader then has it. */
  allHeld(): ChangePiece {
    const last = this.all();
    this.holds(this.reader);
    return last;
  }
}

test('events that are applied together publish every player, like single events', () => {
  const reader = TableReader.of(3);
  const { given, now } = reader;
  const firstSeq = given.state.lastSeq + 1;
  const writer = new BatchWriter();
  for (const [peer, player] of [
    [1, 'p1'],
    [1, 'p0'],
    [2, 'p0'],
    [3, 'p7'],
  ] as const) {
    given.event(peer, player, { timestamp: now }, now);
    writer.add(given.records.at(-1)!.record);
  }
  const columns = new EventColumns();
  writer.seal(firstSeq, now, Buffer.alloc(NONCE_BYTES), chainStart).events(firstSeq, columns);
  reader.table.afterEvents(columns);
  const { rows } = reader.allHeld();
  assert.equal(rows.map(({ subject }) => subject).sort(), ['p0', 'p1', 'p7'].map(hexOf).sort());
});

test('a walk first reads all players in pieces, then sends them', () => {
  const reader = new TableReader();
  for (let i = 0; i < 12; i++) reader.event(0, `p${i}`);
  const { table } = reader;
  const pieces = Array.from({ length: 3 }, () => table.next(reader.asOf, t0));
  // 12 rows, 5 at a time.
  assert.equal(
    pieces.map(({ rows, upTo, position }) => [rows.length, upTo?.seq, position]),
    [
      [0, undefined, 0],
      [0, undefined, 0],
      [0, reader.state.lastSeq, 1],
    ],
  );
  const sizes = [table.walk(0, 0), table.walk(0, 1)].map(({ players }) => players.scores.length);
  assert.equal(sizes, [bounds.rowsMax, 0]);
  reader.allHeld();
});

test('a change of less than a step is not sent, and a change of a step is', () => {
  const reader = TableReader.of(1);
  // n = 1: one event of severity 1 brings 50 to 45; a hundredth of it moves the score by less than a point.
  reader.event(0, 'p0', { severity: 0.01 });
  assert.equal(reader.all().rows, []);
  reader.event(1, 'p0');
  assert.is(reader.piece().rows.length, 1);
});

test('decay alone is sent once it amounts to a step', () => {
  const reader = TableReader.of(1);
  for (const peer of [1, 2]) reader.event(peer, 'p0');
  reader.all();
  let published = 0;
  for (let day = 1; day <= 60; day++) {
    reader.now = t0 + day * dayMs;
    published += reader.piece().rows.length;
    reader.holds(reader.reader);
  }
  assert.ok(published > 1 && published < 60, `${published} times in 60 days`);
});

test('new weights are sent for all players that they change', () => {
  const reader = TableReader.of(10);
  reader.weigh(0.3);
  assert.ok(reader.piece().more);
  reader.allHeld();
});

test('a sweep publishes everything known at its start, although more changes come meanwhile', () => {
  const reader = TableReader.of(12);
  reader.weigh(0.3);
  const began = reader.state.lastSeq;
  let piece = reader.piece();
  for (let i = 0; piece.upTo!.seq < began; i++) {
    for (let n = 0; n < 3; n++) reader.event(1, `new ${i} ${n}`);
    piece = reader.piece();
    assert.ok(i < 100);
  }
  assert.equal([piece.more, piece.upTo?.seq], [true, began]);
});

test('a state completes even if changes always exceed a piece', () => {
  const reader = TableReader.of(1);
  let whole = 0;
  for (let i = 0; i < 200; i++) {
    const { seq } = reader.piece().upTo!;
    assert.ok(seq >= whole);
    whole = seq;
    for (let n = 0; n < 4; n++) reader.event(1, `p${i} ${n}`);
    if (i % 7 === 0) reader.weigh(0.1 + (i % 8) / 10);
  }
  assert.ok(whole > 100, `whole up to ${whole} of ${reader.state.lastSeq}`);
  reader.allHeld();
});

test('a state completes without a sweep although changed players always wait', () => {
  const reader = TableReader.of(8);
  const touch = (from: number, count: number) => {
    for (let n = from; n < from + count; n++) reader.event(1, `p${n % 8}`);
  };
  touch(0, 4);
  const began = reader.state.lastSeq;
  for (let i = 0; i < 4; i++) {
    assert.ok(reader.piece().more);
    touch(4 + 3 * i, 3);
  }
  assert.ok(reader.piece().upTo!.seq > began);
});

test('so many changed players are remembered one by one, and a sweep finds those beyond', () => {
  const reader = TableReader.of(12);
  for (let i = 11; i >= 0; i--) reader.event(1, `p${i}`);
  const players = new Map(Array.from({ length: 12 }, (_, i) => [hexOf(`p${i}`), `p${i}`]));
  const sent = () => reader.piece().rows.map(({ subject }) => players.get(subject));
  // Two of a piece in the order of their change, and one of the sweep, which goes from the first player to the last.
  assert.equal(sent(), ['p11', 'p10', 'p0']);
  assert.equal(sent(), ['p9', 'p8', 'p1']);
  assert.equal(sent(), ['p2', 'p3', 'p4'], 'no more than four were remembered');
  reader.allHeld();
});

test('an erased player is sent before all others, and a later one under its name is a new player', () => {
  const reader = TableReader.of(6);
  for (let i = 0; i < 5; i++) reader.event(1, `p${i}`);
  reader.erase('p0');
  reader.event(2, 'p0');
  // With the peers whose events went, which are those that had reported it by then.
  assert.equal(reader.piece().rows[0], { subject: hexOf('p0'), player: null, peers: [0, 1] });
  reader.allHeld();
});

test('erased players are sent alone if only these are requested, and the others afterwards', () => {
  const reader = TableReader.of(6);
  const { upTo } = reader.all();
  for (let i = 0; i < 5; i++) reader.event(1, `p${i}`);
  for (let i = 0; i < 4; i++) reader.erase(`p${i}`);
  const pieces = [reader.table.nextErased(), reader.table.nextErased(), reader.table.nextErased()];
  assert.equal(
    pieces.map(({ rows, more, moreErased }) => [rows.map(({ player }) => player), more, moreErased]),
    [
      [[null, null, null], true, true],
      [[null], true, false],
      [[], true, false],
    ],
  );
  // Nothing new is known in full by that.
  for (const piece of pieces) {
    assert.equal(piece.upTo, upTo);
    readRows(reader.reader, piece.rows);
  }
  reader.allHeld();
});

test('a withdrawal is sent for its player', () => {
  const reader = TableReader.of(1);
  reader.added(() => assert.is(reader.given.withdraw(null, reader.state.lastSeq), 'ok'));
  assert.is(reader.allHeld().rows.length, 1);
});

test('a new mark on a player that has not moved is sent to the peers that see it, and to no others', () => {
  const reader = TableReader.of(1);
  const { state } = reader;
  const subject = subjectOf('p0');
  reader.event(2, 'p0');
  reader.all();
  const marked = () => reader.all().rows.map((row) => [row.subject, row.peers, row.quiet]);
  const opening = { disputeId: 'd', caller: 1, subject, text: 'not him', by: 'test' };
  reader.apply(decideDisputeOpened(state, opening, t0).records);
  assert.equal(marked(), [[hexOf('p0'), [0, 2], true]]);
  const group = { peersMax: 9, erasureQuotaPerDay: 9, erasureMode: 'operator' } as const;
  reader.apply(decideErasure(state, group, { caller: 3, subject, commitment: 'c', by: 'peer-3' }, t0).records);
  reader.apply(decideErasureRefused(state, { subject, reason: 'no', by: 'test' }, t0).records);
  assert.equal(marked(), [[hexOf('p0'), [3], true]]);
  reader.apply(decideDispute(state, { disputeId: 'd', decision: 'reject', peerIds: [], by: 'test' }, t0).records);
  assert.equal(marked(), [[hexOf('p0'), [0, 2], true]]);
  assert.equal(marked(), []);
});

test('nothing counts as published while erased players wait', () => {
  const reader = TableReader.of(9);
  const { seq } = reader.all().upTo!;
  for (let i = 0; i < 2 * bounds.rowsMax; i++) reader.erase(`p${i}`);
  const first = reader.piece();
  assert.equal([first.moreErased, first.upTo?.seq], [true, seq]);
  assert.is(reader.all().upTo?.seq, reader.state.lastSeq);
});

test('a player that was never sent is not sent as erased', () => {
  const reader = TableReader.of(0);
  reader.event(0, 'brief');
  reader.erase('brief');
  assert.equal(reader.all().rows, []);
});

test('readers of pieces and readers of walks always end with the values of reads', () => {
  const random = new Random(3);
  const reader = new TableReader();
  for (let round = 0; round < 200; round++) {
    // A walk from a position that was whole, with everything told meanwhile behind it.
    reader.all();
    const walker = new Map(reader.reader);
    const since = reader.table.walk(0, 0).position;
    for (let n = random.below(12); n > 0; n--) {
      const player = `p${random.below(25)}`;
      const dice = random.below(20);
      if (dice === 0) reader.weigh(0.1 + 0.9 * random.next());
      else if (dice === 1 && reader.given.row(player) >= 0) {
        reader.erase(player);
        walker.delete(hexOf(player));
      } else if (dice === 2) reader.now += random.below(20) * dayMs;
      else {
        const eventType = random.pick(['report_cheating', 'commendation', 'ban_applied']);
        reader.event(random.below(4), player, { eventType });
      }
      if (random.below(3) === 0) reader.piece();
    }
    reader.allHeld();
    reader.walk(since, walker);
    reader.holds(walker);
    assert.equal([...walker].sort(), [...reader.reader].sort());
  }
});

test.run();

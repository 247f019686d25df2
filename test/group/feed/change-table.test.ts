import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { asOfTime } from '../../../src/core/evidence/decay.js';
import { subjectHex } from '../../../src/core/hashing/pseudonym.js';
import { BatchWriter, chainStart, NONCE_BYTES } from '../../../src/core/records/batch.js';
import type { LogRecord } from '../../../src/core/records/records.js';
import { decideErasure } from '../../../src/core/rules/decide-removal.js';
import { trustOf } from '../../../src/core/scoring/score.js';
import { EventColumns } from '../../../src/core/tables/event-columns.js';
import { ChangeTable } from '../../../src/group/feed/change-table.js';
import type { ChangePiece } from '../../../src/group/verdict-changes.js';
import { dayMs, Given, subjectOf, t0 } from '../../support/given.js';
import { Random } from '../../support/random.js';

const steps = { score: 100, confidence: 500 };
const bounds = { rowsMax: 3, lookedAtMax: 5, touchedMax: 4 };

interface Row {
  readonly subject_hash: string;
  readonly score: number;
  readonly confidence: number;
  readonly verdict: string;
}

/** A state whose records a table follows, and a reader of what it tells. */
class Telling {
  readonly given = new Given(30).peers(4).weigh({ a: [3, 3, 3, 3], b: [3, 3, 3, 3], z: [1, 1, 1, 1] });
  readonly told = new ChangeTable(this.given.state, steps, bounds);
  readonly reader = new Map<string, Row>();
  now = t0;
  #isBegun = false;

  apply(records: readonly LogRecord[]): void {
    for (const record of records) {
      this.told.before(record);
      this.given.apply([record], this.now);
      this.told.after(record);
    }
  }

  event(peer: number, player: string, more: object = {}): void {
    const before = this.given.records.length;
    this.given.event(peer, player, { timestamp: this.now, ...more }, this.now);
    for (const { record } of this.given.records.slice(before)) this.told.after(record);
  }

  /** The events of a turn, taken in as columns. */
  eventsTogether(events: readonly (readonly [peer: number, player: string])[]): void {
    const firstSeq = this.given.state.lastSeq + 1;
    const writer = new BatchWriter();
    for (const [peer, player] of events) {
      this.given.event(peer, player, { timestamp: this.now }, this.now);
      writer.add(this.given.records.at(-1)!.record);
    }
    const columns = new EventColumns();
    writer.seal(firstSeq, this.now, Buffer.alloc(NONCE_BYTES), chainStart).events(firstSeq, columns);
    this.told.afterEvents(columns);
  }

  erase(player: string): void {
    const command = { caller: -2, subject: subjectOf(player), commitment: 'c', by: 'test' };
    this.apply(
      decideErasure(this.given.state, { peersMax: 9, erasureQuotaPerDay: 9, erasureMode: 'peer' }, command, this.now)
        .records,
    );
  }

  weigh(tau: number): void {
    const column = new Float64Array(4).fill(tau);
    const ab = new Float64Array(4).fill(2);
    this.apply([
      {
        type: 'weights_published',
        based_on_seq: 1,
        computed_at: this.now,
        pi: 0.1,
        tau: column,
        a: ab,
        b: ab,
        z: ab.map(() => 0.5),
        witness: Uint16Array.of(0, 1, 2, 3),
      },
    ]);
  }

  piece(): ChangePiece {
    const piece = this.told.next(asOfTime(this.given.state, this.now), this.now);
    if (!this.#isBegun && piece.upTo !== null) {
      this.#isBegun = true;
      this.walk(0, this.reader);
    }
    for (const { subject, text } of piece.rows) {
      if (text === null) this.reader.delete(subject);
      else this.reader.set(subject, JSON.parse(text) as Row);
    }
    return piece;
  }

  /** Reads what was told behind a position into a reader's table. */
  walk(since: number, into: Map<string, Row>): void {
    for (let from: number | null = 0; from !== null; ) {
      const { text, next, count } = this.told.walk(from, since);
      assert.ok(count <= bounds.rowsMax);
      for (const row of JSON.parse(`[${text}]`) as Row[]) into.set(row.subject_hash, row);
      from = next;
    }
  }

  /** Everything that there is to tell; the last piece. */
  all(): ChangePiece {
    for (;;) {
      const piece = this.piece();
      if (!piece.more) return piece;
    }
  }

  /** Checks the rows of every player of the state, and of no other, within the steps. */
  holds(rows: ReadonlyMap<string, Row> = this.reader): void {
    const { subjects } = this.given.state;
    const moment = asOfTime(this.given.state, this.now);
    assert.is(rows.size, subjects.size);
    for (let row = 0; row < subjects.rows; row++) {
      if (!subjects.has(row)) continue;
      const view = trustOf(this.given.state, row, moment);
      const mine = rows.get(subjectHex(subjects.keyOf(row)));
      assert.is(mine?.verdict, view.verdict);
      // The step, and half of the last digit on both sides.
      assert.ok(Math.abs(mine!.score - view.score) < 1.01, `${mine!.score} for ${view.score}`);
      assert.ok(Math.abs(mine!.confidence - view.confidence) < 0.0501);
    }
  }
}

test('events that are applied together publish every player, like single events', () => {
  const telling = new Telling();
  for (let i = 0; i < 3; i++) telling.event(0, `p${i}`);
  telling.all();
  telling.eventsTogether([
    [1, 'p0'],
    [2, 'p0'],
    [3, 'p7'],
  ]);
  const { rows } = telling.all();
  assert.equal(
    rows.map(({ subject }) => subject).sort(),
    ['p0', 'p7'].map((name) => subjectHex(subjectOf(name))).sort(),
  );
  telling.holds();
});

test('a walk first reads all players in pieces, then sends them', () => {
  const telling = new Telling();
  for (let i = 0; i < 12; i++) telling.event(0, `p${i}`);
  const table = new ChangeTable(telling.given.state, steps, bounds);
  const pieces = Array.from({ length: 3 }, () => table.next(asOfTime(telling.given.state, t0), t0));
  // 12 rows, 5 at a time.
  assert.equal(
    pieces.map(({ rows, upTo, position }) => [rows.length, upTo?.seq, position]),
    [
      [0, undefined, 0],
      [0, undefined, 0],
      [0, telling.given.state.lastSeq, 1],
    ],
  );
  assert.equal([table.walk(0, 0).count, table.walk(0, 1).count], [bounds.rowsMax, 0]);
  telling.all();
  telling.holds();
});

test('a change of less than a step is not sent, and a change of a step is', () => {
  const telling = new Telling();
  telling.event(0, 'a');
  telling.all();
  // n = 1: one event of severity 1 brings 50 to 45; a hundredth of it moves the score by less than a point.
  telling.event(0, 'a', { severity: 0.01 });
  assert.equal(telling.all().rows, []);
  telling.event(1, 'a');
  assert.is(telling.piece().rows.length, 1);
});

test('decay alone is sent once it amounts to a step', () => {
  const telling = new Telling();
  for (const peer of [0, 1, 2]) telling.event(peer, 'a');
  telling.all();
  let told = 0;
  for (let day = 1; day <= 60; day++) {
    telling.now = t0 + day * dayMs;
    told += telling.piece().rows.length;
    telling.holds();
  }
  assert.ok(told > 1 && told < 60, `${told} times in 60 days`);
});

test('new weights are sent for all players that they change', () => {
  const telling = new Telling();
  for (let i = 0; i < 10; i++) for (const peer of [0, 1]) telling.event(peer, `p${i}`);
  telling.all();
  telling.weigh(0.3);
  assert.ok(telling.piece().more);
  telling.all();
  telling.holds();
});

test('a sweep publishes everything known at its start, although more changes come meanwhile', () => {
  const telling = new Telling();
  for (let i = 0; i < 12; i++) telling.event(0, `p${i}`);
  telling.all();
  telling.weigh(0.3);
  const began = telling.given.state.lastSeq;
  let piece = telling.piece();
  for (let i = 0; piece.upTo!.seq < began; i++) {
    for (let n = 0; n < 3; n++) telling.event(1, `new ${i} ${n}`);
    piece = telling.piece();
    assert.ok(i < 100);
  }
  assert.ok(piece.more);
  assert.is(piece.upTo?.seq, began);
});

test('a state completes even if changes always exceed a piece', () => {
  const telling = new Telling();
  telling.event(0, 'first');
  telling.all();
  let whole = 0;
  for (let i = 0; i < 200; i++) {
    const { seq } = telling.piece().upTo!;
    assert.ok(seq >= whole);
    whole = seq;
    for (let n = 0; n < 4; n++) telling.event(1, `p${i} ${n}`);
    if (i % 7 === 0) telling.weigh(0.1 + (i % 8) / 10);
  }
  assert.ok(whole > 100, `whole up to ${whole} of ${telling.given.state.lastSeq}`);
  telling.all();
  telling.holds();
});

test('an erased player is sent before all others, and a later one under its name is a new player', () => {
  const telling = new Telling();
  for (let i = 0; i < 6; i++) telling.event(0, `p${i}`);
  telling.all();
  for (let i = 0; i < 5; i++) telling.event(1, `p${i}`);
  telling.erase('p0');
  telling.event(2, 'p0');
  const piece = telling.piece();
  // With the peers whose events went, which are those that had reported it by then.
  assert.equal(piece.rows[0], { subject: subjectHex(subjectOf('p0')), text: null, peers: [0, 1] });
  telling.all();
  telling.holds();
});

test('erased players are sent alone if only these are requested, and the others afterwards', () => {
  const telling = new Telling();
  for (let i = 0; i < 6; i++) telling.event(0, `p${i}`);
  const { upTo } = telling.all();
  for (let i = 0; i < 5; i++) telling.event(1, `p${i}`);
  for (let i = 0; i < 4; i++) telling.erase(`p${i}`);
  const pieces = [telling.told.nextErased(), telling.told.nextErased(), telling.told.nextErased()];
  assert.equal(
    pieces.map(({ rows, moreErased }) => [rows.map(({ text }) => text), moreErased]),
    [
      [[null, null, null], true],
      [[null], false],
      [[], false],
    ],
  );
  // Nothing new is known in full by that.
  for (const piece of pieces) assert.equal(piece.upTo, upTo);
  for (let i = 0; i < 4; i++) telling.reader.delete(subjectHex(subjectOf(`p${i}`)));
  telling.all();
  telling.holds();
});

test('a player that was never sent is not sent as erased', () => {
  const telling = new Telling();
  telling.all();
  telling.event(0, 'brief');
  telling.erase('brief');
  assert.equal(telling.all().rows, []);
});

test('readers of pieces and readers of walks always end with the values of reads', () => {
  const random = new Random(3);
  const telling = new Telling();
  for (let round = 0; round < 200; round++) {
    // A walk from a position that was whole, with everything told meanwhile behind it.
    telling.all();
    const walker = new Map(telling.reader);
    const since = telling.told.walk(0, 0).position;
    const gone = new Set<string>();
    for (let n = random.below(12); n > 0; n--) {
      const player = `p${random.below(25)}`;
      const dice = random.below(20);
      if (dice === 0) telling.weigh(0.1 + 0.9 * random.next());
      else if (dice === 1 && telling.given.row(player) >= 0) {
        telling.erase(player);
        gone.add(subjectHex(subjectOf(player)));
      } else if (dice === 2) telling.now += random.below(20) * dayMs;
      else
        telling.event(random.below(4), player, {
          eventType: random.pick(['report_cheating', 'commendation', 'ban_applied']),
        });
      if (random.below(3) === 0) telling.piece();
    }
    telling.all();
    for (const subject of gone) walker.delete(subject);
    telling.walk(since, walker);
    telling.holds();
    telling.holds(walker);
    assert.equal([...walker].sort(), [...telling.reader].sort());
  }
});

test.run();

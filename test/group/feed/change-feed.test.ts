/** The feed of the verdict stream over a replica that answers by script, on a clock of the test's own. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { VerdictFeed } from '../../../src/group/feed/change-feed.js';
import type { FeedPiece, FeedWork } from '../../../src/group/ports/pool.js';
import type { ChangeRow, ChangeWalk, FeedPosition } from '../../../src/group/verdict-changes.js';
import { limits } from '../../../src/limits.js';
import { deferred } from '../../support/deferred.js';
import { publishedPlayer, publishedPlayers } from '../../support/published-players.js';

const minuteMs = 60_000;
const { streamTickMs, streamLingerMs } = limits;

class World {
  now = 10 * minuteMs + 1;
  seq = 5;
  intervalMs = 0;
  /** The replica's next answers; if there is none, it answers that nothing has changed. */
  answers: (Partial<FeedPiece> | Error)[] = [];
  /** Answers wait for this promise. */
  gate: Promise<void> = Promise.resolve();
  readonly asked: FeedWork[] = [];
  readonly troubles: string[] = [];
  ended = 0;
  stalenessMs = 0;
  walks = 0;
  failsWalks = false;
  failsEnds = false;
  closesAtEnd = false;
  #position = 0;
  #generation = '';
  #secrets = 0;
  #timers: { at: number; act: () => void }[] = [];
  readonly feed = new VerdictFeed({
    pool: {
      publishChanges: async (work) => {
        const answer = this.#answerTo(work);
        await this.gate;
        return answer;
      },
      walkChanges: async ({ since }) => {
        this.walks++;
        await this.gate;
        if (this.failsWalks) throw new Error('the pool is busy');
        return { position: this.#position, players: publishedPlayers(`behind ${since}`), next: null };
      },
      endFeed: async () => {
        this.ended++;
        this.#generation = '';
        if (this.closesAtEnd) this.feed.close();
        if (this.failsEnds) throw new Error('the pool is busy');
      },
    },
    clock: { now: () => this.now },
    timers: {
      elapsed: () => this.now,
      soon: () => undefined,
      later: (act, ms) => {
        const timer = { at: this.now + ms, act };
        this.#timers.push(timer);
        return () => {
          this.#timers = this.#timers.filter((one) => one !== timer);
        };
      },
    },
    random: { bytes: (count) => new Uint8Array(count).fill(++this.#secrets), uuid: () => '' },
    storedSeq: () => this.seq,
    intervalMs: () => this.intervalMs,
    stalenessMs: () => this.stalenessMs,
    onFailure: (what) => this.troubles.push(what),
  });

  #answerTo(work: FeedWork): FeedPiece {
    this.asked.push(work);
    const next = this.answers.shift() ?? {};
    if (next instanceof Error) throw next;
    const isFirst = this.#generation !== work.generation;
    if (isFirst) this.#position = 0;
    this.#generation = work.generation;
    const rows = next.rows ?? [];
    if (rows.length > 0) this.#position++;
    const upTo = { seq: work.upTo, asOf: work.asOf };
    return { isFirst, rows, position: this.#position, upTo, more: false, moreErased: false, ...next };
  }

  /** The replica dies, and with it what it published. */
  replace(): void {
    this.#generation = '';
  }

  async pass(ms: number): Promise<void> {
    const until = this.now + ms;
    for (;;) {
      await new Promise((resolve) => setImmediate(resolve));
      const next = this.#timers.filter(({ at }) => at <= until).sort((a, b) => a.at - b.at)[0];
      if (next === undefined) break;
      this.#timers = this.#timers.filter((one) => one !== next);
      this.now = Math.max(this.now, next.at);
      next.act();
    }
    this.now = until;
  }

  /** So many records are stored, and the feed has the time to ask for their changes. */
  async grow(records = 1): Promise<void> {
    this.seq += records;
    await this.pass(streamTickMs);
  }

  listen() {
    const published: (readonly [rows: readonly ChangeRow[], mark: FeedPosition | null])[] = [];
    let forgotten = 0;
    const leave = this.feed.listen({
      publish: async (rows, mark) => void published.push([rows, mark]),
      forgotten: () => void forgotten++,
    });
    /** The subjects of each publication, and the position of its mark, if any. */
    const subjects = () => published.map(([rows, mark]) => [rows.map(({ subject }) => subject).join(), mark?.position]);
    return { published, subjects, leave, forgotten: () => forgotten };
  }
}

/** A world with a reader to which the first state was published. */
async function listened(given: Partial<World> = {}) {
  const world = Object.assign(new World(), given);
  const reader = world.listen();
  await world.pass(streamTickMs);
  return { world, ...reader };
}

const row = (subject: string): ChangeRow => ({ subject, player: publishedPlayer(subject) });
const gone = (subject: string): ChangeRow => ({ subject, player: null });

test('the replica is not asked while there is no listener, nor does an erasure wait for it', async () => {
  const world = new World();
  await world.pass(minuteMs);
  await world.feed.publishErasures();
  assert.equal(world.asked, []);
});

test('the replica is asked when the log grew or the minute moved, and not otherwise', async () => {
  const { world } = await listened();
  await world.pass(1_000);
  assert.is(world.asked.length, 1);
  assert.is(world.feed.erasedAt, 0, 'nothing was erased');
  await world.grow();
  assert.equal(
    world.asked.map(({ upTo }) => upTo),
    [5, 6],
  );
  await world.pass(minuteMs);
  assert.is(world.asked.length, 3);
  assert.is(world.asked[2]!.at, 12 * minuteMs);
  // Quiet rows are known to be quiet up to the last check.
  assert.ok(world.now - world.feed.mark!.asOf <= streamTickMs);
});

test('changes are resumed from memory, except those before the first complete publication', async () => {
  const answers = [{ rows: [row('a')], upTo: null, more: true }, { rows: [row('b')] }, { rows: [row('c')] }];
  const { world, subjects } = await listened({ answers });
  assert.is(world.feed.mark?.position, 2);
  await world.grow();
  assert.equal(subjects(), [
    ['a', undefined],
    ['b', 2],
    ['c', 3],
  ]);
  assert.equal(world.feed.recent(2), [publishedPlayer('c')]);
  assert.is(world.feed.recent(0), null);
});

test('an erasure is sent before it is answered, and nothing here names the player afterwards', async () => {
  const { world, published } = await listened({ answers: [{}, { rows: [row('a'), row('b')] }] });
  await world.grow();
  assert.is(world.feed.rows, 2);
  world.answers = [{ rows: [gone('x')], more: true, moreErased: true }, { rows: [gone('a')] }];
  world.seq++;
  await world.feed.publishErasures();
  assert.equal(
    published.slice(-2).map(([rows]) => rows[0]),
    [gone('x'), gone('a')],
  );
  assert.is(world.feed.rows, 1);
  assert.equal(world.feed.recent(0), [publishedPlayer('b')]);
  assert.is(world.feed.erasedAt, world.feed.mark?.position);
});

test('in intervals the replica is asked as each begins, for no more than was durable then', async () => {
  const { world } = await listened({ intervalMs: 1_000, now: 600_300 });
  for (let i = 0; i < 30; i++) {
    world.seq++;
    await world.pass(100);
  }
  // The first question is that of the reader who came; the others lie on whole seconds.
  assert.equal(
    world.asked.map(({ upTo, asOf }) => `${upTo} at ${asOf}`),
    ['5 at 600300', '10 at 601000', '20 at 602000', '30 at 603000'],
  );
});

test('the rest of an interval is published within it, without changes that came meanwhile', async () => {
  const world = new World();
  world.intervalMs = 1_000;
  world.now = 600_000;
  world.answers = [{}, { rows: [row('a')], more: true }, { rows: [row('b')] }];
  const { subjects } = world.listen();
  await world.pass(500);
  world.seq = 6;
  await world.pass(500 + limits.streamPaceMs / 2);
  assert.equal(world.asked.at(-1)?.upTo, 6);
  world.seq = 7;
  await world.pass(500);
  assert.equal(
    subjects().map(([names]) => names),
    ['', 'a', 'b'],
  );
  assert.equal(
    world.asked.map(({ upTo }) => upTo),
    [5, 6, 6],
  );
  assert.is(world.feed.mark?.seq, 6);
});

test('a node that is cut off from its cluster claims no newer time, and continues with the minute', async () => {
  const { world } = await listened({ stalenessMs: 100.25 });
  await world.pass(1_000);
  const { asOf } = world.feed.mark!;
  assert.ok(asOf <= world.now - 100);
  assert.ok(Number.isInteger(asOf), 'the id of an event holds whole ms');
  // The node's place in the cluster is lost, so that it cannot say how old its state is.
  world.stalenessMs = Number.MAX_SAFE_INTEGER;
  await world.pass(2 * minuteMs);
  assert.is(world.feed.mark?.asOf, asOf);
  assert.ok(world.asked.at(-1)!.at > world.now);
  world.stalenessMs = 0;
  await world.pass(1_000);
  assert.ok(world.now - world.feed.mark!.asOf <= streamTickMs);
});

test('an erasure waits for no interval, and brings no other change with it', async () => {
  const world = new World();
  world.intervalMs = 1_000;
  world.now = 600_000;
  const { published } = world.listen();
  await world.pass(500);
  world.seq = 6;
  const { asOf } = world.feed.mark!;
  world.answers = [{ rows: [gone('x')], upTo: { seq: 5, asOf: 1 }, more: true }];
  await world.feed.publishErasures();
  assert.equal(published.at(-1)?.[0], [gone('x')]);
  // A reader of that answer knows nothing newer than before, and nothing less.
  assert.equal([world.feed.mark?.seq, world.feed.mark?.asOf], [5, asOf]);
  await world.pass(600);
  assert.equal(
    world.asked.map(({ upTo, erasedOnly }) => `${upTo} ${erasedOnly}`),
    ['5 false', '6 true', '6 false'],
  );
});

test('an erasure is asked for behind a piece that is on its way', async () => {
  const { world } = await listened();
  const { promise, resolve: open } = deferred();
  world.gate = promise;
  await world.grow();
  const before = world.asked.length;
  const erased = world.feed.publishErasures();
  await world.pass(0);
  assert.is(world.asked.length, before);
  open();
  await erased;
  assert.equal(
    world.asked.slice(before - 1).map(({ erasedOnly }) => erasedOnly),
    [false, true],
  );
});

test('a failure to clear the table is reported, unless the node closes', async () => {
  for (const [closesAtEnd, troubles] of [
    [false, ['clearing the table of the stream']],
    [true, []],
  ] as const) {
    const { world, leave } = await listened({ failsEnds: true, closesAtEnd });
    leave();
    await world.pass(streamLingerMs + streamTickMs);
    assert.equal([world.ended, world.troubles], [1, troubles]);
  }
});

test('after a replacement of the replica listeners are notified, and a new generation begins', async () => {
  const { world, forgotten } = await listened();
  const { generation } = world.feed.mark!;
  world.replace();
  await world.grow();
  assert.is(forgotten(), 1);
  await world.pass(streamTickMs);
  assert.is.not(world.feed.mark?.generation, generation);
  assert.is(forgotten(), 1);
});

test('a failure of the pool is tried again', async () => {
  const { world } = await listened({ answers: [new Error('the pool is busy')] });
  await world.pass(limits.workRetryMs);
  assert.equal([world.troubles.length, world.feed.mark?.seq], [1, 5]);
});

test('without listeners everything is stored for a while, and then forgotten, here and in the replica', async () => {
  const { world, leave } = await listened({ answers: [{}, { rows: [row('a')] }] });
  await world.grow();
  leave();
  await world.pass(streamLingerMs - streamTickMs);
  assert.is(world.feed.rows, 1);
  await world.pass(2 * streamTickMs);
  assert.equal([world.feed.rows, world.feed.mark, world.ended], [0, null, 1]);
  const asked = world.asked.length;
  await world.pass(minuteMs);
  assert.is(world.asked.length, asked);
  world.listen();
  await world.pass(streamTickMs);
  assert.is(world.feed.mark?.seq, 6);
});

test('changes that were requested before the table was cleared are not published', async () => {
  const { world, leave } = await listened();
  const { generation } = world.feed.mark!;
  leave();
  await world.pass(streamLingerMs - 1);
  const { promise, resolve: open } = deferred();
  world.gate = promise;
  // An erasure asks while nobody reads any more, and is answered when the next one does.
  world.answers = [{ rows: [row('a')] }];
  const erased = world.feed.publishErasures();
  await world.pass(streamTickMs);
  assert.is(world.ended, 1);
  const { published, forgotten } = world.listen();
  open();
  await erased;
  await world.pass(streamTickMs);
  assert.equal([published.map(([rows]) => rows), forgotten()], [[[]], 0]);
  assert.is.not(published[0]![1]!.generation, generation);
  const again = world.asked.filter((one) => one.erasedOnly && one.generation !== generation);
  assert.is(again.length, 1, 'the erasure asks again, for the new reader');
});

test('walks that are asked for at the same time are one', async () => {
  const world = new World();
  const [one, other] = [world.feed.walk('g', 0, 3), world.feed.walk('g', 0, 3)];
  assert.is(one, other);
  assert.is(((await one) as ChangeWalk).players.subjects, 'behind 3');
  assert.is.not(world.feed.walk('g', 0, 3), one);
});

test('walks of readers that have left take no time of the pool', async () => {
  const world = new World();
  const { promise, resolve: open } = deferred();
  world.gate = promise;
  const first = world.feed.walk('g', 0, 1);
  let isThere = true;
  const left = Array.from({ length: 100 }, (_, i) => world.feed.walk('g', 0, 2 + i, () => isThere));
  const shared = world.feed.walk('g', 0, 2, () => true);
  const last = world.feed.walk('g', 0, 200, () => true);
  isThere = false;
  open();
  await Promise.all([first, ...left]);
  for (const walk of [shared, last]) assert.ok((await walk) !== null);
  assert.is(world.walks, 3);
});

test('a walk that the pool fails is logged once for all who share it, and answers none of them', async () => {
  const world = new World();
  world.failsWalks = true;
  const walks = await Promise.all([world.feed.walk('g', 0, 3), world.feed.walk('g', 0, 3)]);
  assert.equal([walks, world.troubles.length], [[null, null], 1]);
});

test.run();

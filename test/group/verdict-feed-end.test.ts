/** A question to the replica that is answered after the feed ended, over a pool that answers when the test says so. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { VerdictFeed } from '../../src/group/feed/change-feed.js';
import type { FeedPiece } from '../../src/group/ports/pool.js';
import { limits } from '../../src/limits.js';
import { t0 } from '../support/given.js';
import { publishedPlayer } from '../support/published-players.js';

const settled = () => new Promise<void>((resolve) => setImmediate(resolve));

class Given {
  elapsed = 0;
  /** Tells that wait for their answer. */
  readonly answers: ((published: FeedPiece) => void)[] = [];
  readonly published: string[] = [];
  #due: (() => void) | null = null;
  #generations = 0;
  readonly feed = new VerdictFeed({
    pool: {
      publishChanges: () => new Promise((resolve) => this.answers.push(resolve)),
      walkChanges: async () => null,
      endFeed: async () => undefined,
    },
    clock: { now: () => t0 },
    timers: {
      elapsed: () => this.elapsed,
      soon: (act) => void setImmediate(act),
      later: (act) => {
        this.#due = act;
        return () => {
          this.#due = null;
        };
      },
    },
    random: { bytes: (count) => new Uint8Array(count).fill(++this.#generations), uuid: () => '' },
    storedSeq: () => 1,
    intervalMs: () => 0,
    onFailure: (what, error) => {
      throw new Error(what, { cause: error });
    },
  });

  listen(name: string): () => void {
    return this.feed.listen({
      publish: async (rows, mark) =>
        void this.published.push(`${name}: ${rows.map((row) => row.subject)} ${mark?.generation}`),
      forgotten: () => void this.published.push(`${name}: forgotten`),
    });
  }

  /** The timer that is planned goes off. */
  async tick(): Promise<void> {
    this.#due?.();
    await settled();
  }

  /** Answers that no player was erased. */
  async answerNoErasure(): Promise<void> {
    this.answers.shift()!({ position: 0, rows: [], upTo: null, more: true, moreErased: false, isFirst: true });
    await settled();
  }

  async answer(subject: string, isFirst: boolean): Promise<void> {
    const rows = [{ subject, player: publishedPlayer(subject) }];
    const upTo = { seq: 1, asOf: t0 };
    this.answers.shift()!({ position: 1, rows, upTo, more: false, moreErased: false, isFirst });
    await settled();
  }
}

test('the result of a request for an ended generation is sent to no reader', async () => {
  const given = new Given();
  const leave = given.listen('first');
  await given.tick();
  await given.answer('player', true);
  assert.equal(given.published, ['first: player 010101010101']);
  leave();
  given.elapsed += limits.streamLingerMs;
  // An erasure asks while nobody reads any more, and the feed ends before it is answered.
  const published = given.feed.publishErasures();
  await given.tick();
  given.listen('second');
  await given.answer('player', false);
  assert.is(given.feed.mark, null);
  assert.is(given.feed.rows, 0);
  await given.answerNoErasure();
  await published;
  await given.tick();
  await given.answer('player', false);
  assert.equal(given.published.slice(1), ['second: player 020202020202']);
});

test.run();

/**
 * One reader of the stream against a feed that does as it is told: what it does not read is bounded, and nothing old
 * comes back.
 */
import { Writable } from 'node:stream';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { GroupViews } from '../../../src/group/api.js';
import type { ChangeWalk, FeedPosition } from '../../../src/group/verdict-changes.js';
import { comment, helloFrame } from '../../../src/http/verdict-stream/frames.js';
import { StreamReader } from '../../../src/http/verdict-stream/stream-reader.js';
import { limits } from '../../../src/limits.js';
import { publishedPlayer, publishedPlayers } from '../../support/published-players.js';

const hello = helloFrame({
  version: 1,
  group_id: 'local',
  identity_mode: 'privacy-first',
  now: '2026-01-02T03:04:05.678Z',
  heartbeat_ms: 5_000,
  score_step: 1,
  confidence_step: 0.05,
});
const mark: FeedPosition = { seq: 7, asOf: 0, generation: '0123456789ab', position: 3 };

/** Takes what is written once `read` is called; before that nothing drains. */
class Pipe extends Writable {
  text = '';
  #waiting: (() => void)[] = [];
  reading: boolean;

  constructor(reading: boolean) {
    super({ highWaterMark: 1 });
    this.reading = reading;
  }

  override _write(chunk: Buffer, _encoding: string, done: () => void): void {
    const take = () => {
      this.text += chunk.toString();
      done();
    };
    if (this.reading) take();
    else this.#waiting.push(take);
  }

  read(): void {
    this.reading = true;
    for (const take of this.#waiting.splice(0)) take();
  }
}

interface Setting {
  readonly feed?: Partial<GroupViews['verdicts']>;
  readonly reading?: boolean;
  readonly turn?: () => Promise<void>;
}

function readerOf({ feed = {}, reading = true, turn = () => Promise.resolve() }: Setting) {
  const pipe = new Pipe(reading);
  const ends: (string | null)[] = [];
  const rows: number[] = [];
  const whole = { mark, erasedAt: 0, listen: () => () => undefined, recent: () => [], walk: async () => null, ...feed };
  const parts = {
    feed: whole,
    peer: null,
    marksOf: () => ({ disputed: false, erasureRefused: undefined }),
    turn,
    onEnd: (_: StreamReader, reason: string | null) => void ends.push(reason),
    onRows: (count: number) => void rows.push(count),
  };
  return { pipe, ends, rows, feed: whole, reader: new StreamReader(pipe, parts) };
}

/** A reader that has started with the id of its last frame. */
async function started(lastEventId: string, setting: Setting = {}) {
  const one = readerOf(setting);
  await one.reader.start(hello, lastEventId);
  return { ...one, seen: () => events(one.pipe.text) };
}

const events = (text: string): string[] => [...text.matchAll(/^event: (\w+)$/gm)].map((found) => found[1]!);
/** A feed that remembers no changes before its mark. */
const forgetful = (since: number) => (since >= mark.position ? [] : null);
const pieceOf = (subjects: readonly string[], next: number | null = null): ChangeWalk => ({
  position: 3,
  players: publishedPlayers(...subjects),
  next,
});
const aTurn = () => new Promise<void>((resolve) => setImmediate(resolve));
const resumeAt = (position: number): string => `7-${mark.generation}.${position}`;

test('a reader that does not read is asked to resume, and disconnected', async () => {
  const { pipe, ends, reader } = await started(resumeAt(3));
  pipe.reading = false;
  const change = Buffer.alloc(limits.streamFrameBytes, 'x');
  let { position } = mark;
  while (ends.length === 0) reader.send({ position: ++position, changeFor: () => change, rows: 1 });
  assert.equal(ends, ['slow_reader']);
  assert.ok(
    pipe.writableLength <= limits.streamUnreadBytes + 2 * change.length,
    `${pipe.writableLength} bytes are kept`,
  );
  const queued = pipe.writableLength;
  reader.send({ position: ++position, changeFor: () => change, rows: 1 });
  assert.is(pipe.writableLength, queued);
  // The timer that cuts it off keeps no process alive.
  const awake = setInterval(() => undefined, 1_000);
  await new Promise((resolve) => pipe.once('close', resolve));
  clearInterval(awake);
  assert.ok(pipe.destroyed);
});

test('a reader that comes before the first publication waits for it, and is then live', async () => {
  const { pipe, feed, reader } = readerOf({ feed: { mark: null } });
  const started = reader.start(hello, resumeAt(3));
  await aTurn();
  Object.assign(feed, { mark });
  reader.begin();
  await started;
  reader.send({ position: mark.position + 1, changeFor: () => Buffer.from('a change'), rows: 1 });
  assert.match(pipe.text, 'a change');
});

test('a reader that catches up asks for no more than it reads', async () => {
  let asked = 0;
  const walk = async () => pieceOf(['ab'], ++asked);
  const { pipe, ends, reader } = readerOf({ feed: { walk, recent: () => null }, reading: false });
  const started = reader.start(hello, '');
  for (let i = 0; i < 100; i++) await aTurn();
  assert.is(asked, 0);
  pipe.read();
  pipe.reading = false;
  for (let i = 0; i < 100; i++) await aTurn();
  assert.is(asked, 1);
  pipe.destroy();
  await started;
  assert.equal(ends, [null]);
});

test('a heartbeat never overtakes a change that is in flight', async () => {
  const { pipe, feed, reader, seen } = await started(resumeAt(3));
  Object.assign(feed, { mark: { ...mark, position: 4 } });
  const quiet = performance.now() + limits.streamHeartbeatMs;
  reader.beat(quiet);
  assert.not(pipe.text.includes(resumeAt(4)));
  assert.ok(pipe.text.endsWith(comment), 'a sign of life');
  reader.send({ position: 4, changeFor: () => Buffer.from('event: change\n\n'), rows: 1 });
  reader.beat(quiet + limits.streamHeartbeatMs);
  assert.equal(seen(), ['hello', 'heartbeat', 'change', 'heartbeat']);
  assert.ok(pipe.text.includes(resumeAt(4)));
});

test('a piece that was read before an erasure was sent is read again', async () => {
  const subjects = ['erased', 'kept'];
  const walk = async (): Promise<ChangeWalk> => {
    // It overtakes the first piece.
    if (subjects.length === 2) Object.assign(feed, { erasedAt: 4 });
    const position = subjects.length === 2 ? 3 : 4;
    return { ...pieceOf([subjects.shift()!]), position };
  };
  const { pipe, feed, reader } = readerOf({ feed: { recent: forgetful, walk } });
  await reader.start(hello, '');
  assert.not(pipe.text.includes('erased'));
  assert.equal(events(pipe.text), ['hello', 'snapshot', 'heartbeat']);
});

test('a reader gets erasures at once, and changes only after it has caught up', async () => {
  let answer: (walk: ChangeWalk) => void = () => undefined;
  const walk = () => new Promise<ChangeWalk>((resolve) => (answer = resolve));
  const { pipe, reader } = readerOf({ feed: { recent: forgetful, walk } });
  const started = reader.start(hello, '');
  await aTurn();
  const changeFor = () => Buffer.from('event: change\n\n');
  reader.send({ position: 3, changeFor, rows: 1 });
  reader.erasedMeanwhile(() => Buffer.from('event: gone\n\n'));
  answer(pieceOf([]));
  await started;
  // The reader receives the change late, but has been up to date since.
  reader.send({ position: 3, changeFor, rows: 1 });
  reader.send({ position: 4, changeFor, rows: 1 });
  reader.erasedMeanwhile(() => Buffer.from('event: gone\n\n'));
  assert.equal(events(pipe.text), ['hello', 'gone', 'snapshot', 'heartbeat', 'change']);
});

test('an id is resumed if it is of this generation and no erasure was sent since', async () => {
  for (const [id, erasedAt, expected] of [
    [resumeAt(2), 0, ['hello', 'change', 'heartbeat']],
    [resumeAt(2), 2, ['hello', 'change', 'heartbeat']],
    [resumeAt(2), 3, ['hello', 'reset', 'snapshot', 'heartbeat']],
    [resumeAt(4), 0, ['hello', 'reset', 'snapshot', 'heartbeat']],
    ['7-ba9876543210.2', 0, ['hello', 'reset', 'snapshot', 'heartbeat']],
    ['nonsense', 0, ['hello', 'reset', 'snapshot', 'heartbeat']],
  ] as const) {
    const recent = (since: number) => (since >= mark.position ? [] : [publishedPlayer('ab')]);
    const { seen } = await started(id, { feed: { erasedAt, recent, walk: async () => pieceOf(['ab']) } });
    assert.equal(seen(), expected, id);
  }
});

test('changes older than memory are walked in the pool, and only the last frame has the id', async () => {
  const pieces = [1, 2, null];
  const walk = async () => pieceOf(['ab'], pieces.shift() ?? null);
  const { pipe, seen } = await started(resumeAt(1), { feed: { recent: forgetful, walk } });
  assert.equal(seen(), ['hello', 'change', 'change', 'change', 'heartbeat']);
  assert.is([...pipe.text.matchAll(/^event: change\nid: (.*)$/gm)].length, 1);
});

test('a reader ends if the feed no longer has the changes that it needs', async () => {
  const { ends, seen } = await started('', { feed: { recent: () => null, walk: async () => null } });
  assert.equal(ends, ['rebuilt']);
  assert.equal(seen(), ['hello', 'resume']);
});

const shared: FeedPosition = { ...mark, logTag: 'aaaaaaaaaaaa', asOf: 1_000 };
const idElsewhere = (seq: number, tag = 'aaaaaaaaaaaa'): string =>
  `${seq}-fedcba987654.900.${tag}.${(500).toString(36)}`;

test('an id of another node of the same group is resumed by its record and time, without a reset', async () => {
  const asked: unknown[] = [];
  const walk = async (...args: unknown[]) => {
    asked.push(args.slice(0, 3));
    return pieceOf(['ab']);
  };
  const { pipe, seen } = await started(idElsewhere(5), { feed: { mark: shared, walk } });
  assert.equal(asked, [[mark.generation, 0, { seq: 5, asOf: 500 }]]);
  assert.equal(seen(), ['hello', 'change', 'heartbeat']);
  assert.ok(pipe.text.includes(`id: 7-${mark.generation}.3.aaaaaaaaaaaa.${(1_000).toString(36)}`));
});

test('a reader that got more from another node waits until this node has sent as much', async () => {
  const seqs: number[] = [];
  const walk = async (): Promise<ChangeWalk> => {
    seqs.push(feed.mark!.seq);
    return pieceOf([]);
  };
  const { feed, reader } = readerOf({ feed: { mark: { ...shared, seq: 4 }, walk } });
  const started = reader.start(hello, idElsewhere(6));
  await aTurn();
  assert.equal(seqs, []);
  Object.assign(feed, { mark: { ...shared, seq: 6 } });
  await started;
  assert.equal(seqs, [6]);
});

test('an id of another group is unknown, and one from before an erasure too old', async () => {
  const walk = async (_generation: string, _from: number, since: unknown) =>
    since === 0 ? pieceOf(['ab']) : 'forgotten';
  const foreign = await started(idElsewhere(5, 'bbbbbbbbbbbb'), { feed: { mark: shared, walk } });
  assert.match(foreign.pipe.text, /event: reset\nid: \ndata: {"reason":"unknown_id"}/);
  const old = await started(idElsewhere(5), { feed: { mark: shared, walk } });
  assert.match(old.pipe.text, /event: reset\nid: \ndata: {"reason":"too_old"}/);
  assert.equal(events(old.pipe.text), ['hello', 'reset', 'snapshot', 'heartbeat']);
});

test('an id of this node in a cluster is resumed by its position, as one without a cluster', async () => {
  let walks = 0;
  const walk = async () => {
    walks++;
    return null;
  };
  const { seen } = await started(`7-${mark.generation}.3.aaaaaaaaaaaa.${(500).toString(36)}`, {
    feed: { mark: shared, walk },
  });
  assert.equal(seen(), ['hello', 'heartbeat']);
  assert.is(walks, 0);
});

test('a feed that ends while a reader of another node waits ends its start, too', async () => {
  const { pipe, ends, feed, reader } = readerOf({ feed: { mark: { ...shared, seq: 4 } } });
  const started = reader.start(hello, idElsewhere(6));
  await aTurn();
  Object.assign(feed, { mark: null });
  reader.end('rebuilt');
  await started;
  assert.equal(ends, ['rebuilt']);
  assert.equal(events(pipe.text), ['hello', 'resume']);
});

test('a reader that leaves while it waits for its turn asks nothing more of the feed', async () => {
  const asked: string[] = [];
  const recent = () => {
    asked.push('recent');
    return [publishedPlayer('ab')];
  };
  const live = readerOf({ feed: { recent }, turn: async () => live.reader.end('draining') });
  await live.reader.start(hello, resumeAt(1));
  assert.equal([asked, live.rows], [[], []]);
  const walked = readerOf({
    feed: {
      recent: () => null,
      walk: async () => {
        asked.push('walk');
        walked.reader.end('draining');
        return pieceOf(['ab'], 1);
      },
    },
  });
  await walked.reader.start(hello, '');
  assert.equal([asked, walked.rows], [['walk'], []], 'the rows that were read are neither sent nor counted');
});

test('a piece without players is not sent, unless it is the last', async () => {
  const pieces = [pieceOf([], 1), pieceOf(['ab'], 2), pieceOf([])];
  const walk = async () => pieces.shift()!;
  const { rows, seen } = await started('', { feed: { recent: forgetful, walk } });
  assert.equal(seen(), ['hello', 'snapshot', 'snapshot', 'heartbeat']);
  assert.equal(rows, [1, 0, 0]);
});

test('a reader is asked to resume once, and gets no heartbeat soon after a frame or after its end', async () => {
  const { pipe, ends, reader } = readerOf({});
  const errors: unknown[] = [];
  pipe.on('error', (error) => errors.push(error));
  await reader.start(hello, resumeAt(3));
  reader.beat(performance.now());
  reader.end('draining');
  reader.end('rebuilt');
  reader.beat(performance.now() + limits.streamHeartbeatMs);
  await new Promise((resolve) => pipe.once('finish', resolve));
  assert.equal(events(pipe.text), ['hello', 'heartbeat', 'resume']);
  assert.equal([ends, errors], [['draining'], []]);
});

test('a connection that breaks ends its reader, and is no error of the node', async () => {
  const { pipe, ends, reader } = readerOf({});
  await reader.start(hello, resumeAt(3));
  pipe.destroy(new Error('connection reset'));
  await new Promise((resolve) => pipe.once('close', resolve));
  assert.equal(ends, [null]);
});

test.run();

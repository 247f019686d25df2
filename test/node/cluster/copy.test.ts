/** A node fetches log and snapshot, or what its log lacks. The others go on meanwhile, fail, or send damage. */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate as turnOfLoop } from 'node:timers/promises';
import { pino } from 'pino';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { type LinkCall, LinkError } from '../../../src/cluster/link-client.js';
import { LinkRefusedError } from '../../../src/cluster/link-server.js';
import { SNAPSHOT_VERSION, snapshotBlocks } from '../../../src/core/snapshot/snapshot.js';
import { stateDigest } from '../../../src/core/snapshot/state-digest.js';
import { writePiece } from '../../../src/group/backup/copy-store.js';
import type { Timers } from '../../../src/group/ports/clock.js';
import { type LogPieceQuery, PoolBusyError } from '../../../src/group/ports/pool.js';
import type { NodeView } from '../../../src/group/ports/shared-log.js';
import type { StoredBatch } from '../../../src/group/ports/storage.js';
import { batchFrom, lastSeqOf, recover } from '../../../src/group/recovery/recovery.js';
import { limits } from '../../../src/limits.js';
import { CopyDonor } from '../../../src/node/cluster/copy-donor.js';
import { fetchCopy, fetchMissing, isIncomplete } from '../../../src/node/cluster/copy-fetch.js';
import { readExpectedHead, readMark, writeMark } from '../../../src/store/files/folder-files.js';
import { openLogReader } from '../../../src/store/log/lmdb-log.js';
import { acquireFolder, ownFolder } from '../../../src/store/ownership/owner.js';
import { LmdbSnapshotStore, snapshotFileOf } from '../../../src/store/snapshots/lmdb-snapshots.js';
import { inPieces, Life } from '../../group/life.js';
import { withBounds } from '../../sim/profile.js';
import { rejection } from '../../store/log-contract.js';
import { closing } from '../../support/closing.js';
import { deferred } from '../../support/deferred.js';
import { salt, subjectOf } from '../../support/given.js';
import { temporaryFolder } from '../../support/process.js';
import { until } from '../../support/until.js';
import { verifyStore } from '../../support/verify-store.js';
import { VirtualTime } from '../../support/virtual-time.js';

const mark = { cluster_id: 'the group', node_id: 'joining' };
/** Every wait ends at once. */
const timers: Pick<Timers, 'elapsed' | 'later'> = {
  elapsed: () => 0,
  later: (act) => {
    const turn = setImmediate(act);
    return () => clearImmediate(turn);
  },
};

/** A node that sends its log in pieces of four batches. `before` may change what it answers to a path. */
class Node {
  readonly dir = temporaryFolder();
  readonly asked: string[] = [];
  before: (path: string) => unknown = () => undefined;
  /** Number of records that its files do not have yet. */
  lag = 0;
  readonly #donor: CopyDonor;

  constructor({ machine }: Life) {
    const memory = Buffer.alloc(limits.copyPieceBytes);
    const pool = {
      logPiece: async ({ firstSeq, limit }: LogPieceQuery) => {
        const length = writePiece(inPieces(machine.log, 4), firstSeq, limit, memory);
        return memory.subarray(0, length as number);
      },
    };
    this.#donor = new CopyDonor({
      dir: this.dir,
      timers,
      site: () => ({ pool, durableSeq: machine.actor.durableSeq - this.lag }),
    });
  }

  /** Fails after so many pieces of its log. */
  goneAfter(pieces: number): void {
    let sent = 0;
    this.before = (path) => {
      if (path.startsWith('/copy-log') && ++sent > pieces) throw new Error('the node is gone');
    };
  }

  async answer(path: string): Promise<Buffer> {
    this.asked.push(path);
    const changed = await this.before(path);
    if (changed !== undefined) return changed as Buffer;
    const { pathname, searchParams } = new URL(path, 'http://node');
    const number = (name: string) => Number(searchParams.get(name));
    if (pathname === '/copy') return Buffer.from(JSON.stringify(this.#donor.offer()));
    const { promise: sent, resolve: end } = deferred();
    const piece =
      pathname === '/copy-log'
        ? this.#donor.logPiece(number('from'), number('batches'), sent)
        : this.#donor.snapshotPiece(number('seq'), number('from'), sent);
    try {
      const borrowed = await piece;
      // A socket reads the bytes later.
      await new Promise((turn) => setImmediate(turn));
      return Buffer.from(borrowed);
    } finally {
      end();
    }
  }
}

async function snapshotOf({ machine: { actor, log } }: Life, dir: string): Promise<void> {
  const { state } = actor;
  const { chain } = batchFrom(log.last()!);
  const digest = stateDigest(state);
  const header = { version: SNAPSHOT_VERSION, seq: state.lastSeq, chain: Buffer.from(chain).toString('hex'), digest };
  await new LmdbSnapshotStore(dir).write({ ...header, epoch: 1 }, snapshotBlocks(state));
}

/** Fetches a copy, or what the log of the folder lacks, from the nodes; the first one leads. */
function fetchInto(
  dir: string,
  nodes: readonly Node[],
  { lines = [] as string[], ending = new AbortController(), fetch = fetchCopy, over = timers } = {},
) {
  const bytes = async ({ url, path }: LinkCall): Promise<Buffer> => {
    try {
      return await nodes[Number(url)]!.answer(path);
    } catch (error) {
      throw new LinkError(String(error), false);
    }
  };
  const link = { bytes, call: async <T>(call: LinkCall) => JSON.parse((await bytes(call)).toString()) as T };
  const views = nodes.map((_, i) => ({ url: String(i), role: i === 0 ? 'leader' : 'follower' }) as NodeView);
  const log = pino({}, { write: (line: string) => void lines.push(line) });
  return fetch({ dir, mark, trimmed: 5, link, nodes: async () => views, log, timers: over, signal: ending.signal });
}

/** Fetches a copy of a life and checks it. Returns its folder, and the lines that were logged. */
async function copyOf(life: Life, nodes: readonly Node[], dir = temporaryFolder(), fetch = fetchCopy) {
  const lines: string[] = [];
  await fetchInto(dir, nodes, { lines, fetch });
  await assertCopy(dir, life);
  return { dir, lines };
}

/** Fetches what the folder lacks of a life, and checks it. Returns the lines that were logged. */
const continueIn = async (dir: string, life: Life, nodes: readonly Node[]) =>
  (await copyOf(life, nodes, dir, fetchMissing)).lines;

const nodesOf = (life: Life): [Node, Node, Node] => [new Node(life), new Node(life), new Node(life)];
const snapshotsIn = ({ dir }: { readonly dir: string }) => new LmdbSnapshotStore(dir).list();

/** Asserts that the log holds one player and no byte of an erased one. */
function assertErasedIn(dir: string): void {
  const bytes = readFileSync(join(dir, 'log', 'data.mdb'));
  assert.equal([bytes.includes(subjectOf('player 1')), bytes.includes(subjectOf('player 0'))], [false, true]);
}

/** Aborts as soon as the node is asked for a path that `holds`. */
function abortedAt(node: Node, holds: (path: string) => boolean): AbortController {
  const ending = new AbortController();
  node.before = (path) => {
    if (!holds(path)) return;
    ending.abort();
    throw new Error('the call was aborted');
  };
  return ending;
}

const typesIn = (stored: StoredBatch) => [...batchFrom(stored)].map(({ type }) => type);

const logPiecesOf = ({ asked }: Node) => asked.filter((path) => path.startsWith('/copy-log'));

/** Asserts that the folder holds an intact copy, with the state of the life. */
async function assertCopy(dir: string, { machine }: Life): Promise<void> {
  assert.not.ok(isIncomplete(dir));
  assert.not.ok(readdirSync(dir).includes('.tmp-joining'));
  assert.is(readMark(dir)?.node_id, 'joining');
  await using log = closing(openLogReader(dir));
  const snapshots = new LmdbSnapshotStore(dir);
  const report = verifyStore(log, snapshots, readExpectedHead(dir)!, 'full');
  assert.equal(report.faults, []);
  const { state } = recover(log, snapshots, salt, lastSeqOf(log))!.follower;
  assert.is(stateDigest(state), stateDigest(machine.actor.state));
}

test('a copy has the log and the newest snapshot of a follower, and replaces what the folder held', async () => {
  const life = await Life.reporting(10);
  const [leader, follower] = nodesOf(life);
  await snapshotOf(life, follower.dir);
  await life.report(10, 30);
  const dir = temporaryFolder();
  await (await acquireFolder(dir)).close();
  writeFileSync(join(dir, 'dashboard-password'), 'its own');
  const { lines } = await copyOf(life, [leader, follower], dir);
  assert.match(lines.join(''), 'this node fetched a copy');
  assert.equal([leader.asked, snapshotsIn({ dir })], [[], snapshotsIn(follower)]);
  assert.is(readFileSync(join(dir, 'dashboard-password'), 'utf8'), 'its own');
  // The next owner of the folder can write.
  const owned = await ownFolder(dir);
  await (await owned.openLog()).close();
});

test('what is written and erased during a copy is in it, and the erased bytes are not', async () => {
  const life = await Life.reporting(40);
  const node = new Node(life);
  await snapshotOf(life, node.dir);
  let isErased = false;
  node.before = async (path) => {
    if (isErased || !path.startsWith('/copy-log?from=1')) return;
    isErased = true;
    await node.answer('/copy-log?from=10&batches=9');
    setImmediate(async () => {
      await life.act({ type: 'erase', player: 'player 1' });
      await life.report(42, 45);
    });
  };
  const { dir } = await copyOf(life, [node]);
  assert.equal(snapshotsIn({ dir }), [], 'the snapshot is older than the erasure');
  assertErasedIn(dir);
});

test('another node sends the next piece if one fails, and no piece is fetched twice', async () => {
  const life = await Life.reporting(40);
  const [leader, one] = nodesOf(life);
  one.goneAfter(3);
  const { lines } = await copyOf(life, [leader, one]);
  assert.is(logPiecesOf(one).length, 4);
  assert.equal(logPiecesOf(leader)[0], logPiecesOf(one)[3]);
  assert.match(lines[0]!, 'the node is gone');
});

test('another node sends a piece that arrived damaged', async () => {
  const life = await Life.reporting(20);
  const [leader, one] = nodesOf(life);
  one.before = async (path) => {
    if (!path.startsWith('/copy-log?from=5')) return;
    const memory = Buffer.alloc(1e6);
    const piece = memory.subarray(0, writePiece(life.machine.log, 5, 4, memory) as number);
    piece[piece.length - 1]! ^= 1;
    return piece;
  };
  const { lines } = await copyOf(life, [leader, one]);
  assert.match(lines[0]!, 'checksum differs');
  assert.not.ok(logPiecesOf(leader)[0]!.startsWith('/copy-log?from=1&'));
});

test('a piece of another history begins the copy anew, from another node', async () => {
  const life = await Life.reporting(20);
  const other = await Life.begin();
  await other.report(100, 140);
  const [one, leader] = [new Node(other), new Node(life)];
  let pieces = 0;
  one.before = async (path) => (path.startsWith('/copy-log') && ++pieces <= 2 ? leader.answer(path) : undefined);
  const { lines } = await copyOf(life, [leader, one]);
  assert.match(lines[0]!, 'does not follow the batch before it');
});

test('two calls that fail at once count as one failure of their node', async () => {
  const life = await Life.reporting(40);
  const [leader, one, two] = nodesOf(life);
  let isErased = false;
  let fail = (_error: Error) => {};
  const failing = new Promise((_resolve, reject) => {
    fail = reject;
  });
  failing.catch(() => undefined);
  one.before = async (path) => {
    const from = Number(new URL(path, 'http://node').searchParams.get('from'));
    if (!isErased && from > 10) {
      isErased = true;
      await life.act({ type: 'erase', player: 'player 1' });
    }
    // A batch is read again while the piece ahead, at the end of the log, is on its way.
    if (path.endsWith('batches=1')) fail(new Error('the node is gone'));
    if (path.endsWith('batches=1') || from > life.machine.actor.durableSeq) await failing;
  };
  const { lines } = await copyOf(life, [leader, one, two]);
  assert.is(lines.filter((line) => line.includes('the node is gone')).length, 2);
  assert.equal(logPiecesOf(leader), []);
});

test('a node that lacks records, or is starting, is not asked for its log', async () => {
  const life = await Life.reporting(40);
  const [leader, starting, late] = nodesOf(life);
  starting.before = () => {
    throw new LinkRefusedError('the node is starting');
  };
  late.lag = life.machine.actor.durableSeq - 4;
  const { lines } = await copyOf(life, [leader, starting, late]);
  assert.match(lines.join(''), 'its log ends at record 4, before record 5');
  assert.equal(logPiecesOf(late), []);
});

test('a node that has less than the copy already has does not continue it', async () => {
  const life = await Life.reporting(40);
  const [leader, one, late] = nodesOf(life);
  one.goneAfter(3);
  late.lag = 5;
  await copyOf(life, [leader, one, late]);
  assert.equal([logPiecesOf(late), logPiecesOf(leader).length > 0], [[], true]);
});

test('a snapshot is fetched from the next node if its node removes it meanwhile', async () => {
  const life = await Life.reporting(20);
  const [leader, one, two] = nodesOf(life);
  for (const node of [one, two]) await snapshotOf(life, node.dir);
  one.before = (path) => {
    if (path.startsWith('/copy-snapshot')) throw new LinkRefusedError('there is no such snapshot any more');
  };
  const copy = await copyOf(life, [leader, one, two]);
  assert.ok(two.asked.some((path) => path.startsWith('/copy-snapshot')));
  assert.equal(snapshotsIn(copy), snapshotsIn(two));
});

test('a damaged snapshot is not taken, and the copy is complete without one', async () => {
  const life = await Life.reporting(20);
  const nodes = [new Node(life), new Node(life)];
  for (const { dir } of nodes) {
    await snapshotOf(life, dir);
    const file = snapshotFileOf(dir, life.machine.actor.durableSeq);
    const bytes = readFileSync(file);
    // LMDB may hold earlier versions of the page, too.
    for (let at = bytes.indexOf('"lastSeq"'); at !== -1; at = bytes.indexOf('"lastSeq"', at)) bytes[at + 1]! ^= 1;
    writeFileSync(file, bytes);
  }
  const { dir, lines } = await copyOf(life, nodes);
  assert.match(lines[0]!, 'the snapshot is damaged');
  assert.equal([lines.length, snapshotsIn({ dir })], [limits.copySnapshotTries + 1, []]);
});

test('a node with a log of its own fetches what was written, erased and withdrawn meanwhile', async () => {
  const life = await Life.reporting(40);
  const node = new Node(life);
  await snapshotOf(life, node.dir);
  const { dir } = await copyOf(life, [node]);
  assert.is(snapshotsIn({ dir }).length, 1);
  const { durableSeq } = life.machine.actor;
  await life.report(42, 45);
  await life.act({ type: 'withdraw', id: 'id-8' });
  await life.act({ type: 'erase', player: 'player 1' });
  await life.report(46, 49);
  node.asked.length = 0;
  const lines = await continueIn(dir, life, [node]);
  assert.match(lines[0]!, 'this node fetched what its log lacked');
  assert.ok(logPiecesOf(node)[0]!.startsWith(`/copy-log?from=${durableSeq + 1}&`));
  assert.ok(
    logPiecesOf(node).some((path) => path.endsWith('&batches=1')),
    'nothing was read again',
  );
  // Neither its snapshot nor its log brings the player back.
  assert.equal(snapshotsIn({ dir }), []);
  assertErasedIn(dir);
});

test('a node keeps its snapshot if nothing was erased, and fetches one that is newer than an erasure', async () => {
  const life = await Life.reporting(20);
  const node = new Node(life);
  await snapshotOf(life, node.dir);
  const { dir } = await copyOf(life, [node]);
  const before = snapshotsIn({ dir });
  await life.report(20, 24);
  await continueIn(dir, life, [node]);
  assert.equal(snapshotsIn({ dir }), before);
  await life.act({ type: 'erase', player: 'player 1' });
  await snapshotOf(life, node.dir);
  await continueIn(dir, life, [node]);
  assert.equal(snapshotsIn({ dir }), [life.machine.actor.durableSeq]);
});

test('a snapshot goes if an erasure that its log already has left the log since', async () => {
  const life = await Life.reporting(40);
  const { log } = life.machine;
  const dir = temporaryFolder();
  await snapshotOf(life, dir);
  const before = log.from(1, 1_000, 1e9);
  await life.act({ type: 'erase', player: 'player 1' });
  const erased = log.from(1, 1_000, 1e9).find((stored) => typesIn(stored).includes('subject_erased'))!;
  assert.ok(batchFrom(erased).lastSeq < life.machine.actor.durableSeq);
  const writer = await acquireFolder(dir);
  await writer.appendAll([...before.filter(({ firstSeq }) => firstSeq < erased.firstSeq), erased]);
  await writer.close();
  assert.is(snapshotsIn({ dir }).length, 1);
  await writeMark(dir, mark);
  await continueIn(dir, life, [new Node(life)]);
  assert.equal(snapshotsIn({ dir }), []);
});

test('a node with another history gets a whole copy', async () => {
  const other = await Life.reporting(12);
  await other.act({ type: 'erase', player: 'player 1' });
  const { dir } = await copyOf(other, [new Node(other)]);
  const life = await Life.reporting(40);
  const lines = await continueIn(dir, life, [new Node(life)]);
  assert.match(lines[0]!, /does not follow .* so a whole copy is fetched/);
});

test('a full disk is waited for, and costs nothing before the first change', async () => {
  const life = await Life.reporting(20);
  const node = new Node(life);
  await snapshotOf(life, node.dir);
  const { dir } = await copyOf(life, [node]);
  const before = snapshotsIn({ dir });
  await life.report(20, 24);
  const lines: string[] = [];
  let continued: Promise<void> | undefined;
  await withBounds({ commitFreeBytes: Number.MAX_SAFE_INTEGER }, async () => {
    continued = fetchInto(dir, [node], { lines, fetch: fetchMissing });
    await until(() => lines.length > 0);
  });
  await continued;
  assert.match(lines[0]!, 'is full');
  assert.match(lines.at(-1)!, 'this node fetched what its log lacked');
  assert.equal(snapshotsIn({ dir }), before);
  await assertCopy(dir, life);
});

test('an interruption before the first change costs nothing, a later one a whole copy', async () => {
  const life = await Life.reporting(40);
  const node = new Node(life);
  const { dir } = await copyOf(life, [node]);
  await life.report(40, 60);
  for (const [pieces, isAfter] of [
    [1, false],
    [3, true],
  ] as const) {
    let seen = 0;
    const ending = abortedAt(node, (path) => path.startsWith('/copy-log') && ++seen >= pieces);
    const error = await rejection(fetchInto(dir, [node], { ending, fetch: fetchMissing }));
    assert.equal([(error as Error).name, isIncomplete(dir)], ['AbortError', isAfter], `${pieces} pieces`);
  }
});

test('an aborted copy leaves the folder as it was', async () => {
  const node = new Node(await Life.reporting(20));
  const ending = abortedAt(node, (path) => path.startsWith('/copy-log?from=5'));
  const dir = temporaryFolder();
  await (await acquireFolder(dir)).close();
  const before = readdirSync(dir).sort();
  const error = await rejection(fetchInto(dir, [node], { ending }));
  assert.is((error as Error).name, 'AbortError');
  assert.equal([readdirSync(dir).sort(), isIncomplete(dir)], [before, false]);
});

test('a copy replaces what an interrupted replacement left', async () => {
  const life = await Life.reporting(20);
  const dir = temporaryFolder();
  for (const name of ['log', 'snapshot-0000000000000007', '.old-snapshot-0000000000000003', '.tmp-joining']) {
    mkdirSync(join(dir, name));
    writeFileSync(join(dir, name, 'data.mdb'), 'a part');
  }
  writeFileSync(join(dir, '.joining'), '');
  assert.ok(isIncomplete(dir));
  await copyOf(life, [new Node(life)], dir);
  assert.equal(snapshotsIn({ dir }), []);
});

test('a node refuses to send while it starts, while its reader is busy, and a snapshot that it removed', async () => {
  const donorOf = (site: ConstructorParameters<typeof CopyDonor>[0]['site']) =>
    new CopyDonor({ dir: temporaryFolder(), timers, site });
  const refuses = async (piece: Promise<unknown>) => (await rejection(piece)) instanceof LinkRefusedError;
  const sent = Promise.resolve();
  const starting = donorOf(() => null);
  assert.throws(
    () => starting.offer(),
    (error: unknown) => error instanceof LinkRefusedError,
  );
  assert.ok(await refuses(starting.logPiece(1, 10, sent)));
  const logPiece = () => Promise.reject(new PoolBusyError('too many reads of the log are waiting'));
  const donor = donorOf(() => ({ durableSeq: 9, pool: { logPiece } }));
  assert.equal(donor.offer(), { last_seq: 9, snapshots: [] });
  assert.ok(await refuses(donor.logPiece(1, 10, sent)));
  assert.ok(await refuses(donor.snapshotPiece(7, 0, sent)));
});

test('the next piece waits until the one before is sent, and pieces keep to the rate', async () => {
  const made: number[] = [];
  const logPiece = async ({ firstSeq }: LogPieceQuery) => {
    made.push(firstSeq);
    return new Uint8Array(limits.copyPieceBytes);
  };
  const time = new VirtualTime();
  const site = () => ({ durableSeq: 9, pool: { logPiece } });
  const donor = new CopyDonor({ dir: temporaryFolder(), timers: time, site });
  const { promise: waiting, resolve: sent } = deferred();
  await donor.logPiece(1, 10, waiting);
  const next = donor.logPiece(2, 10, Promise.resolve());
  await turnOfLoop();
  assert.equal(made, [1]);
  sent();
  await time.wait(next);
  await time.wait(donor.logPiece(3, 10, Promise.resolve()));
  assert.equal(made, [1, 2, 3]);
  const pieceMs = (limits.copyPieceBytes / limits.copyBytesPerS) * 1000;
  assert.is(time.elapsed(), 2 * pieceMs);
});

test('a whole copy that the disk cannot hold is tried again after a pause, which an abort ends', async () => {
  await withBounds({ commitFreeBytes: Number.MAX_SAFE_INTEGER }, async () => {
    const [lines, ending, time] = [[] as string[], new AbortController(), new VirtualTime()];
    const nodes = [new Node(await Life.reporting(1))];
    const copied = rejection(fetchInto(temporaryFolder(), nodes, { lines, ending, over: time }));
    await until(() => lines.length === 1);
    assert.ok(await time.step());
    assert.is(time.elapsed(), limits.joinRetryMs);
    await until(() => lines.length === 2);
    ending.abort();
    assert.is(((await copied) as Error).name, 'AbortError');
    assert.not(await time.step(), 'no timer is left');
  });
});

test.run();

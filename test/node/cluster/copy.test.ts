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

/** Fetches a copy from the nodes; the first one leads. */
function fetchInto(
  dir: string,
  nodes: readonly Node[],
  warnings: string[] = [],
  ending = new AbortController(),
  fetch = fetchCopy,
  over = timers,
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
  const log = pino({}, { write: (line: string) => void warnings.push(line) });
  return fetch({ dir, mark, trimmed: 5, link, nodes: async () => views, log, timers: over, signal: ending.signal });
}

/** Fetches what the folder lacks. Returns the lines that were logged. */
async function continueIn(dir: string, nodes: readonly Node[]): Promise<readonly string[]> {
  const lines: string[] = [];
  await fetchInto(dir, nodes, lines, undefined, fetchMissing);
  return lines;
}

const typesIn = (stored: StoredBatch) => [...batchFrom(stored)].map(({ type }) => type);

const logPiecesOf = ({ asked }: Node) => asked.filter((path) => path.startsWith('/copy-log'));

/** Asserts that the folder holds an intact copy, and returns the digest of its state. */
async function digestOf(dir: string): Promise<string> {
  assert.not.ok(isIncomplete(dir));
  assert.not.ok(readdirSync(dir).includes('.tmp-joining'));
  assert.is(readMark(dir)?.node_id, 'joining');
  await using log = closing(openLogReader(dir));
  const snapshots = new LmdbSnapshotStore(dir);
  const report = verifyStore(log, snapshots, readExpectedHead(dir)!, 'full');
  assert.equal(report.faults, []);
  return stateDigest(recover(log, snapshots, salt, lastSeqOf(log))!.follower.state);
}

test('a copy has the log and the newest snapshot of a follower, and replaces what the folder held', async () => {
  const life = await Life.reporting(10);
  const leader = new Node(life);
  const follower = new Node(life);
  await snapshotOf(life, follower.dir);
  await life.report(10, 30);
  const dir = temporaryFolder();
  await (await acquireFolder(dir)).close();
  writeFileSync(join(dir, 'dashboard-password'), 'its own');
  await fetchInto(dir, [leader, follower]);
  assert.is(await digestOf(dir), stateDigest(life.machine.actor.state));
  assert.equal(leader.asked, []);
  assert.equal(new LmdbSnapshotStore(dir).list(), new LmdbSnapshotStore(follower.dir).list());
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
  const dir = temporaryFolder();
  await fetchInto(dir, [node]);
  assert.is(await digestOf(dir), stateDigest(life.machine.actor.state));
  // The snapshot is older than the erasure.
  assert.equal(new LmdbSnapshotStore(dir).list(), []);
  const bytes = readFileSync(join(dir, 'log', 'data.mdb'));
  assert.not.ok(bytes.includes(subjectOf('player 1')));
  assert.ok(bytes.includes(subjectOf('player 0')));
});

test('what is written after the last piece was sent is in the copy', async () => {
  const life = await Life.reporting(8);
  const node = new Node(life);
  let offers = 0;
  node.before = async (path) => {
    if (path === '/copy' && ++offers === 2) await life.report(8, 20);
  };
  const dir = temporaryFolder();
  const lines: string[] = [];
  await fetchInto(dir, [node], lines);
  assert.is(lines.length, 1);
  assert.match(lines[0]!, 'this node fetched a copy');
  assert.is(await digestOf(dir), stateDigest(life.machine.actor.state));
});

test('another node sends the next piece if one fails, and no piece is fetched twice', async () => {
  const life = await Life.reporting(40);
  const [one, two] = [new Node(life), new Node(life)];
  one.goneAfter(3);
  const dir = temporaryFolder();
  const warnings: string[] = [];
  await fetchInto(dir, [two, one], warnings);
  assert.is(await digestOf(dir), stateDigest(life.machine.actor.state));
  assert.is(logPiecesOf(one).length, 4);
  assert.equal(logPiecesOf(two)[0], logPiecesOf(one)[3]);
  assert.match(warnings[0]!, 'the node is gone');
});

test('another node sends a piece that arrived damaged', async () => {
  const life = await Life.reporting(20);
  const [one, two] = [new Node(life), new Node(life)];
  one.before = async (path) => {
    if (!path.startsWith('/copy-log?from=5')) return;
    const memory = Buffer.alloc(1e6);
    const piece = memory.subarray(0, writePiece(life.machine.log, 5, 4, memory) as number);
    piece[piece.length - 1]! ^= 1;
    return piece;
  };
  const warnings: string[] = [];
  const dir = temporaryFolder();
  await fetchInto(dir, [two, one], warnings);
  assert.match(warnings[0]!, 'checksum differs');
  assert.not.ok(logPiecesOf(two)[0]!.startsWith('/copy-log?from=1&'));
  assert.is(await digestOf(dir), stateDigest(life.machine.actor.state));
});

test('a piece of another history begins the copy anew, from another node', async () => {
  const life = await Life.reporting(20);
  const other = await Life.begin();
  await other.report(100, 140);
  const [one, two] = [new Node(other), new Node(life)];
  let pieces = 0;
  one.before = async (path) => (path.startsWith('/copy-log') && ++pieces <= 2 ? two.answer(path) : undefined);
  const warnings: string[] = [];
  const dir = temporaryFolder();
  await fetchInto(dir, [two, one], warnings);
  assert.match(warnings[0]!, 'does not follow the batch before it');
  assert.is(await digestOf(dir), stateDigest(life.machine.actor.state));
});

test('two calls that fail at once count as one failure of their node', async () => {
  const life = await Life.reporting(40);
  const [leader, one, two] = [new Node(life), new Node(life), new Node(life)];
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
  const dir = temporaryFolder();
  const warnings: string[] = [];
  await fetchInto(dir, [leader, one, two], warnings);
  assert.is(warnings.filter((line) => line.includes('the node is gone')).length, 2);
  assert.not.ok(leader.asked.some((path) => path.startsWith('/copy-log')));
  assert.is(await digestOf(dir), stateDigest(life.machine.actor.state));
});

test('a node that lacks records, or is starting, is not asked for its log', async () => {
  const life = await Life.reporting(40);
  const [leader, starting, late] = [new Node(life), new Node(life), new Node(life)];
  starting.before = () => {
    throw new LinkRefusedError('the node is starting');
  };
  late.lag = life.machine.actor.durableSeq - 4;
  const dir = temporaryFolder();
  const warnings: string[] = [];
  await fetchInto(dir, [leader, starting, late], warnings);
  assert.match(warnings.join(''), 'its log ends at record 4, before record 5');
  assert.not.ok(late.asked.some((path) => path.startsWith('/copy-log')));
  assert.is(await digestOf(dir), stateDigest(life.machine.actor.state));
});

test('a node that has less than the copy already has does not continue it', async () => {
  const life = await Life.reporting(40);
  const [leader, one, late] = [new Node(life), new Node(life), new Node(life)];
  one.goneAfter(3);
  late.lag = 5;
  const dir = temporaryFolder();
  const warnings: string[] = [];
  await fetchInto(dir, [leader, one, late], warnings);
  assert.not.ok(late.asked.some((path) => path.startsWith('/copy-log')));
  assert.ok(leader.asked.some((path) => path.startsWith('/copy-log')));
  assert.is(await digestOf(dir), stateDigest(life.machine.actor.state));
});

test('a snapshot is fetched from the next node if its node removes it meanwhile', async () => {
  const life = await Life.reporting(20);
  const [leader, one, two] = [new Node(life), new Node(life), new Node(life)];
  for (const node of [one, two]) await snapshotOf(life, node.dir);
  one.before = (path) => {
    if (path.startsWith('/copy-snapshot')) throw new LinkRefusedError('there is no such snapshot any more');
  };
  const dir = temporaryFolder();
  await fetchInto(dir, [leader, one, two]);
  assert.ok(two.asked.some((path) => path.startsWith('/copy-snapshot')));
  assert.equal(new LmdbSnapshotStore(dir).list(), new LmdbSnapshotStore(two.dir).list());
  assert.is(await digestOf(dir), stateDigest(life.machine.actor.state));
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
  const dir = temporaryFolder();
  const lines: string[] = [];
  await fetchInto(dir, nodes, lines);
  assert.match(lines[0]!, 'the snapshot is damaged');
  assert.is(lines.length, limits.copySnapshotTries + 1);
  assert.equal(new LmdbSnapshotStore(dir).list(), []);
  assert.is(await digestOf(dir), stateDigest(life.machine.actor.state));
});

test('a node with a log of its own fetches what was written, erased and withdrawn meanwhile', async () => {
  const life = await Life.reporting(40);
  const node = new Node(life);
  await snapshotOf(life, node.dir);
  const dir = temporaryFolder();
  await fetchInto(dir, [node]);
  assert.is(new LmdbSnapshotStore(dir).list().length, 1);
  const { durableSeq } = life.machine.actor;
  await life.report(42, 45);
  await life.act({ type: 'withdraw', id: 'id-8' });
  await life.act({ type: 'erase', player: 'player 1' });
  await life.report(46, 49);
  node.asked.length = 0;
  const lines = await continueIn(dir, [node]);
  assert.match(lines[0]!, 'this node fetched what its log lacked');
  assert.ok(logPiecesOf(node)[0]!.startsWith(`/copy-log?from=${durableSeq + 1}&`));
  assert.ok(
    logPiecesOf(node).some((path) => path.endsWith('&batches=1')),
    'nothing was read again',
  );
  assert.is(await digestOf(dir), stateDigest(life.machine.actor.state));
  // Neither its snapshot nor its log brings the player back.
  assert.equal(new LmdbSnapshotStore(dir).list(), []);
  const bytes = readFileSync(join(dir, 'log', 'data.mdb'));
  assert.not.ok(bytes.includes(subjectOf('player 1')));
  assert.ok(bytes.includes(subjectOf('player 0')));
});

test('a node keeps its snapshot if nothing was erased, and fetches one that is newer than an erasure', async () => {
  const life = await Life.reporting(20);
  const node = new Node(life);
  await snapshotOf(life, node.dir);
  const dir = temporaryFolder();
  await fetchInto(dir, [node]);
  const before = new LmdbSnapshotStore(dir).list();
  await life.report(20, 24);
  await continueIn(dir, [node]);
  assert.equal(new LmdbSnapshotStore(dir).list(), before);
  await life.act({ type: 'erase', player: 'player 1' });
  await snapshotOf(life, node.dir);
  await continueIn(dir, [node]);
  assert.equal(new LmdbSnapshotStore(dir).list(), [life.machine.actor.durableSeq]);
  assert.is(await digestOf(dir), stateDigest(life.machine.actor.state));
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
  assert.is(new LmdbSnapshotStore(dir).list().length, 1);
  await writeMark(dir, mark);
  await continueIn(dir, [new Node(life)]);
  assert.equal(new LmdbSnapshotStore(dir).list(), []);
  assert.is(await digestOf(dir), stateDigest(life.machine.actor.state));
});

test('a node with another history gets a whole copy', async () => {
  const other = await Life.reporting(12);
  await other.act({ type: 'erase', player: 'player 1' });
  const dir = temporaryFolder();
  await fetchInto(dir, [new Node(other)]);
  const life = await Life.reporting(40);
  const lines = await continueIn(dir, [new Node(life)]);
  assert.match(lines[0]!, /does not follow .* so a whole copy is fetched/);
  assert.is(await digestOf(dir), stateDigest(life.machine.actor.state));
});

test('a full disk is waited for, and costs nothing before the first change', async () => {
  const life = await Life.reporting(20);
  const node = new Node(life);
  await snapshotOf(life, node.dir);
  const dir = temporaryFolder();
  await fetchInto(dir, [node]);
  const before = new LmdbSnapshotStore(dir).list();
  await life.report(20, 24);
  const bound = limits as { commitFreeBytes: number };
  const { commitFreeBytes } = limits;
  bound.commitFreeBytes = Number.MAX_SAFE_INTEGER;
  const lines: string[] = [];
  const continued = fetchInto(dir, [node], lines, undefined, fetchMissing);
  await until(() => lines.length > 0);
  bound.commitFreeBytes = commitFreeBytes;
  await continued;
  assert.match(lines[0]!, 'is full');
  assert.match(lines.at(-1)!, 'this node fetched what its log lacked');
  assert.equal(new LmdbSnapshotStore(dir).list(), before);
  assert.is(await digestOf(dir), stateDigest(life.machine.actor.state));
});

test('an interruption before the first change costs nothing, a later one a whole copy', async () => {
  const life = await Life.reporting(40);
  const node = new Node(life);
  const dir = temporaryFolder();
  await fetchInto(dir, [node]);
  await life.report(40, 60);
  for (const [pieces, isAfter] of [
    [1, false],
    [3, true],
  ] as const) {
    const ending = new AbortController();
    let seen = 0;
    node.before = (path) => {
      if (!path.startsWith('/copy-log') || ++seen < pieces) return;
      ending.abort();
      throw new Error('the call was aborted');
    };
    const error = await rejection(fetchInto(dir, [node], [], ending, fetchMissing));
    assert.is((error as Error).name, 'AbortError');
    assert.is(isIncomplete(dir), isAfter);
  }
});

test('an aborted copy leaves the folder as it was', async () => {
  const life = await Life.reporting(20);
  const node = new Node(life);
  const ending = new AbortController();
  node.before = (path) => {
    if (!path.startsWith('/copy-log?from=5')) return;
    ending.abort();
    throw new Error('the call was aborted');
  };
  const dir = temporaryFolder();
  await (await acquireFolder(dir)).close();
  const before = readdirSync(dir).sort();
  const error = await fetchInto(dir, [node], [], ending).catch((reason: unknown) => reason);
  assert.is((error as Error).name, 'AbortError');
  assert.equal(readdirSync(dir).sort(), before);
  assert.not.ok(isIncomplete(dir));
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
  await fetchInto(dir, [new Node(life)]);
  assert.equal(new LmdbSnapshotStore(dir).list(), []);
  assert.is(await digestOf(dir), stateDigest(life.machine.actor.state));
});

test('a node that starts refuses to send anything', async () => {
  const donor = new CopyDonor({ dir: temporaryFolder(), timers, site: () => null });
  assert.throws(() => donor.offer(), isRefusal);
  assert.ok(isRefusal(await rejection(donor.logPiece(1, 10, Promise.resolve()))));
});

test('a node whose reader is busy, or that has removed a snapshot, refuses the piece', async () => {
  const busy = async () => {
    throw new PoolBusyError('too many reads of the log are waiting');
  };
  const site = () => ({ durableSeq: 9, pool: { logPiece: busy } });
  const donor = new CopyDonor({ dir: temporaryFolder(), timers, site });
  assert.equal(donor.offer(), { last_seq: 9, snapshots: [] });
  assert.ok(isRefusal(await rejection(donor.logPiece(1, 10, Promise.resolve()))));
  assert.ok(isRefusal(await rejection(donor.snapshotPiece(7, 0, Promise.resolve()))));
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

const isRefusal = (error: unknown) => error instanceof LinkRefusedError;

test('a whole copy that the disk cannot hold is tried again after a pause, which an abort ends', async () => {
  await withBounds({ commitFreeBytes: Number.MAX_SAFE_INTEGER }, async () => {
    const [lines, ending, time] = [[] as string[], new AbortController(), new VirtualTime()];
    const nodes = [new Node(await Life.reporting(1))];
    const copied = rejection(fetchInto(temporaryFolder(), nodes, lines, ending, fetchCopy, time));
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

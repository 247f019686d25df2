/** A node without data fetches log and snapshot from the others, which go on meanwhile, fail, or send damage. */
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pino } from 'pino';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { LinkError } from '../../../src/cluster/link-client.js';
import { LinkRefusedError } from '../../../src/cluster/link-server.js';
import { SNAPSHOT_VERSION, snapshotBlocks } from '../../../src/core/snapshot/snapshot.js';
import { stateDigest } from '../../../src/core/snapshot/state-digest.js';
import { writePiece } from '../../../src/group/backup/log-piece.js';
import type { NodeView } from '../../../src/group/ports/shared-log.js';
import { batchFrom, lastSeqOf, recover } from '../../../src/group/recovery/recovery.js';
import { limits } from '../../../src/limits.js';
import { CopyDonor } from '../../../src/node/cluster/copy-donor.js';
import { fetchCopy, isJoining } from '../../../src/node/cluster/copy-fetch.js';
import { readExpectedHead } from '../../../src/store/log/expected-head.js';
import { openLogReader } from '../../../src/store/log/lmdb-log.js';
import { claimFolder, ownFolder } from '../../../src/store/ownership/owner.js';
import { LmdbSnapshotStore } from '../../../src/store/snapshots/lmdb-snapshots.js';
import { inPieces, Life } from '../../group/life.js';
import { salt, subjectOf } from '../../support/given.js';
import { temporaryFolder } from '../../support/process.js';
import { verifyStore } from '../../support/verify-store.js';

const { joinRetryMs } = limits;
const folders: string[] = [];

test.before(() => {
  (limits as { joinRetryMs: number }).joinRetryMs = 1;
});

test.after(() => {
  (limits as { joinRetryMs: number }).joinRetryMs = joinRetryMs;
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});

function folder(): string {
  folders.push(temporaryFolder());
  return folders.at(-1)!;
}

async function lifeOf(events: number): Promise<Life> {
  const life = await Life.begin();
  await report(life, 0, events);
  return life;
}

async function report(life: Life, from: number, to: number): Promise<void> {
  for (let i = from; i < to; i++)
    await life.act({ type: 'event', peer: i % 3, id: `id-${i}`, player: `player ${i % 4}`, severity: 0.5 });
}

/** A node that sends its log in pieces of four batches. `before` may change what it answers to a path. */
class Node {
  readonly dir = folder();
  readonly asked: string[] = [];
  before: (path: string) => unknown = () => undefined;
  readonly #donor: CopyDonor;

  constructor({ machine }: Life) {
    const memory = Buffer.alloc(limits.copyPieceBytes);
    this.#donor = new CopyDonor({
      dir: this.dir,
      durableSeq: () => machine.actor.durableSeq,
      pool: () => ({
        logPiece: async ({ firstSeq, limit }) => {
          const length = writePiece(inPieces(machine.log, 4), firstSeq, limit, memory);
          return memory.subarray(0, length as number);
        },
      }),
    });
  }

  async answer(path: string): Promise<Buffer> {
    this.asked.push(path);
    const changed = await this.before(path);
    if (changed !== undefined) return changed as Buffer;
    const { pathname, searchParams } = new URL(path, 'http://node');
    const number = (name: string) => Number(searchParams.get(name));
    if (pathname === '/copy') return Buffer.from(JSON.stringify(this.#donor.offer()));
    let end = () => {};
    const sent = new Promise<void>((resolve) => {
      end = resolve;
    });
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
function fetchInto(dir: string, nodes: readonly Node[], warnings: string[] = [], ending = new AbortController()) {
  const link = {
    bytes: async ({ url, path }: { readonly url: string; readonly path: string }) => {
      try {
        return await nodes[Number(url)]!.answer(path);
      } catch (error) {
        throw new LinkError(String(error), false);
      }
    },
  };
  const views = nodes.map((_, i) => ({ url: String(i), role: i === 0 ? 'leader' : 'follower' }) as NodeView);
  const log = pino({}, { write: (line: string) => void warnings.push(line) });
  return fetchCopy({ dir, link, nodes: async () => views, log, signal: ending.signal });
}

/** Asserts that the folder holds an intact copy, and returns the digest of its state. */
async function digestOf(dir: string): Promise<string> {
  assert.not.ok(isJoining(dir));
  const log = openLogReader(dir);
  try {
    const snapshots = new LmdbSnapshotStore(dir);
    const report = verifyStore(log, snapshots, readExpectedHead(dir)!, 'full');
    assert.equal(report.faults, []);
    return stateDigest(recover(log, snapshots, salt, lastSeqOf(log))!.follower.state);
  } finally {
    await log.close();
  }
}

test('a copy has the log and the newest snapshot of a follower, and replaces what the folder held', async () => {
  const life = await lifeOf(10);
  const leader = new Node(life);
  const follower = new Node(life);
  await snapshotOf(life, follower.dir);
  await report(life, 10, 30);
  const dir = folder();
  await (await claimFolder(dir)).close();
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
  const life = await lifeOf(40);
  const node = new Node(life);
  await snapshotOf(life, node.dir);
  let isErased = false;
  node.before = async (path) => {
    if (isErased || !path.startsWith('/copy-log?from=1')) return;
    isErased = true;
    await node.answer('/copy-log?from=10&batches=9');
    setImmediate(async () => {
      await life.act({ type: 'erase', player: 'player 1' });
      await report(life, 42, 45);
    });
  };
  const dir = folder();
  await fetchInto(dir, [node]);
  assert.is(await digestOf(dir), stateDigest(life.machine.actor.state));
  // The snapshot is older than the erasure.
  assert.equal(new LmdbSnapshotStore(dir).list(), []);
  const bytes = readFileSync(join(dir, 'log', 'data.mdb'));
  assert.not.ok(bytes.includes(subjectOf('player 1')));
  assert.ok(bytes.includes(subjectOf('player 0')));
});

test('what is written after the last piece was sent is in the copy, up to the time at which it is asked for', async () => {
  const life = await lifeOf(8);
  const node = new Node(life);
  let offers = 0;
  node.before = async (path) => {
    if (path === '/copy' && ++offers === 2) await report(life, 8, 20);
  };
  const dir = folder();
  const lines: string[] = [];
  await fetchInto(dir, [node], lines);
  assert.is(lines.length, 1);
  assert.match(lines[0]!, 'this node fetched a copy');
  assert.is(await digestOf(dir), stateDigest(life.machine.actor.state));
});

test('another node sends the next piece if one fails, and no piece is fetched twice', async () => {
  const life = await lifeOf(40);
  const [one, two] = [new Node(life), new Node(life)];
  let pieces = 0;
  one.before = (path) => {
    if (path.startsWith('/copy-log') && ++pieces > 3) throw new Error('the node is gone');
  };
  const dir = folder();
  const warnings: string[] = [];
  await fetchInto(dir, [two, one], warnings);
  assert.is(await digestOf(dir), stateDigest(life.machine.actor.state));
  const logPieces = (node: Node) => node.asked.filter((path) => path.startsWith('/copy-log'));
  assert.is(logPieces(one).length, 4);
  assert.equal(logPieces(two)[0], logPieces(one)[3]);
  assert.match(warnings[0]!, 'the node is gone');
});

test('a damaged piece, or one of another history, begins the copy anew from another node', async () => {
  const life = await lifeOf(20);
  const [one, two] = [new Node(life), new Node(life)];
  one.before = async (path) => {
    if (!path.startsWith('/copy-log?from=5')) return;
    const memory = Buffer.alloc(1e6);
    const piece = memory.subarray(0, writePiece(life.machine.log, 5, 4, memory) as number);
    piece[piece.length - 1]! ^= 1;
    return piece;
  };
  const warnings: string[] = [];
  const dir = folder();
  await fetchInto(dir, [two, one], warnings);
  assert.match(warnings[0]!, 'checksum differs');
  assert.is(await digestOf(dir), stateDigest(life.machine.actor.state));
});

test('a copy is complete without a snapshot that its node removes meanwhile', async () => {
  const life = await lifeOf(20);
  const node = new Node(life);
  await snapshotOf(life, node.dir);
  node.before = (path) => {
    if (path.startsWith('/copy-snapshot')) throw new LinkRefusedError('there is no such snapshot any more');
  };
  const warnings: string[] = [];
  const dir = folder();
  await fetchInto(dir, [node], warnings);
  assert.match(warnings[0]!, 'the start will read the whole log');
  assert.equal(new LmdbSnapshotStore(dir).list(), []);
  assert.is(await digestOf(dir), stateDigest(life.machine.actor.state));
});

test('an aborted copy leaves the folder marked as incomplete', async () => {
  const life = await lifeOf(20);
  const node = new Node(life);
  const ending = new AbortController();
  node.before = (path) => {
    if (!path.startsWith('/copy-log?from=5')) return;
    ending.abort();
    throw new Error('the call was aborted');
  };
  const dir = folder();
  const error = await fetchInto(dir, [node], [], ending).catch((reason: unknown) => reason);
  assert.is((error as Error).name, 'AbortError');
  assert.ok(isJoining(dir));
  assert.not.ok(readdirSync(dir).includes('log'));
});

test('a node that starts, or has removed a snapshot, refuses to send it', async () => {
  const donor = new CopyDonor({ dir: folder(), durableSeq: () => 0, pool: () => null });
  assert.equal(donor.offer(), { last_seq: 0, snapshots: [] });
  const sent = Promise.resolve();
  for (const asked of [donor.logPiece(1, 10, sent), donor.snapshotPiece(7, 0, sent)]) {
    assert.instance(await asked.catch((reason: unknown) => reason), LinkRefusedError);
  }
});

test.run();

/**
 * Erasures on a real node, beside writes, withdrawals and snapshots: once one is answered, no file of the folder holds
 * the player's hash, the ids of its events or what they said, in any form that they had; and the log still verifies.
 */
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { PeerView } from '../../src/group/api.js';
import { verifyInChild } from '../../src/workers/verify/verify-runner.js';
import { ByteSearch } from '../support/byte-search.js';
import { subjectOf } from '../support/given.js';
import { filesOfLiving } from '../support/living-folder.js';
import { startTestNode, type TestNode } from '../support/node.js';
import type { Random } from '../support/random.js';
import { type Fault, inFastFolder, type Rounds } from './fault.js';
import { registerPeer, submissionOf, submit } from './group-calls.js';

const peersCount = 3;
const eventsMax = 12;
const othersPerRound = 10;
/** Erasures between two starts, each of which leaves a snapshot. */
const roundsPerLife = 25;
const verifyEvery = 10;
/**
 * Every id of an erased event begins and ends so, and no other does: where all are looked for at once, neither may be
 * there.
 */
const [idStart, idEnd] = ['erased-', '-erased'];

/**
 * Files that hold one of `marks`, and which. The table of readers holds none, and must not be opened here: POSIX drops
 * a process's locks on a file as soon as that process closes any descriptor of it.
 */
function filesWith(dir: string, marks: readonly Buffer[]): string[] {
  const search = new ByteSearch(marks.map((mark) => [nameOf(mark), mark]));
  return filesOfLiving(dir).flatMap(({ name, bytes }) =>
    search.namesIn(bytes).map((found) => `${name} holds ${found}`),
  );
}

function nameOf(mark: Buffer): string {
  return /^[\x20-\x7e]+$/.test(mark.toString('latin1')) ? mark.toString('latin1') : `the hash ${mark.toString('hex')}`;
}

/**
 * Proves that the search finds a mark anywhere, in any form: with each mark planted in a file of its own, every file is
 * found.
 */
function mustSee(dir: string, marks: readonly Buffer[]): void {
  for (const mark of marks) {
    const planted = join(dir, 'planted');
    writeFileSync(planted, Buffer.concat([Buffer.alloc(100_000), mark, Buffer.alloc(7)]));
    const found = filesWith(dir, [mark]);
    rmSync(planted);
    if (!found.some((text) => text.startsWith('planted '))) throw new Error(`the search does not see ${nameOf(mark)}`);
  }
}

interface Erased {
  /** The marks that must be absent afterwards, the hash first. */
  readonly marks: readonly Buffer[];
  /** Those of them that no file held before, though they were stored: the search does not see them. */
  readonly unseen: readonly string[];
}

/** One player's life and erasure. */
async function eraseOne(node: TestNode, peers: readonly PeerView[], round: number, random: Random): Promise<Erased> {
  const player = `erased ${round}`;
  const subject = subjectOf(player);
  const ids = Array.from(
    { length: 1 + random.below(eventsMax) },
    (_, i) => `${idStart}${round}-${i}-${random.below(1e9)}${idEnd}`,
  );
  for (const id of ids) {
    const caller = random.pick(peers);
    await submit(node, caller, [submissionOf(caller, id, player)]);
  }
  const peer = peers[0]!;
  const ownId = `${idStart}${round}-own${idEnd}`;
  await submit(node, peer, [submissionOf(peer, ownId, player)]);
  const others = Array.from({ length: othersPerRound }, (_, i) =>
    submissionOf(peer, `kept-${round}-${i}`, `kept ${random.below(200)}`),
  );
  const hash = Buffer.from(subject);
  const stored = [hash, ...[...ids, ownId].map((id) => Buffer.from(id))];
  const found = filesWith(node.dir, stored);
  const unseen = stored.filter((mark) => !found.some((text) => text.includes(nameOf(mark)))).map(nameOf);
  const erased = node.group.erase(peer, subject);
  const [outcome] = await Promise.all([
    erased,
    node.group.submit(peer, others),
    node.group.withdraw(peer, `kept-${round - 1}-0`),
  ]);
  if (!outcome.ok) throw new Error(outcome.code);
  return { marks: [...stored, Buffer.from(hash.toString('hex'))], unseen };
}

async function run(rounds: Rounds): Promise<void> {
  const { tally, random } = rounds;
  await inFastFolder(async (dir) => {
    const env = { DATA_DIR: dir, SNAPSHOT_EVERY: '100', ERASURE_QUOTA_PER_DAY: '10000000' };
    let node = await startTestNode(env);
    const peers: PeerView[] = [];
    for (let i = 0; i < peersCount; i++) peers.push(await registerPeer(node, `p${i}`));
    const everErased: Buffer[] = [idStart, idEnd].map((text) => Buffer.from(text));
    for (const round of rounds) {
      const { marks, unseen } = await eraseOne(node, peers, round, random);
      tally.add('erasures answered');
      tally.add('hashes and ids found before', marks.length - 1 - unseen.length);
      for (const mark of unseen) tally.break(`round ${round}: ${mark} was stored, and the search does not see it`);
      if (round === 0) mustSee(dir, [...marks, ...everErased]);
      for (const found of filesWith(dir, marks)) tally.break(`round ${round}: ${found}`);
      everErased.push(marks[0]!);
      if (round % verifyEvery === 0) {
        const report = await verifyInChild(dir, 'full');
        if (!report.ok) tally.break(`round ${round}: ${report.faults.join('; ')}`);
        tally.add('verifications');
      }
      if (round % roundsPerLife === roundsPerLife - 1) {
        await node.close();
        for (const found of filesWith(dir, everErased)) tally.break(`round ${round}, stopped: ${found}`);
        tally.add('stops');
        node = await startTestNode(env);
      }
    }
    await node.close();
    for (const found of filesWith(dir, everErased)) tally.break(`in the end: ${found}`);
  });
}

export const erase: Fault = {
  name: 'erase',
  summary: 'erasures beside writes; no file may hold a byte of an erased player, and the log must verify',
  rounds: 1_000,
  run,
};

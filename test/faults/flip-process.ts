/**
 * Entry of a process that damages a folder and starts on it repeatedly, controlled by messages from its parent. If a
 * read crashes, this process dies, which the parent counts.
 */
import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { mustReach } from '../../src/group/recovery/recovery.js';
import { clock } from '../../src/node/system.js';
import { passwordFile } from '../../src/operator/dashboard/sessions/password.js';
import { Sessions } from '../../src/operator/dashboard/sessions/sessions.js';
import { SignIn, SignInAttempts } from '../../src/operator/dashboard/sessions/sign-in.js';
import { openLogReader } from '../../src/store/log/lmdb-log.js';
import { acquireFolder } from '../../src/store/ownership/owner.js';
import { verifyFolder, verifyForStart } from '../../src/workers/verify/verify-folder.js';
import { startTestNode, type TestNode } from '../support/node.js';
import type { Damage, Outcome, Pristine, Task } from './flips.js';
import { contentOf, knownPassword, knownPlayer, recovered, snapshotsOf } from './life.js';

const dir = process.argv[2]!;
const pristine = JSON.parse(process.argv[3]!) as Pristine;
const files = new Map(pristine.files.map((name) => [name, readFileSync(join(pristine.dir, name))]));

function restore(): void {
  // Additions of a life are removed as well: another snapshot of a stopped node, its socket, its table of readers.
  for (const name of readdirSync(dir, { recursive: true, encoding: 'utf8' }))
    if (!files.has(name) && !statSync(join(dir, name)).isDirectory()) rmSync(join(dir, name));
  for (const name of readdirSync(dir))
    if (name.startsWith('snapshot-') && !pristine.files.includes(`${name}/data.mdb`))
      rmSync(join(dir, name), { recursive: true });
  for (const [name, bytes] of files) {
    mkdirSync(dirname(join(dir, name)), { recursive: true });
    writeFileSync(join(dir, name), bytes);
  }
}

function damaged(bytes: Buffer, { kind, at, bit, length }: Damage): Buffer {
  const copy = Buffer.from(bytes);
  if (kind === 'flip') copy[at]! ^= 1 << bit;
  else if (kind === 'zeros') copy.fill(0, at, Math.min(at + length, copy.length));
  else return copy.subarray(0, at);
  return copy;
}

/** Returns the outcome of a start on the folder as it is now. */
async function start(): Promise<Outcome> {
  // A node has this done by a process of its own. So is this one, and its parent knows by 'verified' which of the two
  // died.
  const report = await verifyForStart(dir);
  if (!report.ok) return { type: 'refused', said: report.faults.join('; ') };
  process.send?.('verified');
  let writer: Awaited<ReturnType<typeof acquireFolder>>;
  try {
    writer = await acquireFolder(dir);
  } catch (error) {
    return { type: 'refused', said: error instanceof Error ? error.message : String(error) };
  }
  try {
    mustReach(writer, report.lastSeq);
    const { digest, snapshotSeq, faults } = recovered(dir, writer);
    if (digest !== pristine.digest)
      return { type: 'silent', said: `a start serves another state, from ${snapshotSeq}` };
    if (faults.length > 0) return { type: 'fell back', said: faults.join('; ') };
  } catch (error) {
    return { type: 'refused', said: error instanceof Error ? error.message : String(error) };
  } finally {
    await writer.close();
  }
  return { type: 'harmless', said: '' };
}

/**
 * Returns the outcome of `ptf verify`: silent if it reports no fault although log or snapshots differ from what was
 * written.
 */
async function verify(): Promise<Outcome> {
  const report = await verifyFolder(dir, 'full');
  if (!report.ok) return { type: 'refused', said: report.faults.join('; ') };
  // A process that dies after a successful verification reports it first.
  process.send?.('verified');
  const log = openLogReader(dir, { alone: true });
  try {
    if (contentOf(log) !== pristine.content) return { type: 'silent', said: 'ptf verify finds nothing in another log' };
  } finally {
    await log.close();
  }
  const snapshots = snapshotsOf(dir);
  const same = JSON.stringify(snapshots) === JSON.stringify(pristine.snapshots);
  return same
    ? { type: 'harmless', said: '' }
    : { type: 'silent', said: 'ptf verify finds nothing in other snapshots' };
}

/**
 * Returns the outcome of a whole node for a file beside the store, whose salt is in `group-salt`: silent if it serves
 * as if it knew no player.
 */
async function serve(): Promise<Outcome> {
  let node: TestNode;
  try {
    node = await startTestNode({ DATA_DIR: dir });
  } catch (error) {
    return { type: 'refused', said: error instanceof Error ? error.message : String(error) };
  }
  process.send?.('verified');
  try {
    const { lastSeq } = node.group.health();
    const response = await fetch(`${node.url}/api/v1/players/${encodeURIComponent(knownPlayer)}/trust-score`);
    const isKnown = response.status === 200 && lastSeq >= pristine.lastSeq;
    await response.arrayBuffer();
    return isKnown ? { type: 'harmless', said: '' } : { type: 'silent', said: `answers ${response.status}` };
  } finally {
    await node.close();
  }
}

/**
 * Returns the outcome of a sign-in with a damaged hash, which can only be refused, since such a hash looks like that of
 * another password.
 */
async function signIn(): Promise<Outcome> {
  const kept = readFileSync(join(dir, passwordFile), 'utf8').trim();
  const passwordHash = () => kept;
  const sessions = new Sessions({ secret: null, environment: 'dev', clock, passwordHash });
  const tried = (password: string) =>
    new SignIn(sessions, passwordHash, new SignInAttempts()).try({ operator: 'flips', password }, '127.0.0.1');
  try {
    if ((await tried(`not ${knownPassword}`)).ok) return { type: 'silent', said: 'another password is let in' };
    const { ok } = await tried(knownPassword);
    return ok ? { type: 'harmless', said: '' } : { type: 'refused', said: `${passwordFile}: cannot be checked` };
  } catch (error) {
    return { type: 'refused', said: error instanceof Error ? error.message : String(error) };
  }
}

function answer({ damage, by }: Task): Promise<Outcome> {
  if (by === 'verify') return verify();
  if (by === 'start') return start();
  return damage.file === passwordFile ? signIn() : serve();
}

process.on('message', async ({ damage, by }: Task) => {
  restore();
  writeFileSync(join(dir, damage.file), damaged(files.get(damage.file)!, damage));
  process.send?.(await answer({ damage, by }));
});
process.send?.('ready');

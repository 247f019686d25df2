/**
 * Entry of a process that damages a folder and starts on it, time and again, by messages from its parent. What kills a reader
 * kills this process, which the parent counts.
 */
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { mustReach } from '../../src/group/recovery.js';
import { openLogReader } from '../../src/store/lmdb-log.js';
import { claimFolder } from '../../src/store/owner.js';
import { verifyFolder, verifyForStart } from '../../src/workers/verify-folder.js';
import type { Damage, Outcome, Pristine, Task } from './flips.js';
import { contentOf, recovered } from './life.js';

const dir = process.argv[2]!;
const pristine = JSON.parse(process.argv[3]!) as Pristine;
const files = new Map(pristine.files.map((name) => [name, readFileSync(join(pristine.dir, name))]));

function restore(): void {
  for (const name of readdirSync(dir, { recursive: true, encoding: 'utf8' }))
    if (/(^|\/)(lock\.mdb|heartbeat)$/.test(name)) rmSync(join(dir, name));
  for (const [name, bytes] of files) writeFileSync(join(dir, name), bytes);
}

function damaged(bytes: Buffer, { kind, at, bit, length }: Damage): Buffer {
  const copy = Buffer.from(bytes);
  if (kind === 'flip') copy[at]! ^= 1 << bit;
  else if (kind === 'zeros') copy.fill(0, at, at + length);
  else return copy.subarray(0, at);
  return copy;
}

/** What a start makes of the folder as it is now. */
async function start(): Promise<Outcome> {
  // A node has this done by a process of its own. So is this one, and its parent knows by 'verified' which of the two died.
  const report = await verifyForStart(dir);
  if (!report.ok) return { type: 'refused', said: report.faults.join('; ') };
  process.send?.('verified');
  let writer: Awaited<ReturnType<typeof claimFolder>>;
  try {
    writer = await claimFolder(dir);
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

/** What `ptf verify` makes of it: silent where all is well to it, though the log holds other bytes than were written. */
async function verify(): Promise<Outcome> {
  const report = await verifyFolder(dir, 'full');
  if (!report.ok) return { type: 'refused', said: report.faults.join('; ') };
  const log = openLogReader(dir, { alone: true });
  try {
    const same = contentOf(log) === pristine.content;
    return same ? { type: 'harmless', said: '' } : { type: 'silent', said: 'ptf verify finds nothing in another log' };
  } finally {
    await log.close();
  }
}

process.on('message', async ({ damage, by }: Task) => {
  restore();
  writeFileSync(join(dir, damage.file), damaged(files.get(damage.file)!, damage));
  process.send?.(await (by === 'start' ? start() : verify()));
});
process.send?.('ready');

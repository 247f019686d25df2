/** Invariants of a simulated node as a whole: live state, snapshots and log agree, and nothing erased is stored. */
import { Batch } from '../../src/core/records/batch.js';
import { stateDigest } from '../../src/core/snapshot/state-digest.js';
import type { GroupState } from '../../src/core/state.js';
import { recover } from '../../src/group/recovery/recovery.js';
import { salt } from '../support/given.js';
import { MemorySnapshotStore } from '../support/memory-snapshots.js';
import { verifyStore } from '../support/verify-store.js';
import { Difference } from './difference.js';
import type { Oracle } from './oracle.js';
import { type Disk, storedBytes } from './store.js';

/** The state in memory against the whole log, and against one snapshot with the log behind it; returns the digest. */
export function checkReplay(state: GroupState, disk: Disk, pick: number): string {
  const digest = stateDigest(state);
  const seqs = disk.snapshots.list().filter((seq) => disk.snapshots.holds(seq));
  const choice = [0, ...seqs][pick % (seqs.length + 1)]!;
  const recovered = recover(
    disk.log,
    choice === 0 ? new MemorySnapshotStore() : only(disk.snapshots, choice),
    salt,
    state.lastSeq,
  )!;
  if (recovered.snapshotSeq !== choice)
    throw new Difference('replay', `snapshot ${choice}: ${recovered.problems.join()}`);
  const replayed = recovered.follower.state;
  if (stateDigest(replayed) === digest) return digest;
  const from = choice === 0 ? 'the whole log' : `snapshot ${choice} and the log behind it`;
  throw new Difference(
    'replay',
    `at record ${state.lastSeq} the live state is not that of ${from}: ${unlike(state, replayed)}`,
  );
}

/** The store as if it held no other snapshot. */
function only(snapshots: MemorySnapshotStore, seq: number): MemorySnapshotStore {
  const one = new MemorySnapshotStore();
  void one.write(snapshots.readHeader(seq), snapshots.borrowBlocks(seq));
  return one;
}

/** The first parts of two states that differ, for whoever reads the finding. */
function unlike(a: GroupState, b: GroupState): string {
  const names = [
    'lastSeq',
    'lastAt',
    'halfLifeDays',
    'epoch',
    'evidenceSeq',
    'redacted',
    'eventCount',
    'auditHead',
  ] as const;
  const parts: string[] = names.filter((name) => a[name] !== b[name]).map((name) => `${name} ${a[name]} / ${b[name]}`);
  if (a.subjects.size !== b.subjects.size) parts.push(`players ${a.subjects.size} / ${b.subjects.size}`);
  if (a.eventIds.size !== b.eventIds.size) parts.push(`event ids ${a.eventIds.size} / ${b.eventIds.size}`);
  for (let row = 0; row < a.subjects.rows; row++) {
    if (!a.subjects.has(row)) continue;
    const other = b.subjects.find(a.subjects.keyOf(row));
    if (other < 0) parts.push(`player of row ${row} is missing`);
    else if (rowText(a, row) !== rowText(b, other)) parts.push(`player: ${rowText(a, row)} / ${rowText(b, other)}`);
  }
  return parts.slice(0, 3).join('; ') || 'in times, ids, peers or open redactions';
}

function rowText({ subjects }: GroupState, row: number): string {
  const first = subjects.firstEntry(row);
  const entries = Array.from({ length: subjects.peerCount(row) }, (_, i) => {
    const { entries: e } = subjects;
    const fields = ['peer', 'count', 'lowering', 'raising', 'measure', 'follows', 'head'] as const;
    return fields.map((field) => e[field](first + i)).join(' ');
  });
  return `${subjects.updatedAt(row)} ${subjects.evidenceAt(row)} [${entries.join(', ')}]`;
}

/**
 * Checksums, chain, rewritten batches, audit chain and snapshots of the whole store. Damage that was asked for is no
 * finding.
 */
export function checkStore(disk: Disk): void {
  const { faults } = verifyStore(disk.log, disk.snapshots, null, 'full');
  const found = faults.filter((fault) => {
    const [, seq] = /^snapshot (\d+): /.exec(fault) ?? [];
    return seq === undefined || disk.snapshots.holds(Number(seq));
  });
  if (found.length > 0) throw new Difference('damage', found.join('; '));
}

/**
 * No event is in the log up to where they left by their age, nor is what left stored elsewhere; and none left that is
 * too young. Asked for at rest; returns how many left.
 */
export function checkRetired(oracle: Oracle, { retired }: GroupState, disk: Disk): number {
  const there = new Set<string>();
  for (const { bytes } of disk.log.from(0, Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY)) {
    const batch = new Batch(bytes);
    for (let seq = batch.firstSeq; seq <= batch.lastSeq; seq++) {
      const record = batch.record(seq);
      if (record.type !== 'event_accepted') continue;
      if (seq <= retired.seq) throw new Difference('retired', `event ${record.event_id} is still in the log`);
      there.add(record.event_id);
    }
  }
  const left = [...oracle.facts.events.values()].filter((event) => !there.has(event.id) && oracle.isLive(event));
  const young = left.find((event) => oracle.isStored(event));
  if (young !== undefined) throw new Difference('retired', `event ${young.id} left the log before its time`);
  const stored = storedBytes(disk);
  const found = left.slice(-40).find(({ id }) => stored.includes(id));
  if (found !== undefined) throw new Difference('retired', `event ${found.id} left the log and is still stored`);
  return left.length;
}

/**
 * Known to have gone with an erasure is every event that did, and no other; one that may have left by its age before
 * may be missing. Asked for at rest.
 */
export function checkErasedEvents(oracle: Oracle, { erasedEvents, eventIds, idTags }: GroupState): number {
  let known = 0;
  for (const event of oracle.facts.events.values()) {
    const isKnown = erasedEvents.has(eventIds.seqOf(idTags.of(event.id)));
    const isErased = oracle.isErased(event);
    if (isKnown && !isErased) throw new Difference('erased', `event ${event.id} counts as erased`);
    if (!isKnown && isErased && oracle.isStored(event))
      throw new Difference('erased', `event ${event.id} does not count as erased`);
    if (isKnown) known++;
  }
  return known;
}

/** Nothing that was erased or withdrawn is stored anywhere, once all of it is out of the log. */
export function checkErased(oracle: Oracle, disk: Disk): number {
  const stored = storedBytes(disk);
  const subjects = [...oracle.facts.bySubject.keys()].filter((subject) => !oracle.names(subject));
  for (const subject of subjects) {
    for (const needle of [Buffer.from(subject, 'hex'), subject]) {
      if (stored.includes(needle)) throw new Difference('erased', `subject ${subject} is still stored`);
    }
  }
  const gone = [...oracle.facts.events.values()].filter((event) => !oracle.isLive(event)).slice(-40);
  for (const { id } of gone) if (stored.includes(id)) throw new Difference('erased', `event ${id} is still stored`);
  const disputes = oracle.facts.of('dispute').filter((dispute) => !oracle.lifeOf(dispute.subject).includes(dispute));
  for (const { text } of disputes) {
    if (stored.includes(text)) throw new Difference('erased', `"${text}" is still stored`);
  }
  return subjects.length + gone.length + disputes.length;
}

/**
 * Tampering with the audit log: edits, deletions, reorderings and cuts of the batches that a store holds, by somebody
 * who knows every format, and by a node that lies to its peers. The verification of the store, or the head that a peer
 * kept, must tell.
 */
import { auditHash, auditStart } from '../../src/core/records/audit.js';
import { Batch, BatchWriter, chainStart } from '../../src/core/records/batch.js';
import type { LogRecord } from '../../src/core/records/records.js';
import type { StoredBatch } from '../../src/group/ports/storage.js';
import type { ExpectedHead } from '../../src/group/recovery/verification.js';
import type { AuditEntryValue } from '../../src/operations/log-operations.js';
import { verifyChain } from '../../src/operator/protocol/audit-chain.js';
import { Machine } from '../group/machine.js';
import { logOf } from '../support/log-of.js';
import { MemorySnapshotStore } from '../support/memory-snapshots.js';
import type { Random } from '../support/random.js';
import { verifyStore } from '../support/verify-store.js';
import type { Fault, Rounds } from './fault.js';

/** A log of audited records as it is in the files, with the head that is kept outside it. */
interface SavedLog {
  readonly batches: readonly StoredBatch[];
  readonly head: ExpectedHead;
  readonly entries: readonly AuditEntryValue[];
}

/** Rounds that tamper with one log, before another is drawn. */
const roundsOfLog = 50;

async function savedLog(random: Random): Promise<SavedLog> {
  const machine = await Machine.start();
  const peers = 4 + random.below(16);
  for (let i = 0; i < peers; i++) {
    const [peerId, keyDigest] = [`peer-${i}`, `key-${i}`];
    await machine.ask(`r${i}`, { type: 'register', peerId, peerName: peerId, gameIds: ['g'], keyDigest, by: 'open' });
    machine.now += 1 + random.below(100_000);
    if (random.below(3) === 0)
      await machine.ask(`s${i}`, { type: 'peer_status', peerId, status: 'suspended', by: 'operator:alice' });
    if (random.below(4) === 0) await machine.ask(`p${i}`, { type: 'pre_trust', change: 'add', peerId, by: 'operator' });
    if (random.below(5) === 0)
      await machine.ask(`k${i}`, { type: 'rotate_key', peerId, overlapMs: 0, keyDigest: `new-${i}`, by: 'operator' });
  }
  const batches = machine.log.from(0, Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY);
  const { lastSeq, chain } = machine.actor.durableHead;
  const entries = batches.flatMap(({ bytes }) => entriesOf(new Batch(bytes)));
  return { batches, head: { lastSeq, chain: Buffer.from(chain).toString('hex') }, entries };
}

function entriesOf(batch: Batch): AuditEntryValue[] {
  return [...batch].flatMap((record, i) => {
    if (!('audit' in record)) return [];
    const at = new Date(batch.at).toISOString();
    return [{ seq: batch.firstSeq + i, at, ...record.audit }];
  });
}

/** An entry that says something else; with a right hash of its own where the forger cares. */
function edited(entry: AuditEntryValue, random: Random, rehash: boolean): AuditEntryValue {
  const field = random.pick(['action', 'actor', 'target'] as const);
  const changed = { ...entry, [field]: `${entry[field]}${random.pick(['x', ' ', '\u0000', 'peer-1'])}` };
  const hash = auditHash(changed.prev_hash, changed.seq, Date.parse(changed.at), changed);
  return rehash ? { ...changed, hash } : changed;
}

const kinds = ['edit', 'delete', 'reorder', 'cut', 'insert'] as const;

/** Files changed by somebody who knows the formats but cannot undo what stands outside the log. */
class Forger {
  readonly #saved: SavedLog;
  readonly #random: Random;

  constructor(saved: SavedLog, random: Random) {
    this.#saved = saved;
    this.#random = random;
  }

  /** A log that is not the one written. `care`: how much of what follows is made to fit. */
  forge(kind: (typeof kinds)[number], care: 'checksum' | 'batch' | 'chain'): StoredBatch[] {
    const records = this.#saved.batches.map(({ bytes }) => ({
      batch: new Batch(bytes),
      records: [...new Batch(bytes)],
    }));
    const at = 1 + this.#random.below(records.length - 2);
    if (kind === 'edit') {
      const target = records[at]!;
      target.records = target.records.map((record) => this.#editedRecord(record, target.batch, care !== 'checksum'));
    } else if (kind === 'delete') records.splice(at, 1);
    else if (kind === 'reorder') records.splice(at, 2, records[at + 1]!, records[at]!);
    else if (kind === 'insert') records.splice(at, 0, records[this.#random.below(records.length)]!);
    else records.splice(at + 1);
    return this.#laidOut(records, kind === 'edit' ? at : at - 1, care);
  }

  #editedRecord(record: LogRecord, batch: Batch, rehash: boolean): LogRecord {
    if (!('audit' in record)) return record;
    const [entry] = entriesOf(batch);
    const { action, actor, target, prev_hash, hash } = edited(entry!, this.#random, rehash);
    return { ...record, audit: { action, actor, target, prev_hash, hash } };
  }

  /**
   * `checksum`: the changed batch keeps its place in the chain, as a rewritten one would. `batch`: it is sealed anew,
   * and what follows stays. `chain`: everything from there on is sealed anew, its audit entries too.
   */
  #laidOut(
    records: readonly { readonly batch: Batch; readonly records: readonly LogRecord[] }[],
    from: number,
    care: 'checksum' | 'batch' | 'chain',
  ): StoredBatch[] {
    let seq = 1;
    let chain: Uint8Array = chainStart;
    let audit = auditStart;
    return records.map(({ batch, records: changed }, i) => {
      const isSealed = i >= from && (care === 'chain' || (care === 'batch' && i <= from + 1));
      const place = care === 'chain' ? seq : batch.firstSeq;
      let next = batch;
      if (isSealed) {
        const writer = new BatchWriter();
        for (const [n, record] of changed.entries()) {
          writer.add(care === 'chain' ? rechained(record, audit, place + n, batch.at) : record);
        }
        next = writer.seal(place, batch.at, Buffer.alloc(16, 7), chain);
      } else if (i === from) next = batch.rewrite(new Map(changed.map((record, n) => [batch.firstSeq + n, record])));
      for (const entry of entriesOf(next)) audit = entry.hash;
      chain = next.chain;
      seq = next.lastSeq + 1;
      return { firstSeq: next.firstSeq, bytes: next.bytes };
    });
  }
}

function rechained(record: LogRecord, prevHash: string, seq: number, at: number): LogRecord {
  if (!('audit' in record)) return record;
  const hash = auditHash(prevHash, seq, at, record.audit);
  return { ...record, audit: { ...record.audit, prev_hash: prevHash, hash } };
}

/**
 * Returns the entries that a lying node shows its peers: entries are changed, and all hashes after the change are
 * recomputed if it takes care.
 */
function liesOf(entries: readonly AuditEntryValue[], kind: (typeof kinds)[number], random: Random): AuditEntryValue[] {
  const shown = [...entries];
  const at = random.below(shown.length - 1);
  if (kind === 'edit') shown[at] = edited(shown[at]!, random, random.below(2) === 0);
  else if (kind === 'delete') shown.splice(at, 1);
  else if (kind === 'reorder') shown.splice(at, 2, shown[at + 1]!, shown[at]!);
  else if (kind === 'insert') shown.splice(at, 0, { ...shown[at]!, seq: shown[at]!.seq + 1 });
  else shown.splice(at + 1);
  if (random.below(2) === 0) return shown;
  let prevHash = auditStart;
  return shown.map((entry) => {
    const hash = auditHash(prevHash, entry.seq, Date.parse(entry.at), entry);
    const chained = { ...entry, prev_hash: prevHash, hash };
    prevHash = hash;
    return chained;
  });
}

async function* pageOf(entries: readonly AuditEntryValue[]): AsyncIterable<readonly AuditEntryValue[]> {
  yield entries;
}

/** A peer's walk: the chain, and the head that it kept from its walk before. */
async function peerAccepts(shown: readonly AuditEntryValue[], keptHead: string): Promise<boolean> {
  const report = await verifyChain(pageOf(shown));
  return report.ok && shown.some(({ hash }) => hash === keptHead);
}

async function run(rounds: Rounds): Promise<void> {
  const { tally, random } = rounds;
  const snapshots = new MemorySnapshotStore();
  let saved!: SavedLog;
  for (const round of rounds) {
    if (round % roundsOfLog === 0) {
      saved = await savedLog(random);
      const isWhole = verifyStore(logOf(saved.batches), snapshots, saved.head, 'full').ok;
      if (!isWhole || !(await peerAccepts(saved.entries, saved.entries.at(-1)!.hash)))
        throw new Error('the log does not hold');
      tally.add('logs tampered with');
    }
    const forger = new Forger(saved, random);
    const kind = random.pick(kinds);
    if (round % 2 === 0) {
      const care = random.pick(['checksum', 'batch', 'chain'] as const);
      const forged = logOf(forger.forge(kind, care));
      const report = verifyStore(forged, snapshots, saved.head, 'full');
      if (verifyStore(forged, snapshots, null, 'full').ok) tally.add('found by the head outside the log alone');
      if (report.ok) tally.break(`round ${round}: ${kind} in the log, ${care} made to fit, is not found`);
      else if (!/record \d+/.test(report.faults[0]!))
        tally.break(`round ${round}: ${report.faults[0]} names no record`);
      else tally.add(`found in the log: ${kind}`);
    } else if (await peerAccepts(liesOf(saved.entries, kind, random), saved.entries.at(-1)!.hash)) {
      tally.break(`round ${round}: ${kind} in what a peer is shown is not found`);
    } else {
      tally.add(`found by a peer: ${kind}`);
    }
  }
}

export const audit: Fault = {
  name: 'audit',
  summary: 'edits, deletions, reorderings and cuts of the audit log, in the store and in what peers are shown',
  rounds: 10_000,
  run,
};

/**
 * Records the shared log of a simulated cluster as it is written, who leads meanwhile, and what callers are told.
 * Checks the invariants of a cluster over this history.
 */

import { subjectHex } from '../../../src/core/hashing/pseudonym.js';
import { Batch, countOf } from '../../../src/core/records/batch.js';
import { stateDigest } from '../../../src/core/snapshot/state-digest.js';
import type { NodeView } from '../../../src/group/ports/shared-log.js';
import type { EtcdKeys } from '../../../src/store/etcd/etcd-keys.js';
import { decodeSlot, type SlotCipher } from '../../../src/store/etcd/slot-codec.js';
import type { MemoryLog } from '../../support/memory-log.js';
import { Difference } from '../difference.js';
import type { EtcdModel } from './etcd-model.js';
import type { NodeDisk, SimNode } from './sim-node.js';

/** A lease that began this long ago was known to the leader that computed the trim at hand. */
const knownMs = 15_000;

interface Registered {
  readonly createRevision: string;
  readonly since: number;
  durable: number;
  /** True for a node that an erasure does not wait for. */
  hasLeft: boolean;
  /** Start of the process that wrote the key. */
  started: number;
}

interface Leading {
  readonly nodeId: string;
  readonly fence: string;
}

export class History {
  #leader: { readonly revision: number; readonly is: Leading | null } = { revision: -1, is: null };
  readonly #etcd: EtcdModel;
  readonly #keys: EtcdKeys;
  readonly #cipher: SlotCipher;
  /** Returns the last record on the disk of a node, or on the one that it lost; its last report may be older. */
  readonly #files: (nodeId: string) => number;
  /** Every batch of the group, as it was first written. */
  readonly #batches = new Map<number, Buffer>();
  readonly #events = new Map<string, number>();
  /** Events of which every answer said that they are not recorded. */
  readonly #refused = new Set<string>();
  /** First records of the batches that an erasure rewrote. */
  readonly #rewritten = new Set<number>();
  /** The newest erasure of each subject, by its hash. */
  readonly #erasures = new Map<string, number>();
  #lastSeq: number;
  /** The newest acknowledged record, and the times at which it rose. */
  #acknowledged = 0;
  readonly #rises: { readonly at: number; readonly seq: number }[] = [];
  readonly #registered = new Map<string, Registered>();
  #seenRevision = 0;
  #trimmed: number;
  readonly #applied = new WeakMap<object, number>();

  /** `first`: the batches with which the shared log was begun. */
  constructor(etcd: EtcdModel, keys: EtcdKeys, cipher: SlotCipher, first: MemoryLog, files: (id: string) => number) {
    this.#files = files;
    this.#etcd = etcd;
    this.#keys = keys;
    this.#cipher = cipher;
    let lastSeq = 0;
    for (const { firstSeq, bytes } of first.from(0, Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY)) {
      this.#batches.set(firstSeq, Buffer.from(bytes));
      lastSeq = firstSeq + countOf(bytes) - 1;
    }
    this.#lastSeq = lastSeq;
    this.#trimmed = lastSeq;
  }

  get lastSeq(): number {
    return this.#lastSeq;
  }

  /** Reads what a change of etcd wrote, and who wrote it. */
  changed(writer: string | null): void {
    const { store } = this.#etcd;
    const everything = [Buffer.from([0]), Buffer.from([255])] as const;
    for (const { revision, events } of store.changes(...everything, this.#seenRevision + 1) ?? []) {
      this.#seenRevision = revision;
      for (const { type, kv } of events) if (type === 'PUT') this.#written(kv.key, kv.value, writer);
    }
    this.#checkNodes();
    this.#checkTrim();
  }

  #written(key: Buffer, value: Buffer, writer: string | null): void {
    const [from, to] = [this.#keys.slot(0), this.#keys.logEnd];
    if (Buffer.compare(key, from) < 0 || Buffer.compare(key, to) >= 0) return;
    const firstSeq = this.#keys.seqOf(key);
    const leader = this.leader?.nodeId ?? null;
    if (leader !== writer) {
      throw new Difference('fence', `${writer} wrote the slot at record ${firstSeq} while ${leader} led`);
    }
    if (this.#batches.has(firstSeq)) throw new Difference('fence', `the slot at record ${firstSeq} was written twice`);
    if (firstSeq !== this.#lastSeq + 1) {
      throw new Difference('order', `a slot at record ${firstSeq} follows record ${this.#lastSeq}`);
    }
    const { bytes, redactions } = decodeSlot(firstSeq, this.#cipher.open(key, value));
    for (const redaction of redactions) this.#rewritten.add(redaction.firstSeq);
    this.#batches.set(firstSeq, Buffer.from(bytes));
    this.#lastSeq = firstSeq + countOf(bytes) - 1;
    let seq = firstSeq;
    for (const record of new Batch(bytes)) {
      if (record.type === 'event_accepted') {
        if (this.#events.has(record.event_id)) throw new Difference('once', `${record.event_id} was accepted twice`);
        if (this.#refused.has(record.event_id)) throw recordedThough(record.event_id);
        this.#events.set(record.event_id, seq);
      }
      if (record.type === 'subject_erased' && record.subject !== null) this.#erasures.set(record.subject, seq);
      seq += 1;
    }
  }

  /**
   * An answered erasure: no node that serves and that the erasure waited for holds a record of the player, neither in
   * its log nor in a snapshot, and etcd holds none. A process without a lease is not waited for, although the key of
   * its earlier process, which left, may still be there: it serves what it read last until that is stale.
   */
  checkErased(subject: Uint8Array, nodes: readonly SimNode[], disks: readonly NodeDisk[]): void {
    const hex = subjectHex(subject);
    const upTo = this.#erasures.get(hex);
    if (upTo === undefined) throw new Difference('erasure', 'an answered erasure has no record');
    const { kvs } = this.#etcd.store.range({ key: this.#keys.slot(0), range_end: this.#keys.logEnd });
    for (const { key, value } of kvs) {
      const { bytes } = decodeSlot(this.#keys.seqOf(key), this.#cipher.open(key, value));
      this.#demandGone(bytes, hex, upTo, 'etcd');
    }
    for (const [i, { nodeId, process, member }] of nodes.entries()) {
      const key = this.#registered.get(nodeId);
      const isWaitedFor = key !== undefined && !(key.hasLeft && key.started !== member.view().started);
      const isServing = isWaitedFor && !member.isStale && (member.role === 'follower' || member.isLeader);
      if (process.isDead || !isServing) continue;
      const { log, snapshots } = disks[i]!;
      for (const { bytes } of log.from(0, Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY)) {
        this.#demandGone(bytes, hex, upTo, nodeId);
      }
      for (const seq of snapshots.list()) {
        const blocks = snapshots.stored(seq).map(({ bytes }) => Buffer.from(bytes));
        const holds = blocks.some((bytes) => bytes.includes(Buffer.from(subject)));
        // An event that was under way may have come later; an open erasure, which is text, is closed by now.
        if ((holds && seq < upTo) || blocks.some((bytes) => bytes.includes(hex)))
          throw new Difference('erasure', `a snapshot of ${nodeId} holds an erased player`);
      }
    }
  }

  #demandGone(bytes: Uint8Array, hex: string, upTo: number, holder: string): void {
    let { firstSeq: seq } = new Batch(bytes);
    for (const record of new Batch(bytes)) {
      const subject = 'subject' in record ? record.subject : null;
      const named = typeof subject === 'string' ? subject : subject === null ? null : subjectHex(subject);
      if (named === hex && seq <= upTo) {
        throw new Difference('erasure', `${holder} holds record ${seq} of a player whose erasure was answered`);
      }
      seq += 1;
    }
  }

  get trimmedSeq(): number {
    return this.#trimmed;
  }

  get leader(): Leading | null {
    const { store } = this.#etcd;
    // Asked for after each step.
    if (this.#leader.revision !== store.revision) {
      const kv = store.range({ key: this.#keys.leader }).kvs[0];
      const is = kv && { nodeId: JSON.parse(kv.value.toString()).node_id, fence: kv.create_revision };
      this.#leader = { revision: store.revision, is: is ?? null };
    }
    return this.#leader.is;
  }

  #checkNodes(): void {
    const { kvs } = this.#etcd.store.range({ key: this.#keys.nodes, range_end: this.#keys.nodesEnd });
    const ids = new Set<string>();
    for (const kv of kvs) {
      const id = this.#keys.nodeIdOf(kv.key);
      ids.add(id);
      const { durable, role, started } = JSON.parse(kv.value.toString()) as NodeView;
      const hasLeft = role === 'left';
      const before = this.#registered.get(id);
      // A process that starts again may report less under the same lease.
      if (before?.createRevision === kv.create_revision && before.durable <= durable)
        Object.assign(before, { durable, hasLeft, started });
      else {
        const since = this.#etcd.time.elapsed();
        this.#registered.set(id, { createRevision: kv.create_revision, since, durable, hasLeft, started });
      }
    }
    for (const id of this.#registered.keys()) if (!ids.has(id)) this.#registered.delete(id);
  }

  /** A trim leaves what a live node still needs, and the newest slot; the rest of the log has no gap. */
  #checkTrim(): void {
    const { store } = this.#etcd;
    const trimmed = Number(store.range({ key: this.#keys.trimmed }).kvs[0]?.value.toString() ?? 0);
    if (trimmed === this.#trimmed) return;
    this.#trimmed = trimmed;
    const { kvs } = store.range({ key: this.#keys.slot(0), range_end: this.#keys.logEnd, keys_only: true });
    const first = kvs[0] === undefined ? null : this.#keys.seqOf(kvs[0].key);
    if (first !== trimmed + 1) {
      throw new Difference('trim', `after a trim up to record ${trimmed} the log begins at record ${first}`);
    }
    const knownBefore = this.#etcd.time.elapsed() - knownMs;
    for (const [id, { since, durable, hasLeft }] of this.#registered) {
      if (!hasLeft && since < knownBefore && Math.max(durable, this.#files(id)) < trimmed) {
        throw new Difference('trim', `record ${durable + 1} was deleted up to ${trimmed}, and ${id} lacks it`);
      }
    }
  }

  /** At most one node leads by its own clock, and only while etcd agrees. */
  checkLeaders(nodes: readonly SimNode[]): void {
    const leaders = nodes.filter(({ process, member }) => process.isRunning && member.isLeader);
    for (const { nodeId, member } of leaders) {
      const { leader } = this;
      if (leader?.nodeId === nodeId && leader.fence === member.fence?.revision) continue;
      throw new Difference('lease', `${nodeId} trusts its lease, and etcd knows ${leader?.nodeId ?? 'no leader'}`);
    }
    for (const { nodeId, process, site, member } of nodes) {
      // A stale node answers no reads.
      if (!process.isRunning || member.isStale) continue;
      const { appliedSeq } = site;
      if (appliedSeq < (this.#applied.get(process) ?? 0)) {
        throw new Difference('reads', `${nodeId} went back to record ${appliedSeq}`);
      }
      if (appliedSeq > this.#lastSeq) {
        throw new Difference('ahead', `${nodeId} shows record ${appliedSeq} of ${this.#lastSeq}`);
      }
      this.#applied.set(process, appliedSeq);
    }
  }

  /** The newest record of which a caller knows. */
  get acknowledgedSeq(): number {
    return this.#acknowledged;
  }

  /** A node that calls itself at most `stalenessMs` behind has applied all that was acknowledged before that. */
  checkStaleness(nodes: readonly SimNode[]): void {
    for (const { nodeId, site, member, process } of nodes) {
      if (!process.isRunning || member.role === 'joining' || !site.isOpen) continue;
      const since = this.#etcd.time.elapsed() - member.stalenessMs;
      const known = this.#rises.findLast(({ at }) => at < since);
      if (known === undefined || site.appliedSeq >= known.seq) continue;
      const shown = `${nodeId} shows record ${site.appliedSeq} and says ${member.stalenessMs} ms`;
      throw new Difference('stale', `${shown}; record ${known.seq} is older`);
    }
  }

  /** A caller was told that its event is stored. */
  acknowledged(eventId: string): void {
    const seq = this.#events.get(eventId);
    if (seq === undefined) throw new Difference('lost', `${eventId} was acknowledged and is not in the log`);
    if (seq <= this.#acknowledged) return;
    this.#acknowledged = seq;
    this.#rises.push({ at: this.#etcd.time.elapsed(), seq });
  }

  /** A caller was told by each answer that its event is not recorded. */
  refused(eventId: string): void {
    if (this.#events.has(eventId)) throw recordedThough(eventId);
    this.#refused.add(eventId);
  }

  /** Every node has every batch exactly once, and the same state. */
  checkEnd(nodes: readonly SimNode[], disks: readonly NodeDisk[]): void {
    const digests = nodes.map(({ loop }) => stateDigest(loop.state));
    const all = disks.map(({ log }) => log.from(0, Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY));
    for (const [i, stored] of all.entries()) {
      const { nodeId } = nodes[i]!;
      if (stored.length !== this.#batches.size) {
        throw new Difference('log', `${nodeId} has ${stored.length} batches of ${this.#batches.size}`);
      }
      for (const [at, { firstSeq, bytes }] of stored.entries()) {
        const written = this.#rewritten.has(firstSeq) ? all[0]![at]!.bytes : this.#batches.get(firstSeq);
        if (written === undefined || Buffer.compare(written, bytes) !== 0) {
          throw new Difference('log', `${nodeId} has another batch at record ${firstSeq} than the group`);
        }
      }
      for (const [hex, upTo] of this.#erasures)
        for (const { bytes } of stored) this.#demandGone(bytes, hex, upTo, nodeId);
      if (digests[i] !== digests[0]) throw new Difference('state', `${nodeId} has another state than n0`);
    }
  }
}

const recordedThough = (eventId: string): Difference =>
  new Difference('refused', `${eventId} is in the log, and its caller was told that it is not recorded`);

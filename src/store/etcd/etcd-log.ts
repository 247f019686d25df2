/** The shared log in etcd. A transaction states its preconditions, so that a repeat can tell if it succeeded before. */
import { randomBytes } from 'node:crypto';
import { PROOF_NONCE_BYTES, type SecretProof } from '../../core/hashing/secret-proof.js';
import type { OnProgress } from '../../group/ports/pool.js';
import {
  type Fence,
  type LeaderView,
  LogLostError,
  type NodeView,
  type RefusedNode,
  type Resignation,
  type Scrubbed,
  type SharedLog,
  SharedLogUnavailableError,
  type SharedView,
  type Slot,
  type WalSettings,
} from '../../group/ports/shared-log.js';
import { DamagedError, OwnerLostError } from '../../group/ports/storage.js';
import { RECORD_FORMAT } from '../../group/record-format.js';
import { limits } from '../../limits.js';
import { type EtcdClient, withLease } from './etcd-client.js';
import type { EtcdKeys } from './etcd-keys.js';
import * as etcd from './etcd-messages.js';
import { decodeSlot, encodeSlot, partsOf, type SlotCipher } from './slot-codec.js';

export type EtcdCalls = Omit<EtcdClient, 'endpoints' | 'status' | 'defragment' | 'close'>;

export class EtcdLog<C extends EtcdCalls = EtcdClient> implements SharedLog {
  /** The revision of this node's place as this process last knew it; null if it knew of none. */
  #place: string | null = null;
  #placing: Promise<NodeView | null> | null = null;

  constructor(
    readonly client: C,
    readonly keys: EtcdKeys,
    private readonly cipher: SlotCipher,
    private readonly secret: SecretProof,
  ) {}

  async view(firstSeq: number, limit: number = limits.slotsRead, timeoutMs?: number): Promise<SharedView> {
    const { keys } = this;
    const success = [
      { request_range: { key: keys.leader } },
      { request_range: { key: keys.slot(firstSeq), range_end: keys.logEnd, limit } },
      { request_range: { key: keys.trimmed } },
      { request_range: { key: keys.nodes, range_end: keys.nodesEnd } },
      { request_range: { key: keys.format } },
    ];
    const { header, responses } = await this.client.txn({ compare: [], success }, timeoutMs);
    const [leader, log, trimmed, nodes, format] = responses.map(({ response_range: found }) => found!.kvs);
    const slots: Slot[] = [];
    for (const kv of log!) slots.push(await this.slotOf(kv));
    return {
      leader: leader![0] === undefined ? null : leaderOf(leader![0]),
      slots,
      trimmed: trimmed![0] === undefined ? 0 : Number(trimmed![0].value.toString()),
      nodes: nodes!.map((kv) => this.#nodeOf(kv)),
      format: format![0] === undefined ? 1 : Number(format![0].value.toString()),
      revision: header.revision,
    };
  }

  #nodeOf({ key, value }: etcd.KeyValue): NodeView {
    return { nodeId: this.keys.nodeIdOf(key), ...JSON.parse(value.toString()) } as NodeView;
  }

  watch(revision: string, heard: (slots: readonly Slot[]) => void, ended: (error: unknown) => void): () => void {
    const range = { key: this.keys.slot(0), rangeEnd: this.keys.logEnd, revision };
    // Answers are handled one after the other, because a slot may have parts to fetch.
    let line: Promise<void> = Promise.resolve();
    const stop = this.client.watch(
      range,
      ({ events }: etcd.WatchResponse) => {
        const puts = events.filter(({ type }) => type === 'PUT');
        if (puts.length === 0) return;
        line = line
          .then(async () => {
            const slots: Slot[] = [];
            for (const { kv } of puts) slots.push(await this.slotOf(kv));
            heard(slots);
          })
          .catch((error: unknown) => {
            stop();
            ended(error);
          });
      },
      ended,
    );
    return stop;
  }

  async slotOf({ key, value }: etcd.KeyValue): Promise<Slot> {
    const firstSeq = this.keys.seqOf(key);
    const plain = this.cipher.open(key, value);
    const count = partsOf(plain);
    if (count === 0) return decodeSlot(firstSeq, plain);
    const parts: Buffer[] = [];
    for (let number = 0; number < Math.min(count, limits.slotPartsMax); number++) {
      const partKey = this.keys.part(firstSeq, number);
      const { kvs } = await this.client.range({ key: partKey });
      if (kvs[0] === undefined) {
        // A trim deletes slots with their parts. A reader that tries again finds where the log begins by then.
        const isTrimmed = (await this.client.range({ key, keys_only: true })).kvs.length === 0;
        const what = `a part of the slot at record ${firstSeq} is missing`;
        throw isTrimmed ? new SharedLogUnavailableError(what) : new DamagedError(`etcd: ${what}`);
      }
      parts.push(this.cipher.open(partKey, kvs[0].value));
    }
    return decodeSlot(firstSeq, Buffer.concat(parts));
  }

  /**
   * Appends a slot under a fence. `previous`: the first record of the batch before it; 0 if the log was trimmed up to
   * the slot, or begins with it. Resolves once a majority of the members has the slot on disk. Rejects with
   * `OwnerLostError` if another node leads, or has written a slot there; then the slot is not in the log and never will
   * be. A call without an answer is repeated until the outcome is known, or until `signal` aborts; then it rejects with
   * `SharedLogUnavailableError`, and the outcome is unknown.
   */
  async append(fence: Fence, slot: Slot, previous: number, signal?: AbortSignal): Promise<void> {
    const { keys } = this;
    const key = keys.slot(slot.firstSeq);
    const { slot: plain, parts } = encodeSlot(slot);
    for (const [number, part] of parts.entries()) {
      const partKey = keys.part(slot.firstSeq, number);
      const put = { request_put: { key: partKey, value: this.cipher.seal(partKey, part) } };
      await this.#untilKnown(() => this.#fenced(fence, [], [put]), signal);
    }
    // Encrypted once, so that a repeat writes the same bytes and recognizes them as its own.
    const value = this.cipher.seal(key, plain);
    const edge = etcd.hasText(keys.trimmed, slot.firstSeq - 1);
    const before = etcd.exists(keys.slot(previous));
    const put: etcd.RequestOp = { request_put: { key, value } };
    const look: etcd.RequestOp[] = [key, keys.leader, keys.trimmed].map((one) => ({ request_range: { key: one } }));
    // If the previous slot is missing, the log may have been trimmed up to this slot, or begun here.
    for (const follows of previous > 0 ? [before, edge] : [edge]) {
      const compare = [etcd.createdAt(keys.leader, fence.revision), etcd.createdAt(key, '0'), follows];
      const answer = await this.#untilKnown(
        () => this.client.txn({ compare, success: [put], failure: look }, limits.etcdTryMs),
        signal,
      );
      if (answer.succeeded) return;
      const [there, leader, trimmed] = answer.responses.map(({ response_range: found }) => found!.kvs[0]);
      if (there?.value.equals(value) === true) return;
      const isLeader = leader?.create_revision === fence.revision;
      const isAtEdge = trimmed?.value.toString() === String(slot.firstSeq - 1);
      if (follows === before && isLeader && isAtEdge && there === undefined) continue;
      if (isLeader && there === undefined) throw new LogLostError(slot.firstSeq);
      const what = isLeader ? 'another turn is in the log there' : 'another node leads now';
      throw new OwnerLostError(`the slot at record ${slot.firstSeq} was refused: ${what}`);
    }
  }

  async #untilKnown<R>(call: () => Promise<R>, signal: AbortSignal | undefined): Promise<R> {
    for (;;) {
      try {
        return await call();
      } catch (error) {
        if (!(error instanceof SharedLogUnavailableError) || signal?.aborted === true || this.client.isClosed) {
          throw error;
        }
        await this.client.pause(limits.etcdRetryMs);
      }
    }
  }

  /** Writes under a fence. Rejects with `OwnerLostError` if the fence is no longer valid. */
  async #fenced(
    fence: Fence,
    compare: readonly etcd.Compare[],
    success: readonly etcd.RequestOp[],
  ): Promise<etcd.Header> {
    const holds = etcd.createdAt(this.keys.leader, fence.revision);
    const { header, succeeded } = await this.client.txn({ compare: [holds, ...compare], success });
    if (!succeeded) throw new OwnerLostError('another node leads now');
    return header;
  }

  readonly rotate: SharedLog['rotate'] = () => this.client.rotate();
  readonly prefer: SharedLog['prefer'] = (member) => this.client.prefer(member);
  readonly grantLease: SharedLog['grantLease'] = (id, ttlS) => this.client.grantLease(id, ttlS);
  readonly keepAlive: SharedLog['keepAlive'] = (id, timeoutMs) => this.client.keepAlive(id, timeoutMs);
  readonly revokeLease: SharedLog['revokeLease'] = (id) => this.client.revokeLease(id);

  async campaign({ nodeId, url, since, cause }: Omit<LeaderView, 'fence'>, lease: string): Promise<Fence | null> {
    const { keys } = this;
    const value = Buffer.from(JSON.stringify({ node_id: nodeId, url, since, cause }));
    const answer = await withLease(
      this.client.txn({
        compare: [etcd.createdAt(keys.leader, '0'), etcd.hasLease(keys.node(nodeId), lease)],
        success: [{ request_put: { key: keys.leader, value, lease } }],
        failure: [{ request_range: { key: keys.leader } }],
      }),
    );
    if (answer === null) return null;
    const { header, succeeded, responses } = answer;
    if (succeeded) return { revision: header.revision };
    // An earlier attempt, whose answer was lost, has written the key.
    const found = responses[0]?.response_range?.kvs[0];
    const isOwn = found?.lease === lease && found.value.equals(value);
    return isOwn ? { revision: found!.create_revision } : null;
  }

  async resign(resignation: Resignation): Promise<void> {
    const { leader: key, resigned } = this.keys;
    const success = [{ request_delete_range: { key } }, etcd.putText(resigned, JSON.stringify(resignation))];
    await this.client.txn({ compare: [etcd.createdAt(key, resignation.fence.revision)], success });
  }

  async resigned(): Promise<Resignation | null> {
    const found = await this.#textAt(this.keys.resigned);
    return found === null ? null : JSON.parse(found);
  }

  clusterId(): Promise<string | null> {
    return this.#textAt(this.keys.cluster);
  }

  async #textAt(key: Buffer): Promise<string | null> {
    const { kvs } = await this.client.range({ key });
    return kvs[0]?.value.toString() ?? null;
  }

  /** Rejects with `OwnerLostError` if the fence is no longer valid, or if a log was begun already. */
  async begin(fence: Fence, clusterId: string, trimmed: number): Promise<void> {
    const { keys } = this;
    await this.#fenced(
      fence,
      [etcd.createdAt(keys.cluster, '0')],
      [
        etcd.putText(keys.cluster, clusterId),
        etcd.putText(keys.trimmed, trimmed),
        etcd.putText(keys.floor, trimmed),
        etcd.putText(keys.format, RECORD_FORMAT),
      ],
    );
  }

  async raiseFormat(fence: Fence, format: number): Promise<void> {
    await this.#fenced(fence, [], [etcd.putText(this.keys.format, format)]);
  }

  async hasSecret(): Promise<boolean> {
    const { secret: key } = this.keys;
    for (;;) {
      const { kvs } = await this.client.range({ key });
      if (kvs[0] !== undefined) return this.secret.accepts(kvs[0].value);
      const put = { request_put: { key, value: this.secret.of(randomBytes(PROOF_NONCE_BYTES)) } };
      await withLease(this.client.txn({ compare: [etcd.createdAt(key, '0')], success: [put] }));
    }
  }

  putNode(node: NodeView, lease: string): Promise<NodeView | null> {
    const placing: Promise<NodeView | null> = this.#putNode(node, lease, () => this.#placing !== placing);
    this.#placing = placing;
    return placing;
  }

  /** A call without an answer may be carried out late, and must not undo a newer one: each names what it replaces. */
  async #putNode(node: NodeView, lease: string, isOvertaken: () => boolean): Promise<NodeView | null> {
    const { nodeId, ...said } = node;
    const key = this.keys.node(nodeId);
    const put = { request_put: { key, value: Buffer.from(JSON.stringify(said)), lease } };
    const taken = { request_delete_range: { key: this.keys.refusedNode(lease) } };
    const look = { request_range: { key } };
    for (let tries = 0; tries < 3; tries++) {
      const compare =
        this.#place === null
          ? [etcd.createdAt(key, '0')]
          : [etcd.changedAt(key, this.#place), etcd.hasLease(key, lease)];
      const success = this.#place === null ? [put, taken] : [put];
      const answer = await withLease(this.client.txn({ compare, success, failure: [look] }));
      if (isOvertaken()) return this.#placing;
      if (answer === null) throw new SharedLogUnavailableError('the lease of this node has ended');
      const holder = answer.succeeded ? undefined : answer.responses[0]!.response_range!.kvs[0];
      this.#place = answer.succeeded ? answer.header.revision : (holder?.mod_revision ?? null);
      if (answer.succeeded) return null;
      if (holder !== undefined && holder.lease !== lease) return this.#nodeOf(holder);
    }
    throw new SharedLogUnavailableError('the place of this node changed with each try');
  }

  async putRefused(node: RefusedNode, lease: string): Promise<void> {
    const value = Buffer.from(JSON.stringify(node));
    await withLease(this.client.put({ key: this.keys.refusedNode(lease), value, lease }));
  }

  async refused(): Promise<RefusedNode[]> {
    const { refused: key, refusedEnd } = this.keys;
    const { kvs } = await this.client.range({ key, range_end: refusedEnd });
    return kvs.map(({ value }) => JSON.parse(value.toString()) as RefusedNode);
  }

  async nodes(): Promise<NodeView[]> {
    const { kvs } = await this.client.range({ key: this.keys.nodes, range_end: this.keys.nodesEnd });
    return kvs.map((kv) => this.#nodeOf(kv));
  }

  async scrubbed(): Promise<Scrubbed | null> {
    const found = await this.#textAt(this.keys.scrubbed);
    return found === null ? null : JSON.parse(found);
  }

  async putScrubbed(ended: Scrubbed): Promise<void> {
    await this.client.put({ key: this.keys.scrubbed, value: Buffer.from(JSON.stringify(ended)) });
  }

  async scrubDue(): Promise<number | null> {
    const found = await this.#textAt(this.keys.scrubDue);
    return found === null ? null : Number(found);
  }

  async putScrubDue(seq: number): Promise<void> {
    await this.client.put({ key: this.keys.scrubDue, value: Buffer.from(String(seq)) });
  }

  async clearScrubDue(seq: number): Promise<void> {
    const { scrubDue: key } = this.keys;
    await this.client.txn({ compare: [etcd.hasText(key, seq)], success: [{ request_delete_range: { key } }] });
  }

  async compact(): Promise<void> {
    const { header } = await this.client.range({ key: this.keys.leader, keys_only: true });
    await this.client.compact(header.revision);
  }

  async slotSeqs(from: number, limit: number): Promise<number[]> {
    const range = { key: this.keys.slot(from), range_end: this.keys.logEnd, limit, keys_only: true };
    const { kvs } = await this.client.range(range);
    return kvs.map(({ key }) => this.keys.seqOf(key));
  }

  async trim(fence: Fence, firstSeq: number, floor: number): Promise<void> {
    const { keys } = this;
    const deleted: etcd.RequestOp[] = [
      { request_delete_range: { key: keys.slot(0), range_end: keys.slot(firstSeq) } },
      { request_delete_range: { key: keys.part(0, 0), range_end: keys.part(firstSeq, 0) } },
      etcd.putText(keys.trimmed, firstSeq - 1),
      etcd.putText(keys.floor, floor),
    ];
    // A trim that etcd executes late must not move the boundary back behind that of a newer one.
    const { revision } = await this.#fenced(fence, [etcd.exists(keys.slot(firstSeq))], deleted);
    await this.client.compact(revision);
  }

  /**
   * Writes entries until every member has made a snapshot and begun more files of its write-ahead log than it keeps.
   * Compacts repeatedly, so that the entries do not fill the database. Resolves to the marker as hex, random bytes that
   * were written before the entries: members delete their oldest files first, so once no file contains the marker, no
   * file contains anything older. Reports the number of written entries to `onProgress`.
   */
  async pushWal({ snapshotEntries, files }: WalSettings, onProgress: OnProgress): Promise<string> {
    const { client, keys } = this;
    const marker = randomBytes(limits.walMarkerBytes);
    await client.put({ key: keys.marker, value: marker });
    // If members make snapshots often, the entries are few and long: the files then need more bytes than entries.
    const bytes = Math.ceil((files * limits.walFileBytes) / snapshotEntries);
    const value = randomBytes(Math.min(limits.walFillBytesMax, Math.max(limits.walFillBytes, bytes)));
    const fileEntries = Math.ceil(limits.walFileBytes / value.length);
    const step = Math.ceil(limits.walCompactBytes / value.length);
    const entries = Math.max(snapshotEntries + 2 * fileEntries, (files + 2) * fileEntries);
    let before: string | null = null;
    let atOnce: number = limits.walAtOnceFirst;
    for (let done = 0; done < entries; done += step) {
      onProgress(done, entries);
      const count = Math.min(step, entries - done);
      let left = count;
      const startedAt = performance.now();
      const fill = async (): Promise<void> => {
        while (left > 0) {
          left -= 1;
          await client.put({ key: keys.filler, value }, limits.walPutMs, limits.walPutMs / 2);
        }
      };
      await Promise.all(Array.from({ length: atOnce }, fill));
      const entryMs = ((performance.now() - startedAt) * atOnce) / count;
      if (entryMs > limits.walSlowMs) atOnce = Math.max(limits.walAtOnceMin, atOnce / 2);
      else if (entryMs < limits.walFastMs) atOnce = Math.min(limits.walAtOnceMax, atOnce * 2);
      // Compacts one step behind, so that no watch loses changes that it has not read yet.
      const { header } = await client.range({ key: keys.filler, keys_only: true });
      if (before !== null) await client.compact(before);
      before = header.revision;
    }
    const { header } = await client.txn({
      compare: [],
      success: [keys.filler, keys.marker].map((key) => ({ request_delete_range: { key } })),
    });
    await client.compact(header.revision);
    return marker.toString('hex');
  }
}

function leaderOf({ value, create_revision: revision }: etcd.KeyValue): LeaderView {
  type Written = { readonly node_id: string } & Omit<LeaderView, 'nodeId' | 'fence'>;
  const { node_id: nodeId, ...said } = JSON.parse(value.toString()) as Written;
  return { nodeId, ...said, fence: { revision } };
}

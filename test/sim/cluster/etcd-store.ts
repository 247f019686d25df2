/**
 * The state machine of etcd: keys with their revisions, leases, transactions, watches from a revision on, compaction
 * and quota. It has no network and no time of its own; `recorded-calls.slow.test.ts` compares it with a real etcd.
 */
import { status } from '@grpc/grpc-js';
import type {
  Compare,
  Header,
  KeyValue,
  PutRequest,
  RangeRequest,
  RangeResponse,
  RequestOp,
  TxnRequest,
  TxnResponse,
  WatchResponse,
} from '../../../src/store/etcd/etcd-messages.js';

export type WatchEvents = WatchResponse['events'];

interface Stored {
  readonly value: Buffer;
  readonly createRevision: number;
  readonly modRevision: number;
  readonly lease: string;
}

interface Lease {
  readonly ttlMs: number;
  expiresAt: number;
  readonly keys: Set<string>;
}

/** The events of one revision. */
interface Change {
  readonly revision: number;
  readonly events: WatchEvents;
}

/** An error with the code of etcd, as the client of etcd rejects with. */
export class EtcdError extends Error {
  readonly code: status;

  constructor(code: status, message: string) {
    super(message);
    this.code = code;
  }
}

const none: Header = { revision: '0', member_id: '1' };
/** Bytes that a revision occupies beside its key and value. */
const entryBytes = 64;

export class EtcdStore {
  readonly #keys = new Map<string, Stored>();
  /** All keys in their order. */
  #sorted: string[] = [];
  readonly #leases = new Map<string, Lease>();
  #changes: Change[] = [];
  #revision = 1;
  #compacted = 0;
  /** True once the database reached its quota: etcd then refuses all that needs room. */
  isFull = false;
  readonly #now: () => number;

  /** `now` in ms, which only the leases use. */
  constructor(now: () => number) {
    this.#now = now;
  }

  get revision(): number {
    return this.#revision;
  }

  /** Bytes of the values that a compaction has not removed. */
  get bytes(): number {
    let bytes = 0;
    for (const [key, { value }] of this.#keys) bytes += key.length + value.length + entryBytes;
    for (const { events } of this.#changes) {
      for (const { kv } of events) bytes += kv.key.length + kv.value.length + entryBytes;
    }
    return bytes;
  }

  get isCompactable(): boolean {
    return this.#compacted < this.#revision;
  }

  get #header(): Header {
    return { ...none, revision: String(this.#revision) };
  }

  range({ key, range_end: end, limit = 0, keys_only: keysOnly = false }: RangeRequest): RangeResponse {
    const found = this.#keysIn(key, end);
    const kvs = (limit === 0 ? found : found.slice(0, limit)).map((name) => this.#kv(name, keysOnly));
    return { header: this.#header, kvs, more: kvs.length < found.length, count: String(found.length) };
  }

  put(request: PutRequest): object {
    this.#demandRoom();
    this.#demandLease(request);
    this.#revision += 1;
    const events = [this.#put(request)];
    this.#changes.push({ revision: this.#revision, events });
    return { header: this.#header };
  }

  txn({ compare, success, failure = [] }: TxnRequest): TxnResponse {
    // etcd refuses the whole transaction, whichever of its branches would run.
    const puts = [...success, ...failure].flatMap((op) => ('request_put' in op ? [op.request_put] : []));
    if (puts.length > 0) this.#demandRoom();
    const succeeded = compare.every((one) => this.#holds(one));
    const ops = succeeded ? success : failure;
    for (const op of ops) if ('request_put' in op) this.#demandLease(op.request_put);
    const events: WatchEvents[number][] = [];
    this.#revision += 1;
    const responses = ops.map((op) => this.#apply(op, events));
    if (events.length === 0) this.#revision -= 1;
    else this.#changes.push({ revision: this.#revision, events });
    const header = this.#header;
    const answered = responses.map((range) => (range === null ? {} : { response_range: { ...range, header } }));
    return { header, succeeded, responses: answered };
  }

  #apply(op: RequestOp, events: WatchEvents[number][]): RangeResponse | null {
    if ('request_range' in op) return this.range(op.request_range);
    if ('request_put' in op) {
      (events as unknown[]).push(this.#put(op.request_put));
      return null;
    }
    const { key, range_end: end } = op.request_delete_range;
    for (const name of this.#keysIn(key, end)) (events as unknown[]).push(this.#delete(name));
    return null;
  }

  compact(revision: string): void {
    const at = Number(revision);
    if (at <= this.#compacted) throw new EtcdError(status.OUT_OF_RANGE, 'required revision has been compacted');
    if (at > this.#revision) throw new EtcdError(status.OUT_OF_RANGE, 'required revision is a future revision');
    this.#compacted = at;
    this.#changes = this.#changes.filter((change) => change.revision > at);
  }

  grantLease(id: string, ttlS: number): void {
    this.#demandRoom();
    if (this.#leases.has(id)) throw new EtcdError(status.FAILED_PRECONDITION, 'lease already exists');
    this.#leases.set(id, { ttlMs: ttlS * 1000, expiresAt: this.#now() + ttlS * 1000, keys: new Set() });
  }

  /** Returns the seconds for which the lease is valid; 0 if it has ended. */
  keepAlive(id: string): number {
    const lease = this.#leases.get(id);
    if (lease === undefined) return 0;
    lease.expiresAt = this.#now() + lease.ttlMs;
    return lease.ttlMs / 1000;
  }

  revokeLease(id: string): void {
    const lease = this.#leases.get(id);
    if (lease === undefined) throw new EtcdError(status.NOT_FOUND, 'requested lease not found');
    this.#leases.delete(id);
    if (lease.keys.size === 0) return;
    this.#revision += 1;
    const events = [...lease.keys].sort().map((name) => this.#delete(name));
    this.#changes.push({ revision: this.#revision, events });
  }

  /** Ends the leases whose time is over. */
  expire(): void {
    for (const [id, { expiresAt }] of this.#leases) if (expiresAt <= this.#now()) this.revokeLease(id);
  }

  /** A new leader of etcd gives every lease its whole time again. */
  renewLeases(): void {
    for (const lease of this.#leases.values()) lease.expiresAt = this.#now() + lease.ttlMs;
  }

  /** Returns the changes of a range since `revision`, one answer a revision; null if they were compacted. */
  changes(key: Buffer, rangeEnd: Buffer, revision: number): Change[] | null {
    if (revision <= this.#compacted) return null;
    const [from, to] = [nameOf(key), nameOf(rangeEnd)];
    return this.#changes.flatMap((change) => {
      if (change.revision < revision) return [];
      const events = change.events.filter(({ kv }) => {
        const name = nameOf(kv.key);
        return name >= from && name < to;
      });
      return events.length === 0 ? [] : [{ revision: change.revision, events }];
    });
  }

  #demandRoom(): void {
    if (this.isFull) throw new EtcdError(status.RESOURCE_EXHAUSTED, 'etcdserver: mvcc: database space exceeded');
  }

  #demandLease({ lease = '0' }: PutRequest): void {
    if (lease === '0' || this.#leases.has(lease)) return;
    throw new EtcdError(status.NOT_FOUND, 'etcdserver: requested lease not found');
  }

  #holds(compare: Compare): boolean {
    const stored = this.#keys.get(nameOf(compare.key));
    if (compare.target === 'VALUE') return stored?.value.equals(compare.value) ?? false;
    if (compare.target === 'LEASE') return (stored?.lease ?? '0') === compare.lease;
    if (compare.target === 'MOD') return String(stored?.modRevision ?? 0) === compare.mod_revision;
    const [is, than] = [stored?.createRevision ?? 0, Number(compare.create_revision)];
    return compare.result === 'EQUAL' ? is === than : is > than;
  }

  #put({ key, value, lease = '0' }: PutRequest): WatchEvents[number] {
    const name = nameOf(key);
    const before = this.#keys.get(name);
    if (before === undefined) this.#sorted.splice(this.#indexOf(name), 0, name);
    else this.#leases.get(before.lease)?.keys.delete(name);
    this.#leases.get(lease)?.keys.add(name);
    const createRevision = before?.createRevision ?? this.#revision;
    this.#keys.set(name, { value: Buffer.from(value), createRevision, modRevision: this.#revision, lease });
    return { type: 'PUT', kv: this.#kv(name, false) };
  }

  #delete(name: string): WatchEvents[number] {
    this.#leases.get(this.#keys.get(name)!.lease)?.keys.delete(name);
    this.#keys.delete(name);
    this.#sorted.splice(this.#indexOf(name), 1);
    const gone = { value: Buffer.alloc(0), create_revision: '0', mod_revision: String(this.#revision), lease: '0' };
    return { type: 'DELETE', kv: { key: keyOf(name), ...gone } };
  }

  #kv(name: string, keysOnly: boolean): KeyValue {
    const { value, createRevision, modRevision, lease } = this.#keys.get(name)!;
    return {
      key: keyOf(name),
      value: keysOnly ? Buffer.alloc(0) : value,
      create_revision: String(createRevision),
      mod_revision: String(modRevision),
      lease,
    };
  }

  #keysIn(key: Buffer, end: Buffer | undefined): string[] {
    const name = nameOf(key);
    if (end === undefined) return this.#keys.has(name) ? [name] : [];
    return this.#sorted.slice(this.#indexOf(name), this.#indexOf(nameOf(end)));
  }

  /** Returns the index of the first key at or after `name`. */
  #indexOf(name: string): number {
    let low = 0;
    let high = this.#sorted.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.#sorted[middle]! < name) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

/** Strings in Latin-1 have the order of their bytes. */
const nameOf = (key: Buffer): string => key.toString('latin1');

const keyOf = (name: string): Buffer => Buffer.from(name, 'latin1');

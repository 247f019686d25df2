/**
 * Members of a model of etcd on virtual time, and the network between them and the nodes: calls that fail, hang, are
 * executed late, or are executed and lose their answer; members that stop; a lost leader; watches that lag.
 */
import { status } from '@grpc/grpc-js';
import type { Timers } from '../../../src/group/ports/clock.js';
import { SharedLogUnavailableError } from '../../../src/group/ports/shared-log.js';
import { limits } from '../../../src/limits.js';
import { written } from '../../../src/store/etcd/etcd-client.js';
import type { EtcdCalls } from '../../../src/store/etcd/etcd-log.js';
import type {
  PutRequest,
  RangeRequest,
  RangeResponse,
  TxnRequest,
  TxnResponse,
  WatchResponse,
} from '../../../src/store/etcd/etcd-messages.js';
import type { Random } from '../../support/random.js';
import type { VirtualTime } from '../../support/virtual-time.js';
import { EtcdError, EtcdStore } from './etcd-store.js';

const passing: ReadonlySet<unknown> = new Set([status.UNAVAILABLE, status.DEADLINE_EXCEEDED]);
const header = (revision: number) => ({ revision: String(revision), member_id: '1' });

interface Member {
  /** A stopped member refuses connections; a paused one is silent. */
  state: 'up' | 'down' | 'paused';
  /** Requests that came while the member was paused, and what its watches have to send. */
  waiting: (() => void)[];
}

/** How the network treats the calls of one node. */
export interface Link {
  /** Parts of the calls that never arrive, that arrive late, whose answer is late, and whose answer is lost. */
  lost: number;
  late: number;
  lateAnswers: number;
  unanswered: number;
  /** Nothing passes. */
  isCut: boolean;
}

export class EtcdModel {
  readonly store: EtcdStore;
  readonly members: readonly Member[];
  readonly time: VirtualTime;
  readonly random: Random;
  readonly #count: (fault: string) => void;
  /** Called after each change, with the node that asked for it; null for an expired lease. */
  onChange: (nodeId: string | null) => void = () => undefined;
  #leaderless = false;
  /** Requests that wait for a leader of etcd. */
  #waiting: (() => void)[] = [];
  readonly #watches = new Set<() => void>();

  constructor(count: number, time: VirtualTime, random: Random, onFault: (fault: string) => void) {
    this.time = time;
    this.random = random;
    this.#count = onFault;
    this.store = new EtcdStore(() => time.elapsed());
    this.members = Array.from({ length: count }, () => ({ state: 'up', waiting: [] }));
    this.#expireLeases();
  }

  get hasQuorum(): boolean {
    return !this.#leaderless && 2 * this.members.filter(({ state }) => state === 'up').length > this.members.length;
  }

  setMember(at: number, state: Member['state']): void {
    const member = this.members[at]!;
    const had = this.hasQuorum;
    member.state = state;
    if (state === 'down') member.waiting = [];
    if (state === 'up') for (const act of member.waiting.splice(0)) act();
    if (!had && this.hasQuorum) this.#elected();
  }

  loseLeader(): void {
    this.#leaderless = true;
  }

  electLeader(): void {
    this.#leaderless = false;
    if (this.hasQuorum) this.#elected();
  }

  #elected(): void {
    this.store.renewLeases();
    for (const act of this.#waiting.splice(0)) act();
  }

  #expireLeases(): void {
    this.time.later(() => this.#expireLeases(), 100);
    if (!this.hasQuorum) return;
    const { revision } = this.store;
    this.store.expire();
    if (this.store.revision !== revision) this.changed(null);
  }

  changed(nodeId: string | null): void {
    this.onChange(nodeId);
    for (const wake of this.#watches) wake();
  }

  count(fault: string): void {
    this.#count(fault);
  }

  /** Calls `act` once the member executes a request that arrives now; `refuse` if it refuses the connection. */
  reach(at: number, act: () => void, refuse: () => void): void {
    const member = this.members[at]!;
    const again = (): void => this.reach(at, act, refuse);
    if (member.state === 'down') refuse();
    else if (member.state === 'paused') member.waiting.push(again);
    else if (this.hasQuorum) act();
    else this.#waiting.push(again);
  }

  /** Calls `wake` after each change, until the returned function is called. */
  subscribe(wake: () => void): () => void {
    this.#watches.add(wake);
    return () => this.#watches.delete(wake);
  }
}

/** The client of one process of a node. It repeats calls at other members as the real client does. */
export class ModelClient implements EtcdCalls {
  readonly #etcd: EtcdModel;
  readonly #nodeId: string;
  readonly #timers: Pick<Timers, 'elapsed' | 'later'>;
  readonly #link: Link;
  readonly #first: number;
  #current: number;
  isClosed = false;

  /** `timers` are those of the process: a paused or dead process receives no answer. */
  constructor(etcd: EtcdModel, nodeId: string, first: number, link: Link, timers: Pick<Timers, 'elapsed' | 'later'>) {
    this.#etcd = etcd;
    this.#nodeId = nodeId;
    this.#link = link;
    this.#timers = timers;
    this.#first = first % etcd.members.length;
    this.#current = this.#first;
  }

  range(request: RangeRequest, timeoutMs: number = limits.etcdCallMs): Promise<RangeResponse> {
    return this.#call(timeoutMs, limits.etcdTryMs, ({ store }) => store.range(request));
  }

  put(request: PutRequest, timeoutMs: number = limits.etcdCallMs, tryMs: number = limits.etcdTryMs): Promise<object> {
    return written(this.#call(timeoutMs, tryMs, ({ store }) => store.put(request)));
  }

  txn(request: TxnRequest, timeoutMs: number = limits.etcdCallMs): Promise<TxnResponse> {
    return written(this.#call(timeoutMs, limits.etcdTryMs, ({ store }) => store.txn(request)));
  }

  compact(revision: string): Promise<void> {
    return this.#call(limits.etcdSlowCallMs, limits.etcdSlowCallMs, ({ store }) => store.compact(revision)).catch(
      (error: unknown) => unless(error, status.OUT_OF_RANGE),
    );
  }

  grantLease(id: string, ttlS: number): Promise<void> {
    return this.#call(limits.etcdCallMs, limits.etcdTryMs, ({ store }) => store.grantLease(id, ttlS)).catch(
      (error: unknown) => unless(error, status.FAILED_PRECONDITION),
    );
  }

  revokeLease(id: string): Promise<void> {
    return this.#call(limits.etcdCallMs, limits.etcdTryMs, ({ store }) => store.revokeLease(id)).catch(
      (error: unknown) => unless(error, status.NOT_FOUND),
    );
  }

  keepAlive(id: string, timeoutMs: number): Promise<number> {
    return this.#call(timeoutMs, limits.etcdTryMs, ({ store }) => store.keepAlive(id));
  }

  watch(
    { key, rangeEnd, revision }: { readonly key: Buffer; readonly rangeEnd: Buffer; readonly revision: string },
    heard: (response: WatchResponse) => void,
    ended: (error: unknown) => void,
  ): () => void {
    const at = this.#current;
    let next = Number(revision);
    let isOver = false;
    let isPlanned = false;
    const end = (error: unknown) => {
      if (isOver) return;
      stop();
      ended(error);
    };
    // The changes of a watch arrive in order, after a delay that may be long.
    const look = () => {
      isPlanned = false;
      const { store, members } = this.#etcd;
      const { state } = members[at]!;
      if (isOver || this.#link.isCut || state === 'paused') return;
      if (state === 'down') return void this.#timers.later(() => end(refused()), 1);
      const changes = store.changes(key, rangeEnd, next);
      if (changes === null) return void this.#timers.later(() => end(refused()), 1);
      const last = changes.at(-1);
      if (last === undefined) return;
      next = last.revision + 1;
      const answers = changes.map((one): WatchResponse => {
        return { header: header(one.revision), created: false, canceled: false, events: one.events };
      });
      this.#timers.later(() => {
        if (!isOver) for (const answer of answers) heard(answer);
      }, 1);
    };
    const plan = () => {
      if (isPlanned || isOver) return;
      isPlanned = true;
      const isLate = this.#etcd.random.next() < this.#link.late;
      if (isLate) this.#etcd.count('late watches');
      this.#etcd.time.later(look, isLate ? this.#etcd.random.below(2_000) : 1 + this.#etcd.random.below(4));
    };
    const unsubscribe = this.#etcd.subscribe(plan);
    const stop = () => {
      isOver = true;
      unsubscribe();
    };
    plan();
    return stop;
  }

  rotate(): void {
    this.#avoid(this.#current);
  }

  prefer(endpoint: number | null): void {
    this.#current = endpoint ?? this.#first;
  }

  pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      this.#timers.later(resolve, ms);
    });
  }

  #avoid(at: number): void {
    if (this.#current === at) this.#current = (at + 1) % this.#etcd.members.length;
  }

  async #call<R>(timeoutMs: number, tryMs: number, execute: (etcd: EtcdModel) => R): Promise<R> {
    const endMs = this.#timers.elapsed() + timeoutMs;
    for (let tries = 1; ; tries += 1) {
      const at = this.#current;
      if (this.isClosed) throw new SharedLogUnavailableError('this node is stopping and no longer calls etcd');
      try {
        return await this.#attempt(at, Math.max(1, Math.min(tryMs, endMs - this.#timers.elapsed())), execute);
      } catch (error) {
        if (!(error instanceof EtcdError) || !passing.has(error.code)) throw error;
        this.#avoid(at);
        if (this.#timers.elapsed() >= endMs) throw unavailable(error);
        if (tries % this.#etcd.members.length === 0) await this.pause(limits.etcdRetryMs);
        if (this.#timers.elapsed() >= endMs) throw unavailable(error);
      }
    }
  }

  #attempt<R>(at: number, tryMs: number, execute: (etcd: EtcdModel) => R): Promise<R> {
    const { random, time } = this.#etcd;
    return new Promise((resolve, reject) => {
      const endWait = this.#timers.later(
        () => reject(new EtcdError(status.DEADLINE_EXCEEDED, 'the member does not answer')),
        tryMs,
      );
      const answer = (act: () => void) => {
        if (this.#link.isCut) return;
        this.#timers.later(() => {
          endWait();
          act();
        }, answerMs);
      };
      const link = this.#link;
      const happens = (part: number, what: string): boolean => {
        if (part === 0 || random.next() >= part) return false;
        this.#etcd.count(what);
        return true;
      };
      if (link.isCut || happens(link.lost, 'lost calls')) return;
      const isLate = happens(link.late, 'late calls');
      const isUnanswered = happens(link.unanswered, 'lost answers');
      const answerMs = 1 + random.below(happens(link.lateAnswers, 'late answers') ? 1_000 : 3);
      const arrive = () =>
        this.#etcd.reach(
          at,
          () => {
            const { revision } = this.#etcd.store;
            try {
              const result = execute(this.#etcd);
              if (this.#etcd.store.revision !== revision) this.#etcd.changed(this.#nodeId);
              if (!isUnanswered) answer(() => resolve(result));
            } catch (error) {
              answer(() => reject(error));
            }
          },
          () => answer(() => reject(refused())),
        );
      // A request may be in transit for longer than its caller waits, and is executed nevertheless.
      time.later(arrive, isLate ? random.below(6_000) : 1 + random.below(3));
    });
  }
}

const refused = (): EtcdError => new EtcdError(status.UNAVAILABLE, 'the member refuses the connection');

function unavailable(error: Error): SharedLogUnavailableError {
  return new SharedLogUnavailableError(`etcd does not answer: ${error.message}`, { cause: error });
}

function unless(error: unknown, code: status): void {
  if (!(error instanceof EtcdError) || error.code !== code) throw error;
}

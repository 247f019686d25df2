/**
 * One life of a simulated cluster from one seed: callers write and read while faults happen; then all faults end, and
 * the nodes must agree. Any broken invariant ends the life.
 */
import { hash } from 'node:crypto';
import { BatchWriter, chainStart } from '../../../src/core/records/batch.js';
import type { Outcome } from '../../../src/errors.js';
import type { EventSubmission } from '../../../src/group/api.js';
import { lastSeqOf } from '../../../src/group/recovery/recovery.js';
import { limits } from '../../../src/limits.js';
import { etcdKeys } from '../../../src/store/etcd/etcd-keys.js';
import { SlotCipher } from '../../../src/store/etcd/slot-codec.js';
import { Given, salt, subjectKeyOf, subjectOf, t0 } from '../../support/given.js';
import { MemoryLog } from '../../support/memory-log.js';
import { MemorySnapshotStore } from '../../support/memory-snapshots.js';
import { Random } from '../../support/random.js';
import { VirtualTime } from '../../support/virtual-time.js';
import { Difference, LifeOutcome } from '../difference.js';
import { withBounds } from '../profile.js';
import { World } from '../world.js';
import { EtcdModel } from './etcd-model.js';
import { type FaultName, faults, goodLink, goodNetwork, linkOf } from './faults.js';
import { History } from './history.js';
import { type NodeDisk, SimNode } from './sim-node.js';

const peers = 3;
const players = 12;
/** How long the nodes may take to agree once all faults have ended. */
const quietMs = 300_000;
const prefix = '/sim/';

export interface LifeOptions {
  readonly seed: number;
  /** Virtual ms during which faults happen. */
  readonly ms?: number;
  /** The faults that happen; default: all in half of the seeds, a few in the others. */
  readonly only?: readonly FaultName[];
  /** Called with what the nodes note, for whoever looks into a seed. */
  readonly note?: (text: string) => void;
}

export interface LifeResult {
  readonly difference: Difference | null;
  /** Virtual ms at which it was found, or at the end. */
  readonly atMs: number;
  readonly counts: ReadonlyMap<string, number>;
}

export function live(options: LifeOptions): Promise<LifeResult> {
  const random = new Random(hash('sha256', `bounds ${options.seed}`, 'buffer').readUInt32LE(0));
  const bounds = {
    slotsRetained: random.pick([0, 2, 20]),
    slotsRead: random.pick([2, 8, 64]),
    trimEveryMs: random.pick([500, 2_000]),
    etcdCompactEveryMs: 5_000,
    linkForwardsMax: random.pick([3, limits.linkForwardsMax]),
    linkFirstForwardsMax: random.pick([1, limits.linkFirstForwardsMax]),
    stepDownMs: 3_000,
  };
  return withBounds(bounds, () => new Life(options).run());
}

class Life {
  readonly time = new VirtualTime();
  readonly random: Random;
  readonly etcd: EtcdModel;
  readonly #world: World;
  readonly disks: NodeDisk[];
  readonly nodes: SimNode[] = [];
  /** Links between nodes that pass nothing. */
  readonly cutLinks = new Set<string>();
  /** How the links between nodes treat what they carry. */
  readonly network = { ...goodNetwork };
  readonly #options: LifeOptions;
  readonly #keys = etcdKeys(prefix);
  readonly #cipher = new SlotCipher(salt, 'sim');
  readonly #history: History;
  readonly #leaseS: number;
  readonly #faultEveryMs: number;
  readonly #faults: readonly FaultName[];
  readonly #outcome = new LifeOutcome();
  #isQuiet = false;
  #eventNumber = 0;
  /** Per player, how often an erasure was asked for: who is erased comes back under another name. */
  readonly #erased = new Array<number>(players).fill(0);
  #writing = 0;

  constructor(options: LifeOptions) {
    this.#options = options;
    this.random = new Random(hash('sha256', `cluster ${options.seed}`, 'buffer').readUInt32LE(0));
    const { random, time } = this;
    this.#world = new World(options.seed, t0);
    this.etcd = new EtcdModel(random.pick([1, 3, 3, 5]), time, random, (fault) => this.#countFault(fault));
    this.#leaseS = random.pick([2, 3, 3, 5]);
    // An erasure is complete only while hardly anything fails.
    this.#faults = options.only ?? someFaults(random);
    this.#faultEveryMs = random.pick([250, 600, 600, 5_000]);
    const first = formedLog();
    this.#history = new History(this.etcd, this.#keys, this.#cipher, first, (id) => {
      const { log, lostSeq } = this.disks.find(({ nodeId }) => nodeId === id)!;
      return Math.max(lastSeqOf(log), lostSeq);
    });
    this.#beginLog();
    this.etcd.onChange = (writer) => void this.#outcome.guard(() => this.#history.changed(writer));
    const count = 3 + random.below(3);
    this.disks = Array.from({ length: count }, (_, i) => ({
      nodeId: `n${i}`,
      link: { ...goodLink, isCut: false },
      log: i === 0 ? first : formedLog(),
      snapshots: new MemorySnapshotStore(),
      hasDiverged: false,
      lostSeq: 0,
      clockAheadMs: 0,
      commitFault: null,
    }));
  }

  #countFault(name: string): void {
    for (const what of [name, 'faults']) this.#outcome.count(what);
  }

  /** The state of a shared log to which a folder was imported. */
  #beginLog(): void {
    for (const key of [this.#keys.trimmed, this.#keys.floor]) {
      this.etcd.store.put({ key, value: Buffer.from(String(this.#history.lastSeq)) });
    }
    this.etcd.store.put({ key: this.#keys.cluster, value: Buffer.from('sim') });
  }

  async run(): Promise<LifeResult> {
    const { ms = 60_000 } = this.#options;
    await this.#outcome.during(async () => {
      this.disks.forEach((_, i) => {
        this.startNode(i);
      });
      await this.#pass(5_000);
      this.#write();
      this.#erase();
      this.#read();
      this.#break();
      await this.#pass(ms);
      this.#isQuiet = true;
      this.#heal();
      await this.#agree();
    });
    for (const node of this.nodes) node.kill();
    const { difference, counts } = this.#outcome;
    return { difference, atMs: Math.round(this.time.elapsed()), counts };
  }

  startNode(i: number): void {
    const disk = this.disks[i]!;
    const node: SimNode = new SimNode({
      disk,
      etcd: this.etcd,
      keys: this.#keys,
      cipher: this.#cipher,
      time: this.time,
      random: this.random,
      world: this.#world,
      network: this.network,
      count: (fault) => this.#countFault(fault),
      find: (url) => {
        const at = this.disks.findIndex(({ nodeId }) => nodeId === url);
        if (this.cutLinks.has(linkOf(i, at))) return undefined;
        return this.nodes[at]?.process.isDead === false ? this.nodes[at] : null;
      },
      leaseS: this.#leaseS,
      others: () =>
        this.nodes.filter((other, at) => at !== i && !other.process.isDead && !this.cutLinks.has(linkOf(i, at))),
      onEnd: (reason) => {
        this.note(`${disk.nodeId}: ${reason}`);
        this.#outcome.count('restarts of their own');
        this.killNode(i, 500);
      },
      onLeft: () => {
        this.time.later(() => {
          if (this.nodes[i] === node) this.killNode(i, 100);
        }, 2_000);
      },
      onDefect: (error) => this.#outcome.found(error),
      note: (text) => this.note(text),
    });
    this.nodes[i] = node;
    void node.start();
  }

  /** True if a node is in the cluster and lacks no record that the shared log lacks. */
  holdsLog(at: number): boolean {
    const { isUp, hasLeft, member } = this.nodes[at]!;
    const isIn = isUp && !hasLeft && (member.role === 'follower' || member.role === 'leader');
    return isIn && lastSeqOf(this.disks[at]!.log) >= this.#history.trimmedSeq;
  }

  /** Ends the process of a node, which starts again after `ms`. */
  killNode(i: number, ms: number): void {
    const node = this.nodes[i]!;
    node.kill();
    this.time.later(() => {
      if (this.nodes[i] === node) this.startNode(i);
    }, ms);
  }

  note(text: string): void {
    this.#options.note?.(`${Math.round(this.time.elapsed())} ${text}`);
  }

  async #pass(ms: number): Promise<void> {
    const endAt = this.time.elapsed() + ms;
    while (this.time.elapsed() < endAt) {
      await this.time.step();
      this.#history.checkLeaders(this.nodes);
      if (this.#outcome.difference !== null) throw this.#outcome.difference;
    }
  }

  #write(): void {
    if (this.#isQuiet) return;
    const burst = this.random.below(10) === 0 ? 8 : 1;
    for (let i = 0; i < burst; i++) void this.#submit(this.#event());
    this.time.later(() => this.#write(), 20 + this.random.below(300));
  }

  #event(): EventSubmission {
    const { random } = this;
    const number = this.#eventNumber++;
    return {
      schemaVersion: '1.0.0',
      eventId: `event-${number}`,
      eventType: random.pick(['report_cheating', 'commendation', 'report_toxicity'] as const),
      peerId: `peer-${random.below(peers)}`,
      subject: subjectKeyOf(this.#nameOf(random.below(players))),
      gameId: 'g1',
      severity: 1 + random.below(3),
      timestamp: t0 - 1_000 * number,
    };
  }

  /** Sends an event as a client does: to another node after a failure, with the same id. */
  async #submit(event: EventSubmission): Promise<void> {
    this.#writing += 1;
    try {
      let isUnknown = false;
      // A refusal is only known to be true of a command that is not sent again.
      const triesMax = this.random.pick([1, 6]);
      for (let tries = 0; tries < triesMax; tries++) {
        const code = await this.#submitOnce(event, this.nodes[this.random.below(this.nodes.length)]!);
        if (code === 'ok' || (code === 'duplicate_event' && isUnknown)) {
          this.#history.acknowledged(event.eventId);
          this.#outcome.count(code === 'ok' ? 'acknowledged' : 'acknowledged by a repeat');
          return;
        }
        if (code === 'duplicate_event') throw new Difference('once', `${event.eventId} was refused as a duplicate`);
        isUnknown ||= code === 'unknown';
        if (code !== 'unknown' && code !== 'dependency_unavailable' && code !== 'no_leader' && code !== 'overloaded') {
          throw new Difference('refused', `${event.eventId} was refused with ${code}`);
        }
        await new Promise<void>((resolve) => {
          this.time.later(resolve, 200 + this.random.below(1_500));
        });
      }
      if (!isUnknown) this.#history.refused(event.eventId);
      this.#outcome.count(isUnknown ? 'given up' : 'refused as not recorded');
    } catch (error) {
      this.#outcome.found(error);
    } finally {
      this.#writing -= 1;
    }
  }

  #nameOf(player: number): string {
    return `player ${player} ${this.#erased[player]}`;
  }

  #erase(): void {
    if (!this.#isQuiet) this.time.later(() => this.#erase(), 1_000 + this.random.below(6_000));
    const player = this.random.below(players);
    const subject = subjectOf(this.#nameOf(player));
    this.#erased[player]! += 1;
    void this.#eraseAt(subject, this.random.pick(this.nodes));
  }

  async #eraseAt(subject: Uint8Array, node: SimNode): Promise<void> {
    const code = await this.#ask(node, () => node.erase(subject), 60_000);
    this.#outcome.count(code === 'ok' ? 'erasures answered' : 'erasures of which the outcome is not known');
    if (code === 'ok') void this.#outcome.guard(() => this.#history.checkErased(subject, this.nodes, this.disks));
  }

  #submitOnce(event: EventSubmission, node: SimNode): Promise<string> {
    return this.#ask(node, () => node.submit(event), 5_000);
  }

  /** Resolves to `ok`, the code of the refusal, or `unknown`: if the answer says so, and after `patienceMs`. */
  #ask(node: SimNode, ask: () => Promise<Outcome<unknown>>, patienceMs: number): Promise<string> {
    return new Promise((resolve) => {
      this.time.later(() => resolve('unknown'), patienceMs);
      if (!node.isUp) return;
      node.process.later(() => {
        ask().then(
          (outcome) => this.time.later(() => resolve(codeOf(outcome)), 1),
          (error: unknown) => this.#outcome.found(error),
        );
      }, 1);
    });
  }

  #read(): void {
    if (this.#isQuiet) return;
    this.time.later(() => this.#read(), 50 + this.random.below(200));
    const node = this.random.pick(this.nodes);
    void this.#outcome.guard(() => this.#history.checkStaleness([node]));
    if (!node.isUp || this.random.below(3) > 0) return;
    const { acknowledgedSeq } = this.#history;
    const { process } = node;
    void node.member.refresh().then((isFresh) => {
      if (!isFresh || !process.isRunning) return;
      this.#outcome.count('fresh reads');
      const { appliedSeq } = node.site;
      if (appliedSeq < acknowledgedSeq) {
        this.#outcome.found(
          new Difference(
            'fresh',
            `${node.nodeId} shows record ${appliedSeq}, though ${acknowledgedSeq} was acknowledged`,
          ),
        );
      }
    });
  }

  #break(): void {
    if (this.#isQuiet) return;
    this.time.later(() => this.#break(), this.random.below(this.#faultEveryMs));
    const name = this.random.pick(this.#faults);
    this.note(`fault: ${name}`);
    this.#countFault(name);
    faults[name](this);
  }

  /** Ends every fault. */
  #heal(): void {
    this.cutLinks.clear();
    Object.assign(this.network, goodNetwork);
    this.etcd.store.isFull = false;
    this.etcd.members.forEach((_, at) => {
      this.etcd.setMember(at, 'up');
    });
    this.etcd.electLeader();
    for (const [i, disk] of this.disks.entries()) {
      Object.assign(disk.link, goodLink, { isCut: false });
      disk.clockAheadMs = 0;
      disk.commitFault = null;
      this.nodes[i]!.process.resume();
      void this.nodes[i]!.setDiskLow(false);
    }
    this.etcd.changed(null);
    this.#erase();
  }

  async #agree(): Promise<void> {
    const endAt = this.time.elapsed() + quietMs;
    const isAgreed = () =>
      this.#writing === 0 &&
      this.nodes.filter(({ process, member }) => process.isRunning && member.isLeader).length === 1 &&
      this.nodes.every(({ isUp, hasLeft, site, member, loop }) => {
        if (!isUp || loop.state.erasures.size > 0 || !loop.actor.isSettled) return false;
        const hasAll = site.appliedSeq === this.#history.lastSeq && site.durableSeq === site.appliedSeq;
        return !hasLeft && hasAll && (member.isLeader || member.role === 'follower');
      });
    while (!isAgreed()) {
      if (this.time.elapsed() > endAt) throw new Difference('liveness', `no agreement: ${this.#unrest()}`);
      await this.#pass(100);
      void this.#outcome.guard(() => this.#history.checkStaleness(this.nodes));
    }
    this.#history.checkEnd(this.nodes, this.disks);
  }

  #unrest(): string {
    const states = this.nodes.map(({ nodeId, isUp, hasLeft, site, member }) => {
      const state = hasLeft ? 'has left' : isUp ? member.role : 'down';
      return `${nodeId} ${state} at ${site.appliedSeq} (${site.durableSeq} stored)`;
    });
    return `${states.join(', ')} of ${this.#history.lastSeq}, ${this.#writing} callers wait`;
  }
}

function codeOf(outcome: Outcome<unknown>): string {
  if (outcome.ok) return 'ok';
  const { details = {}, code } = outcome;
  return 'recorded' in details ? 'unknown' : code;
}

/** Returns all faults, or a few: a combination that needs one fault after the other is rare among all of them. */
function someFaults(random: Random): readonly FaultName[] {
  const all = Object.keys(faults) as FaultName[];
  return random.below(2) === 0 ? all : Array.from({ length: 2 + random.below(3) }, () => random.pick(all));
}

/** The log of a formed group with its peers. */
function formedLog(): MemoryLog {
  const given = new Given().peers(peers);
  const batch = new BatchWriter();
  for (const { record } of given.records) batch.add(record);
  const sealed = batch.seal(1, t0, new Uint8Array(16), chainStart);
  const log = new MemoryLog();
  void log.acquire().append({ firstSeq: 1, bytes: sealed.bytes }, []);
  return log;
}

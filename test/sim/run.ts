/**
 * Takes the steps of a plan one by one against a simulated node, and compares it with the oracle; any difference ends
 * the run.
 */
import { createHash, type Hash, hash } from 'node:crypto';
import { BatchWriter, chainStart } from '../../src/core/records/batch.js';
import type { GroupFormed } from '../../src/core/records/records.js';
import { stateDigest } from '../../src/core/snapshot/state-digest.js';
import type { WeightsWithSignals } from '../../src/group/ports/pool.js';
import type { ExpectedHead } from '../../src/group/recovery/verification.js';
import { formedRecord, t0 } from '../support/given.js';
import { MemoryLog } from '../support/memory-log.js';
import { MemorySnapshotStore } from '../support/memory-snapshots.js';
import { Random } from '../support/random.js';
import { AuditTrail } from './audit-trail.js';
import { Calls } from './calls.js';
import { checkErased, checkErasedEvents, checkReplay, checkRetired, checkStore } from './checks.js';
import { Difference, LifeOutcome } from './difference.js';
import { Ledger } from './ledger.js';
import { Oracle } from './oracle.js';
import { halfLivesAtFirst, rulesOf, withBounds } from './profile.js';
import { SimNode } from './sim-node.js';
import { isOperation, type Plan, peerId, type Restart, type Step } from './steps.js';
import { type Disk, damageSnapshot, mustBeFenced, storedBytes } from './store.js';
import { checkWeights } from './trust.js';
import { type Thread, World } from './world.js';

const minuteMs = 60_000;
const jumpMaxMs = 20 * 365.25 * 24 * 60 * minuteMs;
/** Pieces of work after which a node that should come to rest never will. */
const restMax = 200_000;

/** Makes a world go wrong on purpose: what the simulation is tested with. */
export interface Plant {
  /** Called before the first step; the result takes it back after the last. */
  readonly begin?: () => () => void;
  /** Called for every process, once it has started. */
  readonly onStart?: (node: SimNode, disk: Disk) => void;
}

export interface Result {
  readonly difference: Difference | null;
  /** The step that showed it, or the number of steps. */
  readonly step: number;
  /** Digest of everything that happened, and of the log and the state at the end. */
  readonly digest: string;
  readonly counts: ReadonlyMap<string, number>;
}

/** Lets all promises that can go on, go on. */
const settled = () => new Promise<void>((resolve) => setImmediate(resolve));

export function run(seed: number, plan: Plan, plant: Plant = {}): Promise<Result> {
  return withBounds(plan.profile.bounds, async () => {
    const end = plant.begin?.();
    try {
      return await new Run(seed, plan, plant).all();
    } finally {
      end?.();
    }
  });
}

class Run {
  readonly #plan: Plan;
  readonly #plant: Plant;
  readonly #world: World;
  readonly #disk: Disk;
  readonly #ledger: Ledger;
  readonly #audit = new AuditTrail();
  readonly #random: Random;
  readonly #outcome = new LifeOutcome();
  readonly #trace: Hash = createHash('sha256');
  #node!: SimNode;
  #calls!: Calls;
  /** The position that the log must reach, stored outside the log. */
  #head: ExpectedHead | null = null;
  readonly #stalled = new Map<Thread, number>();
  #restarts = 0;
  /** Pieces of work for which the disk stays low, and which a process still does after its log failed. */
  #lowFor = 0;
  #lingers = 0;

  constructor(seed: number, plan: Plan, plant: Plant) {
    this.#plan = plan;
    this.#plant = plant;
    this.#world = new World(seed, t0);
    this.#random = new Random(hash('sha256', `run ${seed}`, 'buffer').readUInt32LE(0));
    const log: MemoryLog = new MemoryLog(() => {
      const fault = this.#disk.nextAppend;
      this.#disk.nextAppend = 'ok';
      if (fault !== 'ok') this.#count(fault === 'refuse' ? 'commits refused' : 'commits whose answer is lost');
      return fault;
    });
    this.#disk = {
      log,
      snapshots: new MemorySnapshotStore(),
      freed: [],
      leftOvers: [],
      nextAppend: 'ok',
      deferScrub: false,
    };
    const { group_id: groupId, audit } = this.#formed;
    const halfLives = halfLivesAtFirst(plan.profile);
    this.#ledger = new Ledger(new Oracle(rulesOf(plan.profile), { halfLives, at: t0, by: audit.actor, groupId }), 1);
  }

  async all(): Promise<Result> {
    const { steps } = this.#plan;
    let step = 0;
    await this.#outcome.during(async () => {
      await this.#form();
      await this.#start({ halfLives: halfLivesAtFirst(this.#plan.profile), preTrusted: null, zombie: false });
      for (; step < steps.length && this.#outcome.difference === null; step++) {
        const next = steps[step]!;
        this.#trace.update(`${next.do}\n`);
        await this.#outcome.guard(() => this.#take(next));
        if (isOperation(next)) this.#count('operations');
        if (this.#outcome.difference !== null) break;
      }
    });
    this.#node?.process.die(() => false);
    this.#count('steps', step);
    const { difference, counts } = this.#outcome;
    return { difference, step, digest: this.#digest(), counts };
  }

  #digest(): string {
    this.#trace.update(storedBytes(this.#disk));
    if (this.#node !== undefined) this.#trace.update(stateDigest(this.#node.actor.state));
    return this.#trace.digest('hex');
  }

  get #formed(): GroupFormed {
    const { claims, measures } = halfLivesAtFirst(this.#plan.profile);
    return { ...formedRecord(claims), ban_half_life_days: measures, scoring: 3 };
  }

  async #form(): Promise<void> {
    const first = new BatchWriter();
    first.add(this.#formed);
    const batch = first.seal(1, t0, this.#world.bytes(16), chainStart);
    await this.#disk.log.acquire().append({ firstSeq: 1, bytes: batch.bytes }, []);
  }

  async #take(step: Step): Promise<void> {
    const node = this.#node;
    if (isOperation(step)) {
      if (node.serving) this.#calls.take(step);
      else this.#count('asked of a node that is not ready');
      return;
    }
    switch (step.do) {
      case 'run':
        return this.#goOn(step.pick);
      case 'wait':
        return this.#pass(step.ms);
      case 'jump':
        return this.#jump(step.ms);
      case 'stall':
        this.#stalled.set(step.thread, step.runs);
        return;
      case 'append_fault':
        this.#disk.nextAppend = step.how;
        return;
      case 'pool_fault':
        this.#count('pool faults');
        node.pool.faults[step.thread].push(step.how);
        return;
      case 'defer_scrub':
        this.#disk.deferScrub = true;
        return;
      case 'retire':
        return this.#retire(this.#world.wall - step.ageMs, this.#world.wall);
      case 'disk_low':
        this.#count('disk low');
        this.#lowFor = step.runs;
        return node.setSpace(true);
      case 'damage':
        if (await damageSnapshot(this.#disk, step.snapshot, step.how)) this.#count(`snapshots: ${step.how}`);
        return;
      case 'crash':
        return this.#crash(step.restart, new Random(step.chance));
      case 'stop':
        if (!node.serving || node.stopping) return;
        this.#count('stops');
        void node.stop();
        return;
      case 'check':
        return this.#check();
      case 'settle':
        return this.#settle();
    }
  }

  #retire(before: number, now: number): void {
    if (!this.#node.retireBefore(before, now)) return;
    this.#count('retention runs');
    this.#ledger.oracle.mayLeave(before, now);
  }

  /** Lets one of the lanes that are ready go on. */
  async #goOn(pick: number): Promise<void> {
    for (const [lane, runs] of this.#stalled) {
      if (runs > 0) this.#stalled.set(lane, runs - 1);
      else this.#stalled.delete(lane);
    }
    if (this.#node.space.low && this.#lowFor-- <= 0) await this.#node.setSpace(false);
    const ready = this.#node.process.ready.filter((lane) => !this.#stalled.has(lane));
    if (ready.length > 0) await this.#go(ready[pick % ready.length]!);
    else if (this.#node.ended !== null) await this.#crash(this.#usual, this.#random);
  }

  async #go(lane: Thread): Promise<void> {
    this.#trace.update(`${this.#node.process.go(lane)}\n`);
    await settled();
    const { ended } = this.#node;
    if (ended === null || (ended === 'failed' && this.#lingers-- > 0)) return;
    await this.#crash(this.#usual, this.#random);
  }

  get #usual(): Restart {
    return { halfLives: this.#ledger.oracle.halfLives, preTrusted: null, zombie: false };
  }

  #pass(ms: number): void {
    this.#node.process.pass(ms);
    this.#world.wall += ms;
  }

  /** The wall clock stays within 20 years of the true time. */
  #jump(ms: number): void {
    const before = this.#world.wall;
    this.#world.wall = Math.min(t0 + jumpMaxMs, Math.max(t0 - jumpMaxMs, before + ms));
    const movedMs = Math.abs(this.#world.wall - before);
    if (movedMs === jumpMaxMs) this.#count('clock jumps by 20 years');
    else if (movedMs > jumpMaxMs / 20) this.#count('clock jumps by 1 to 20 years');
    else this.#count('clock jumps by less than a year');
  }

  /** The process ends here, whatever it was doing, and another one starts. */
  async #crash(restart: Restart, random: Random): Promise<void> {
    const old = this.#node;
    this.#count(old.ended === null ? 'crashes' : `ended: ${old.ended}`);
    if (random.below(2) === 0) this.#remember();
    const zombie = restart.zombie ? old.log.underWay : null;
    old.process.die(() => zombie === null && random.below(2) === 0);
    await this.#start(old.ended === 'refused' ? this.#usual : restart);
    if (zombie === null) return;
    await mustBeFenced(zombie);
    this.#count('writes of a former owner refused');
  }

  #remember(): void {
    const { lastSeq, chain } = this.#node.actor.durableHead;
    this.#head = { lastSeq, chain: Buffer.from(chain).toString('hex') };
  }

  async #start({ halfLives, preTrusted }: Restart): Promise<void> {
    if (this.#restarts++ > 10_000) throw new Difference('liveness', 'the node never stays up');
    const ledger = this.#ledger;
    const node: SimNode = new SimNode({
      world: this.#world,
      disk: this.#disk,
      profile: this.#plan.profile,
      expected: this.#head,
      watch: {
        offered: (mail, taken) => {
          const call = this.#calls.current;
          if (call === null || this.#node !== node) return;
          call.token = mail.token;
          call.full = !taken;
        },
        pushedOut: (token) => this.#watched(node, () => void this.#calls.pushedOut.add(token)),
        turn: (turn) => this.#watched(node, () => ledger.turn(turn, node.actor.state)),
        durable: () => this.#watched(node, () => ledger.durable()),
        answered: (token, answer) => this.#watched(node, () => ledger.answered(token, answer)),
      },
      onWeights: (upTo, computed) => this.#compareWeights(upTo, computed),
      count: (what) => this.#count(what),
    });
    this.#count(`turns in flight at the end: ${ledger.recovered(node.actor.durableSeq)}`);
    this.#node = node;
    this.#stalled.clear();
    this.#lingers = this.#random.below(8);
    this.#calls = new Calls({
      world: this.#world,
      ledger,
      audit: this.#audit,
      node,
      count: (what) => this.#count(what),
      trace: (text) => void this.#trace.update(`${text}\n`),
      found: (error) => this.#watched(node, () => this.#found(error)),
      search: (what, needles) => this.#search(what, needles),
    });
    this.#plant.onStart?.(node, this.#disk);
    void node.open(halfLives, preTrusted?.map(peerId) ?? null);
    await settled();
  }

  /** Output of a process that is gone is ignored. */
  #watched(node: SimNode, act: () => void): void {
    if (this.#node === node) act();
  }

  /** Compares where the replica is exactly at the oracle's position. A finding must not get lost in the pool. */
  #compareWeights(upTo: number, computed: WeightsWithSignals): void {
    this.#ledger.computed(upTo, computed);
    if (upTo !== this.#ledger.lastSeq || this.#ledger.isInFlight) {
      this.#count('weights not compared: the oracle is ahead');
      return;
    }
    try {
      const compared = checkWeights(this.#ledger.oracle, { ...computed, ...computed.measures });
      this.#count(compared === 'in doubt' ? 'weights not compared: evidence in doubt' : `weights ${compared}`);
    } catch (error) {
      this.#found(error);
    }
  }

  #search(what: string, needles: readonly (string | Buffer)[]): void {
    this.#count('searches for erased bytes');
    const stored = storedBytes(this.#disk);
    for (const needle of needles) {
      if (stored.includes(needle)) throw new Difference('erased', `${what}: answered, though it is still stored`);
    }
  }

  /** Live state against replay; where a turn is in flight there is nothing to compare yet. */
  #check(): void {
    const { state } = this.#node.actor;
    if (this.#ledger.isInFlight || state.lastSeq !== this.#ledger.durableSeq) return;
    this.#count('replays compared');
    this.#trace.update(checkReplay(state, this.#disk, this.#random.below(6)));
  }

  /** Lets everything come to rest, time included, and then compares everything. */
  async #settle(): Promise<void> {
    this.#stalled.clear();
    for (let i = 0; !(await this.#isQuiet()); i++) {
      if (i > restMax)
        throw new Difference('liveness', `never comes to rest: ${this.#node.unrest(this.#calls.waiting)}`);
    }
    this.#check();
    if (this.#random.below(2) === 0) checkStore(this.#disk);
    this.#count('searches for erased bytes', checkErased(this.#ledger.oracle, this.#disk));
    this.#count('events known to be erased', checkErasedEvents(this.#ledger.oracle, this.#node.actor.state));
    this.#count('events retired', checkRetired(this.#ledger.oracle, this.#node.actor.state, this.#disk));
    for (const subject of this.#ledger.oracle.subjects) this.#calls.read(subject);
    this.#calls.peers();
  }

  /** Does the next thing that brings the node to rest; true where nothing is left to do. */
  async #isQuiet(): Promise<boolean> {
    const { process: life } = this.#node;
    if (this.#node.space.low) await this.#node.setSpace(false);
    const [lane] = life.ready;
    if (lane !== undefined) {
      await this.#go(lane);
      return false;
    }
    if (this.#node.ended !== null) {
      await this.#crash(this.#usual, this.#random);
      return false;
    }
    if (this.#node.unrest(this.#calls.waiting) === '') return true;
    const ms = life.untilTimer;
    if (ms === null)
      throw new Difference('liveness', `nothing to wait for, though: ${this.#node.unrest(this.#calls.waiting)}`);
    this.#pass(ms);
    return false;
  }

  #found(error: unknown): void {
    this.#outcome.found(error);
  }

  #count(what: string, by = 1): void {
    this.#outcome.count(what, by);
  }
}

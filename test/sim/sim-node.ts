/**
 * One process of a simulated node, from its start on what is stored to its end: joined as `src/node/node.ts` joins a
 * real one.
 */

import type { SettingName } from '../../src/core/settings.js';
import { GroupLoop } from '../../src/group/actor/loop.js';
import { VerdictFeed } from '../../src/group/feed/change-feed.js';
import { createGroup, type Group } from '../../src/group/group.js';
import { DiskWatch } from '../../src/group/health/disk-watch.js';
import type { WeightsWithSignals } from '../../src/group/ports/pool.js';
import { lastSeqOf, recover } from '../../src/group/recovery/recovery.js';
import { BackgroundCheck } from '../../src/group/recovery/scheduled-check.js';
import type { ExpectedHead } from '../../src/group/recovery/verification.js';
import { limits } from '../../src/limits.js';
import { salt } from '../support/given.js';
import { verifyStore } from '../support/verify-store.js';
import { Difference } from './difference.js';
import { kinds } from './event-kinds.js';
import { ObservedActor, type Watch } from './observed-actor.js';
import type { HalfLives } from './oracle.js';
import { SimPool } from './pool.js';
import type { Profile } from './profile.js';
import { type Disk, SimLog, SimSnapshots } from './store.js';
import { Process, type World } from './world.js';

export interface NodeDeps {
  readonly world: World;
  readonly disk: Disk;
  readonly profile: Profile;
  readonly watch: Watch;
  readonly expected: ExpectedHead | null;
  readonly onWeights: (upTo: number, computed: WeightsWithSignals) => void;
  readonly count: (what: string) => void;
}

export class SimNode {
  readonly process = new Process();
  readonly log: SimLog;
  readonly pool: SimPool;
  readonly group: Group;
  readonly actor: ObservedActor;
  readonly loop: GroupLoop;
  readonly space = { low: false };
  /** Commands are let in. */
  serving = false;
  stopping = false;
  /** The process is to end: the log could not be written, the start was refused, or all is wound down. */
  ended: 'failed' | 'refused' | 'stopped' | null = null;
  /** From which snapshot it started; 0: from none. */
  readonly startedFrom: number;

  constructor(deps: NodeDeps) {
    const { world, disk, profile, watch } = deps;
    const report = verifyStore(disk.log, disk.snapshots, deps.expected, 'start');
    if (!report.ok) throw new Difference('damage', `the store does not verify: ${report.faults.join('; ')}`);
    this.log = new SimLog(disk, this.process);
    disk.leftOvers = [];
    const recovered = recover(this.log, disk.snapshots, salt, lastSeqOf(this.log))!;
    const { follower } = recovered;
    this.startedFrom = recovered.snapshotSeq;
    const { peersMax, erasureQuotaPerDay, erasureMode } = profile;
    const bounds = { peersMax, erasureQuotaPerDay, erasureMode };
    this.actor = new ObservedActor(follower, bounds, watch);
    const snapshots = new SimSnapshots(disk, this.process);
    this.pool = new SimPool(disk.log, snapshots, salt, this.process, deps.onWeights);
    const { formed } = follower.state;
    const identity = { groupId: formed.group_id, identityMode: formed.identity_mode, environment: formed.environment };
    const use = () => ({
      // Low, and not so low that erasures wait.
      freeBytes: this.space.low ? 2 ** 30 : 2 ** 40,
      logBytes: 1,
      snapshotsBytes: 1,
      newestSnapshotBytes: 1,
    });
    const nothing = () => undefined;
    const feed = new VerdictFeed({
      pool: this.pool,
      clock: world,
      timers: this.process,
      random: world,
      storedSeq: () => this.actor.durableSeq,
      intervalMs: () => 0,
      onFailure: nothing,
    });
    this.loop = new GroupLoop({
      actor: this.actor,
      log: this.log,
      snapshots,
      recoveredFrom: this.startedFrom,
      pool: this.pool,
      disk: new DiskWatch({
        gauge: { look: async () => use(), freeBytes: () => use().freeBytes },
        timers: this.process,
        minBytes: 2 ** 31,
        onChange: (low) => this.loop.diskChanged(low),
        onFailure: nothing,
      }),
      reserve: { during: (act) => act(false) },
      // Its lives hold the rules of clocks that jump, which count where nobody refuses such a clock.
      clockGuard: { clockAhead: false, isAheadNow: () => false },
      clock: world,
      timers: this.process,
      random: world,
      observer: {
        turnCommitted: (records) => deps.count(records > 0 ? 'commits' : 'empty commits'),
        eventsDecided: nothing,
        workDone: (kind, ok) => deps.count(`${kind} ${ok ? 'done' : 'failed'}`),
      },
      snapshotEvery: profile.snapshotEvery,
      weightsIntervalMs: profile.weightsIntervalMs,
      publishErasures: () => feed.publishErasures(),
      onFatal: () => {
        this.ended = 'failed';
      },
      onFailure: nothing,
    });
    const check = new BackgroundCheck({
      pool: this.pool,
      timers: this.process,
      clock: world,
      onReport: nothing,
      onFailure: nothing,
    });
    this.group = createGroup({
      identity,
      current: this,
      verdicts: feed,
      check,
      cluster: null,
      inForce: () => {
        throw new Error('the simulation asks for no settings');
      },
      clock: world,
      random: world,
    });
  }

  /** Applies the configuration, then goes on with what was left unfinished and lets callers in. */
  async open(halfLives: HalfLives, preTrusted: readonly string[] | null): Promise<void> {
    const names = { claims: 'HALF_LIFE_DAYS', measures: 'BAN_HALF_LIFE_DAYS' } as const;
    const settings: [SettingName, number | string][] = kinds.map((kind) => [names[kind], halfLives[kind]]);
    if (preTrusted !== null) settings.push(['PRE_TRUSTED_PEERS', preTrusted.join(',')]);
    let isRefused = false;
    for (const [name, value] of settings) {
      const outcome = await this.group.configure({ type: 'setting', name, value, by: 'configuration' });
      isRefused = !outcome.ok || isRefused;
    }
    if (isRefused) {
      this.ended = 'refused';
      return;
    }
    this.loop.resume();
    this.group.open();
    this.serving = true;
  }

  /** The disk becomes low, or is no longer. */
  async setSpace(low: boolean): Promise<void> {
    this.space.low = low;
    await this.loop.disk.look();
  }

  /** The hourly retention of a node. */
  retireBefore(before: number, now: number): boolean {
    const isUp = this.serving && !this.loop.failed && !this.loop.draining;
    if (isUp) this.loop.resume({ before, now });
    return isUp;
  }

  /** SIGTERM: answers what was accepted, writes a last snapshot, and ends. */
  async stop(): Promise<void> {
    this.stopping = true;
    this.loop.endSoon(limits.shutdownAnswersMs);
    await this.group.drain();
    if (!this.loop.failed) await this.loop.snapshotNow().catch(() => undefined);
    this.ended ??= 'stopped';
  }

  /** The reason why the node is not idle, in words; empty if it is. */
  unrest(callers: number): string {
    const { erasures, withdrawals, retired, evidenceSeq } = this.actor.state;
    const reasons = [
      [!this.serving, 'starting'],
      [this.stopping, 'stopping'],
      [callers > 0, `${callers} callers wait`],
      [this.actor.answering, 'a turn is under way'],
      [erasures.size > 0, 'erasures are under way'],
      [withdrawals.size > 0, 'withdrawals are under way'],
      [retired.open, 'a retention run is under way'],
      [evidenceSeq > this.loop.weights.basedOnSeq, 'weights are behind'],
    ] as const;
    const holding = reasons.filter(([holds]) => holds);
    return holding.map(([, reason]) => reason).join(', ');
  }
}

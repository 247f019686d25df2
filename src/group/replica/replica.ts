/**
 * Implements the replica, a second state that follows the log with the same `apply`, for weights, snapshots and the
 * change feed. Each task first catches up to the record that it names.
 */
import { asOfTime, endOfMinute } from '../../core/evidence/decay.js';
import { type TrustConstants, trustConstants } from '../../core/evidence/trust-constants.js';
import { type HalfLives, ScenarioHalfLife } from '../../core/scoring/scenario-half-life.js';
import { CONFIDENCE_UNIT, countVerdicts, SCORE_UNIT, type VerdictCounts } from '../../core/scoring/score.js';
import { type Simulation, simulate } from '../../core/scoring/simulation.js';
import { SNAPSHOT_VERSION, snapshotBlocks } from '../../core/snapshot/snapshot.js';
import { stateDigest } from '../../core/snapshot/state-digest.js';
import type { GroupState } from '../../core/state.js';
import { computeGroupTrust } from '../../core/trust/peer-trust.js';
import { Scratch } from '../../core/trust/votes/scratch.js';
import { limits } from '../../limits.js';
import type { OnProgress } from '../api.js';
import { ChangeTable, reachOf, type TouchedRows } from '../feed/change-table.js';
import type * as pool from '../ports/pool.js';
import { DamagedError, type LogReader, type SnapshotStore } from '../ports/storage.js';
import { batchFrom, type Follower, lastSeqOf, recover } from '../recovery/recovery.js';
import { retentionPiece } from '../removal/redaction.js';
import type { ChangeWalk } from '../verdict-changes.js';

const changeSteps = {
  score: limits.streamScoreStep * SCORE_UNIT,
  confidence: limits.streamConfidenceStep * CONFIDENCE_UNIT,
};
const changeBounds = {
  rowsMax: limits.streamFrameRows,
  lookedAtMax: limits.streamLookedAtRows,
  touchedMax: limits.streamTouchedRows,
};

export interface ScoringSettings extends Partial<Pick<TrustConstants, 'badSharePrior' | 'newPeerDays'>> {
  /** The node is one of a cluster, in which the values in the log are in force. */
  readonly isLogged?: boolean;
}

export class Replica {
  readonly #scratch: Scratch;
  readonly #configured: TrustConstants;
  readonly #isLogged: boolean;
  #follower: Follower | null = null;
  /** The newest record that a task named: later ones may not be durable, although the log contains them. */
  #durable = 0;
  #generation = '';
  /** Rows that were changed after a record, for the pieces of one walk for readers that come from another node. */
  #touched: { readonly seq: number; readonly rows: TouchedRows | null } | null = null;

  constructor(
    private readonly log: LogReader,
    private readonly snapshots: SnapshotStore,
    private readonly salt: Uint8Array,
    { isLogged = false, ...scoring }: ScoringSettings = {},
    yieldCore?: () => void,
  ) {
    this.#scratch = new Scratch(yieldCore);
    this.#configured = { ...trustConstants, ...scoring };
    this.#isLogged = isLogged;
  }

  #constantsOf({ settings }: GroupState): TrustConstants {
    const { badSharePrior, newPeerDays } = this.#configured;
    if (!this.#isLogged) return this.#configured;
    const { PRIOR_BAD_SHARE = badSharePrior, NEW_PEER_DAYS = newPeerDays } = settings;
    return { ...this.#configured, badSharePrior: PRIOR_BAD_SHARE, newPeerDays: NEW_PEER_DAYS };
  }

  /** Returns the state at record `upTo`, or at a later one if an earlier task went further. */
  follow(upTo: number): Follower {
    this.#durable = Math.max(this.#durable, upTo);
    const loaded = this.#follower ?? this.#load();
    // Reset until the follower has caught up, because it may hold half of a batch.
    this.#follower = null;
    loaded.catchUp(this.log, upTo);
    this.#follower = loaded;
    return loaded;
  }

  /** Loads the whole log: a batch may be rewritten because of newer records, and is valid only together with them. */
  #load(): Follower {
    const recovered = recover(this.log, this.snapshots, this.salt, lastSeqOf(this.log));
    if (recovered === null) throw new Error('replica: the log is empty');
    // Catches up again, because batches may have been rewritten meanwhile.
    recovered.follower.catchUp(this.log, lastSeqOf(this.log));
    return recovered.follower;
  }

  /**
   * Returns null, and writes none, if the loaded state contains a commit that may still be lost: the log would then end
   * before its snapshot; nor while the group still counts bans as claims, as in an upgrade of a cluster.
   */
  async snapshot(upTo: number, epoch: number): Promise<Pick<pool.SnapshotMade, 'seq'> | null> {
    const { state, chain } = this.follow(upTo);
    if (state.lastSeq > this.#durable || state.countsBansAsClaims) return null;
    const digest = stateDigest(state);
    const seq = state.lastSeq;
    const header = { version: SNAPSHOT_VERSION, seq, chain: Buffer.from(chain).toString('hex'), digest, epoch };
    await this.snapshots.write(header, snapshotBlocks(state));
    return { seq };
  }

  retire(work: pool.RetentionWork): pool.RetentionPiece {
    return retentionPiece(this.log, work, this.follow(work.durable));
  }

  weights(upTo: number, at: number): pool.WeightsWithSignals {
    const { state } = this.follow(upTo);
    const trust = computeGroupTrust(state, at, this.#constantsOf(state), this.#scratch, state.relations);
    const { tau, a, b, z, witness, measures, pi, pairs, witnessPairs } = trust;
    const { reported, shared } = trust.sums;
    const { m, finds, findsClaim } = measures;
    if (![tau, a, b, z, m, finds, findsClaim].every((column) => column.every(Number.isFinite)))
      throw new Error('replica: a weight is not a number');
    const signals = { pairs, witnessPairs, reported, shared };
    return { based_on_seq: state.lastSeq, computed_at: at, pi, tau, a, b, z, witness, measures, signals };
  }

  /** Neither the state nor the store changes. */
  simulate({ upTo, at, scenario, rowsMax }: pool.SimulationWork, onProgress: OnProgress): Simulation {
    const { state } = this.follow(upTo);
    const asOf = Math.max(at, state.lastAt);
    const { claims, measures } = scenario.halfLives;
    const stays = claims === null && measures === null;
    const decayed = stays ? null : this.#decayedBy(scenario.halfLives, state, asOf, onProgress);
    return simulate(state, asOf, scenario, decayed, rowsMax, this.#constantsOf(state));
  }

  #decayedBy(halfLives: HalfLives, state: GroupState, at: number, onProgress: OnProgress): ScenarioHalfLife {
    const other = new ScenarioHalfLife(state, halfLives, at);
    let next = 1;
    while (next <= state.lastSeq) {
      const stored = this.log.from(next, limits.catchUpBatches, limits.catchUpBytes);
      if (stored.length === 0) throw new DamagedError(`the log ends at record ${next - 1}, not ${state.lastSeq}`);
      for (const one of stored) {
        if (one.firstSeq > state.lastSeq) break;
        const batch = batchFrom(one);
        for (let seq = batch.firstSeq; seq <= batch.lastSeq; seq++) other.apply(batch.record(seq), seq, batch.at);
        next = batch.lastSeq + 1;
      }
      onProgress(Math.min(next, state.lastSeq), state.lastSeq);
    }
    return other;
  }

  publishChanges({ generation, upTo, at, asOf, erasedOnly, isShared }: pool.FeedWork): pool.FeedPiece {
    const follower = this.follow(upTo);
    const { state } = follower;
    const isFirst = follower.changes === null || this.#generation !== generation;
    const steps = isShared === true ? { ...changeSteps, fixed: isShared } : changeSteps;
    if (isFirst) follower.changes = new ChangeTable(state, steps, changeBounds);
    this.#generation = generation;
    const changes = follower.changes!;
    return { ...(erasedOnly ? changes.nextErased() : changes.next(asOfTime(state, at), asOf)), isFirst };
  }

  walkChanges({ generation, from, since }: pool.WalkWork): ChangeWalk | 'forgotten' | null {
    const changes = this.#follower?.changes ?? null;
    if (changes === null || this.#generation !== generation) return null;
    if (typeof since === 'number') return changes.walk(from, since);
    const { state } = this.#follower!;
    const known = from > 0 && this.#touched?.seq === since.seq ? this.#touched : null;
    const { rows } = known ?? { rows: playersChangedSince(this.log, state, since.seq) };
    this.#touched = { seq: since.seq, rows };
    return rows === null ? 'forgotten' : changes.walkElsewhere(from, rows, asOfTime(state, endOfMinute(since.asOf)));
  }

  endFeed(): void {
    if (this.#follower !== null) this.#follower.changes = null;
  }

  verdicts(upTo: number, at: number): VerdictCounts {
    const { state } = this.follow(upTo);
    return countVerdicts(state, asOfTime(state, at), limits.verdictRowsMax);
  }
}

/**
 * Returns null if the records cannot tell: a player was erased, so the log no longer names it, or they are too many.
 */
export function playersChangedSince(log: LogReader, state: GroupState, seq: number): TouchedRows | null {
  if (seq > state.lastSeq || state.lastSeq - seq > limits.streamResumeRecordsMax) return null;
  const touched = new Set<number>();
  let isAll = false;
  for (let next = seq + 1; next <= state.lastSeq; ) {
    const stored = log.from(next, limits.catchUpBatches, limits.catchUpBytes);
    if (stored.length === 0) return null;
    for (const one of stored) {
      const batch = batchFrom(one);
      for (let at = Math.max(next, batch.firstSeq); at <= Math.min(batch.lastSeq, state.lastSeq); at++) {
        const reach = reachOf(batch.record(at), state);
        if (reach === 'erased') return null;
        if (reach === 'all') isAll = true;
        else if (reach !== null && reach >= 0) touched.add(reach);
      }
      next = batch.lastSeq + 1;
      if (next > state.lastSeq) break;
    }
  }
  return isAll ? 'all' : touched;
}

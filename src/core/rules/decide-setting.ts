/** Decides changes of the shared settings, and of what scales all evidence: epoch, half-life, scoring, weights. */
import { DAY_MS, limits } from '../../limits.js';
import type { ChangeSetting } from '../commands.js';
import { audited, type Decision, grant, refuse } from '../decision.js';
import { decayFactorAt, movedEpoch } from '../evidence/decay.js';
import { trustConstants as k } from '../evidence/trust-constants.js';
import type { BanEpochMoved, EpochMoved, LogRecord, WeightsPublished } from '../records/records.js';
import type { GroupSettings } from '../settings.js';
import { type GroupState, MEASURES_FROM } from '../state.js';
import type { MeasureWeights } from '../tables/evidence-view.js';
import { decideConfiguredPreTrust } from './decide-peer.js';

/** Returns the settings in the log. Those that no node of a cluster has set yet are absent. */
export function loggedSettings(state: GroupState): Partial<GroupSettings> {
  const { settings, halfLifeDays, measureScale, preTrustConfigured: peers } = state;
  const halfLives = { HALF_LIFE_DAYS: halfLifeDays, BAN_HALF_LIFE_DAYS: measureScale.halfLifeDays };
  return { ...settings, ...halfLives, ...(peers === null ? {} : { PRE_TRUSTED_PEERS: peers }) };
}

/**
 * Codes: dependency_unavailable (a half-life, while the clock is behind); unknown_peer, peer_not_active (pre-trusted
 * peers).
 */
export function decideSetting(state: GroupState, { name, value, by }: ChangeSetting, now: number): Decision<null> {
  if (name === 'PRE_TRUSTED_PEERS') return decideConfiguredPreTrust(state, String(value), now, by);
  if (name === 'HALF_LIFE_DAYS') return decideHalfLife(state, 'claims', Number(value), now, by);
  if (name === 'BAN_HALF_LIFE_DAYS') return decideHalfLife(state, 'measures', Number(value), now, by);
  if (state.settings[name] === value) return grant(null);
  const audit = audited(state, now, { action: 'group_setting_changed', actor: by, target: `${name} ${value}` });
  return grant(null, { type: 'group_setting_changed', name, value, audit });
}

/** Returns the record that moves the epoch before evidence of time `at` is scaled; null if no move is due. */
export function decideEpoch(state: GroupState, at: number, isMeasure: boolean): EpochMoved | BanEpochMoved | null {
  const { epoch, halfLifeDays } = isMeasure ? state.measureScale : state;
  const moved = movedEpoch(at, epoch, halfLifeDays);
  return moved === null ? null : { type: isMeasure ? 'ban_epoch_moved' : 'epoch_moved', ...moved };
}

/**
 * Changes a half-life; every sum keeps its present value. Refused while the clock is far behind the newest evidence:
 * the one factor would inflate without bound what is reported under the lagging clock.
 */
export function decideHalfLife(
  state: GroupState,
  kind: 'claims' | 'measures',
  halfLifeDays: number,
  now: number,
  by = 'configuration',
): Decision<null> {
  const scale = kind === 'claims' ? state : state.measureScale;
  if (halfLifeDays === scale.halfLifeDays) return grant(null);
  const newest = newestEvidence(state);
  if (newest - now > limits.halfLifeClockBehindMs) {
    const text = `the clock is ${((newest - now) / DAY_MS).toFixed(1)} days behind the newest evidence; set it right before the half-life changes from ${scale.halfLifeDays} to ${halfLifeDays} days`;
    return refuse('dependency_unavailable', { text });
  }
  // If the epoch lies in the future, the clock was ahead when the epoch was set, or is a little behind now.
  const at = now >= scale.epoch ? now : Math.min(Math.max(now, newest), scale.epoch);
  const action = kind === 'claims' ? 'half_life_changed' : 'ban_half_life_changed';
  const changed = {
    epoch: at,
    factor: decayFactorAt(at, scale.epoch, scale.halfLifeDays),
    audit: audited(state, now, { action, actor: by, target: `${halfLifeDays} days` }),
  };
  const record: LogRecord =
    kind === 'claims'
      ? { type: 'half_life_changed', half_life_days: halfLifeDays, ...changed }
      : { type: 'ban_half_life_changed', ban_half_life_days: halfLifeDays, ...changed };
  return grant(null, record);
}

/** Returns the time of the newest evidence of all players, in ms since 1970; -Infinity if there is none. */
function newestEvidence({ subjects }: GroupState): number {
  let newest = Number.NEGATIVE_INFINITY;
  for (const row of subjects.held()) newest = Math.max(newest, subjects.evidenceAt(row));
  return newest;
}

export const SCORING_VERSION = 3;

export function decideScoring(state: GroupState, now: number): Decision<null> {
  if (state.scoring.version === SCORING_VERSION) return grant(null);
  const target = `version ${SCORING_VERSION}`;
  const audit = audited(state, now, { action: 'scoring_changed', actor: 'release', target });
  return grant(null, { type: 'scoring_changed', scoring: SCORING_VERSION, audit });
}

const movedColumns = ['tau', 'a', 'b', 'z', 'm', 'finds', 'findsClaim'] as const;
const flags = ['measured', 'judged'] as const;

export interface ComputedWeights extends Omit<WeightsPublished, 'type'> {
  readonly measures: MeasureWeights;
}

/** Publishes weights that moved by `publishStep`, or newer ones if the published are old. The outcome says whether. */
export function decideWeights(state: GroupState, computed: ComputedWeights, now: number): Decision<boolean> {
  const { weights } = state;
  const isOld =
    now - (weights.computedAt ?? 0) >= limits.weightsRepublishMs && computed.based_on_seq > weights.basedOnSeq;
  const isNews = isOld || hasMoved(state, computed);
  // Other nodes of a group that still counts bans as claims may be of a release that does not know measures.
  const measures = state.scoring.version < MEASURES_FROM ? null : computed.measures;
  return isNews ? grant(true, { type: 'weights_published', ...computed, measures }) : grant(false);
}

function hasMoved(state: GroupState, computed: ComputedWeights): boolean {
  const { weights, peerWeights } = state;
  const columns = { ...computed, ...computed.measures };
  const hasMeasures = state.scoring.version >= MEASURES_FROM;
  if ((hasMeasures ? weights.measures : weights.z) === null || Math.abs(computed.pi - weights.pi) > k.publishStep)
    return true;
  return computed.tau.some((_, peer) => {
    const hasNewWitness = computed.witness[peer] !== peerWeights.witness[peer];
    return (
      hasNewWitness ||
      (hasMeasures && flags.some((name) => computed.measures[name][peer] !== (weights.measures?.[name][peer] ?? 0))) ||
      movedColumns.some((name) => Math.abs(columns[name][peer]! - peerWeights[name][peer]!) > k.publishStep)
    );
  });
}

/** Compares the verdicts of a group with its present and with assumed settings, from the same evidence and time. */
import { asOfTime } from '../evidence/decay.js';
import { type TrustConstants, trustConstants } from '../evidence/trust-constants.js';
import { subjectHex } from '../hashing/pseudonym.js';
import type { GroupState } from '../state.js';
import type { EvidenceView, PeerColumns } from '../tables/evidence-view.js';
import { computedColumns } from '../tables/peer-weights.js';
import { computeGroupTrust } from '../trust/peer-trust.js';
import { Scratch } from '../trust/votes/scratch.js';
import type { Verdict } from '../vocabulary.js';
import type { HalfLives, ScenarioHalfLife } from './scenario-half-life.js';
import { type TrustView, trustOf } from './score.js';

/** The changed assumptions; null leaves a value as it is. Peers are given by number. */
export interface Scenario {
  readonly preTrusted: readonly number[] | null;
  /** Peers whose evidence does not count, as if they were revoked. */
  readonly without: readonly number[];
  readonly halfLives: HalfLives;
}

export interface Simulation extends Readonly<ReturnType<typeof simulate>> {}

interface Candidate {
  readonly row: number;
  readonly scoreChange: number;
  readonly before: TrustView;
  readonly after: TrustView;
}

const asItIs: Scenario = { preTrusted: null, without: [], halfLives: { claims: null, measures: null } };

/** Number of candidates held per requested row before those with smaller score changes are dropped. */
const HELD_PER_ROW = 4;

/** Compares the verdicts at `at`, not before the newest record. `decayed`: null if the half-lives stay. */
export function simulate(
  state: GroupState,
  at: number,
  scenario: Scenario,
  decayed: ScenarioHalfLife | null,
  rowsMax: number,
  constants: TrustConstants = trustConstants,
) {
  const other = decayed === null ? state : { subjects: decayed.subjects(), ...decayed.scales };
  const before = viewed(state, state, asItIs, at, constants);
  const after = viewed(state, other, scenario, at, constants);
  const none = (): Record<Verdict, number> => ({ trusted: 0, neutral: 0, suspicious: 0, untrusted: 0 });
  const verdicts = { trusted: none(), neutral: none(), suspicious: none(), untrusted: none() };
  const asOfBefore = asOfTime(before, at);
  const asOfAfter = asOfTime(after, at);
  let held: Candidate[] = [];
  for (const row of state.subjects.held()) {
    const was = trustOf(before, row, asOfBefore);
    const is = trustOf(after, row, asOfAfter);
    verdicts[was.verdict][is.verdict]++;
    if (was.verdict === is.verdict) continue;
    held.push({ row, scoreChange: Math.abs(is.score - was.score), before: was, after: is });
    if (held.length > HELD_PER_ROW * rowsMax) held = largestChanges(held, rowsMax);
  }
  return {
    /** Last record of the state, which is evaluated as of `at` (ms since 1970). */
    seq: state.lastSeq,
    at,
    players: state.subjects.size,
    /** Number of players by verdict before, then by verdict after. */
    verdicts,
    /** The players with the largest changes of score among those whose verdict changes, up to the requested number. */
    changed: largestChanges(held, rowsMax).map(({ row, before: was, after: is }) => {
      return { subject: subjectHex(state.subjects.keyOf(row)), before: was, after: is };
    }),
    /** Weight of each peer, indexed by number. */
    weightsBefore: before.peerWeights.published,
    weightsAfter: after.peerWeights.published,
  };
}

/** Returns a view of `sums` under the assumptions about peers, with the weights that follow from both. */
function viewed(
  state: GroupState,
  sums: Omit<EvidenceView, 'peerWeights'>,
  scenario: Scenario,
  at: number,
  constants: TrustConstants,
): EvidenceView {
  const { subjects, epoch, halfLifeDays, measureScale } = sums;
  const peerWeights = peersAssumed(state, scenario);
  const { peers, origins, numbers } = state;
  const view = { subjects, epoch, halfLifeDays, measureScale, peerWeights, peers, origins, numbers };
  const trust = computeGroupTrust(view, at, constants, new Scratch(), state.relations);
  return { ...view, peerWeights: { ...peerWeights, ...computedColumns(trust, origins.carriers) } };
}

function peersAssumed({ origins, numbers, peerWeights }: GroupState, { preTrusted, without }: Scenario): PeerColumns {
  const excluded = peerWeights.excluded.slice(0, numbers);
  const trusted = peerWeights.preTrusted.slice(0, numbers);
  for (const peer of without) for (const number of origins.numbersOf(peer)) excluded[number] = 1;
  if (preTrusted !== null) {
    trusted.fill(0);
    for (const peer of preTrusted) trusted[peer] = 1;
  }
  // Like a revoked peer, an excluded peer leaves the set.
  for (let number = 0; number < numbers; number++) if (excluded[number] === 1) trusted[number] = 0;
  return { ...peerWeights, preTrusted: trusted, excluded };
}

/** Candidates with the same change keep their order, which is that of their rows. */
function largestChanges(held: readonly Candidate[], count: number): Candidate[] {
  return held.toSorted((p, q) => q.scoreChange - p.scoreChange).slice(0, count);
}

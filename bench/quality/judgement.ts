/**
 * Judges one group: reads every player, by the computation alone or through a node, and compares the scores with the
 * truth.
 */
import type { TrustSet } from '../data/trust-set.js';
import { greatest } from '../statistics.js';
import { peerTrustOf } from './evidence-columns.js';
import { type FiguresByMethod, measureAll } from './methods.js';
import { type Promises, probesOf, promisesOf } from './promises.js';
import { evidenceColumns, peerFacts, readOut } from './readout.js';
import { readThroughNode } from './through-node.js';
import {
  type CalibrationBin,
  calibrationOf,
  countVerdicts,
  countVictims,
  type Damage,
  damageOf,
  type VerdictCount,
  type VerdictCounts,
} from './verdicts.js';

export interface Judgement {
  readonly methods: FiguresByMethod;
  readonly verdicts: VerdictCounts;
  /** Good players among the targets of a single liar; null if there is no liar, or more than one. */
  readonly victims: VerdictCount | null;
  readonly calibration: readonly CalibrationBin[];
  /** Null for a group that is too large to be probed. */
  readonly promises: Promises | null;
  /** Null if the group without its attackers was not read. */
  readonly damage: Damage | null;
  /** Null if no node was asked. */
  readonly node: NodeCheck | null;
}

/** Difference between the answers of a node and the computation alone. */
export interface NodeCheck {
  /** Largest difference of a score; a node rounds to hundredths. */
  readonly scoreDifference: number;
  readonly verdictsThatDiffer: number;
}

export interface JudgementOptions {
  readonly http: boolean;
  /** Whether to read the group without its adversaries too. */
  readonly damage: boolean;
}

export async function judge(set: TrustSet, { http, damage }: JudgementOptions): Promise<Judgement> {
  const { evidence, facts, trust, readings: computed } = compute(set);
  const probes = probesOf(set);
  const answers = http ? await readThroughNode(set, probes) : null;
  const readings = { ...computed, ...answers?.readings };
  const probed = answers === null ? probes && readOut(evidenceColumns(probes), facts, trust) : answers.probed;
  return {
    methods: measureAll(set, evidence, readings),
    verdicts: countVerdicts(readings.verdict, set.truth),
    victims: set.adversaries.length === 1 ? countVictims(readings.verdict, set) : null,
    calibration: calibrationOf(computed.pBad, set.truth),
    promises: probed && promisesOf(set, probed),
    damage: damage ? damageOf(readings.verdict, withoutAdversaries(set), set) : null,
    node: answers && {
      scoreDifference: greatest(Array.from(computed.score, (score, i) => Math.abs(score - answers.readings.score[i]!))),
      verdictsThatDiffer: computed.verdict.filter((verdict, i) => verdict !== answers.readings.verdict[i]).length,
    },
  };
}

function compute(set: TrustSet) {
  const evidence = evidenceColumns(set);
  const facts = peerFacts(set);
  const trust = peerTrustOf(evidence, facts);
  return { evidence, facts, trust, readings: readOut(evidence, facts, trust) };
}

function withoutAdversaries(set: TrustSet) {
  const observations = set.observations.filter(({ peer }) => !set.adversaries.includes(peer));
  return compute({ ...set, observations }).readings.verdict;
}

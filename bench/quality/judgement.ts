/**
 * Judges one group: reads every player, by the computation alone or through a node, and holds what is read against
 * the truth.
 */
import { peerTrustOf } from '../../src/core/trust/peer-trust.js';
import type { TrustSet } from '../data/trust-set.js';
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
  /** Good players that a single liar aimed at; null where there is no liar, or more than one. */
  readonly victims: VerdictCount | null;
  readonly calibration: readonly CalibrationBin[];
  /** Null for a group that is too large to be probed. */
  readonly promises: Promises | null;
  /** Null where the group without its attackers was not read. */
  readonly damage: Damage | null;
  /** Null where no node was asked. */
  readonly node: NodeCheck | null;
}

/** How far the answers of a node are from the computation alone. */
export interface NodeCheck {
  /** Largest difference of a score; a node rounds to hundredths. */
  readonly scoreDifference: number;
  readonly verdictsThatDiffer: number;
}

export interface JudgementOptions {
  readonly http: boolean;
  /** Whether to read the group without its adversaries as well. */
  readonly damage: boolean;
}

export async function judge(set: TrustSet, { http, damage }: JudgementOptions): Promise<Judgement> {
  const evidence = evidenceColumns(set);
  const facts = peerFacts(set);
  const trust = peerTrustOf(evidence, facts);
  const computed = readOut(evidence, facts, trust);
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
      scoreDifference: computed.score.reduce(
        (most, score, i) => Math.max(most, Math.abs(score - answers.readings.score[i]!)),
        0,
      ),
      verdictsThatDiffer: computed.verdict.filter((verdict, i) => verdict !== answers.readings.verdict[i]).length,
    },
  };
}

/** The verdicts that the same players have where the adversaries say nothing. */
function withoutAdversaries(set: TrustSet) {
  const observations = set.observations.filter(({ peer }) => !set.adversaries.includes(peer));
  const evidence = evidenceColumns({ ...set, observations });
  const facts = peerFacts(set);
  return readOut(evidence, facts, peerTrustOf(evidence, facts)).verdict;
}

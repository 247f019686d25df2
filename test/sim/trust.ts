/** Published weights against the real computation on evidence that the oracle added up itself. */
import type { EvidenceColumns } from '../../src/core/trust/columns.js';
import { computePeerTrust } from '../../src/core/trust/peer-trust.js';
import type { WeightsComputed } from '../../src/group/weights.js';
import { Difference } from './difference.js';
import type { Oracle } from './oracle.js';
import { evidenceOf, isAtEdge, newestEvidence } from './scores.js';

/** What sums in another order may move, through ten rounds of a fit that divides small masses. */
const tolerance = 1e-6;
/** Evidence is taken as it is, and a trifle more or less: at the edge of a median or of a last round either result is right. */
const nudges = [0, 1e-9, -1e-9, 3e-9];

export function checkWeights(oracle: Oracle, computed: WeightsComputed, count: (what: string) => void): void {
  const { tau, a, b, pi } = computed;
  const isSound = tau.every((t) => t >= 0 && t <= 1) && [...a, ...b].every((odds) => odds >= 0 && odds < 5);
  if (!isSound || !(pi > 0 && pi < 1)) throw new Difference('weights', `no weights: ${tau}, ${a}, ${b}, ${pi}`);
  let nearest = Number.POSITIVE_INFINITY;
  for (const nudge of nudges) {
    const facts = {
      preTrusted: Uint8Array.from(oracle.facts.peers, (_, peer) => (oracle.preTrusted.includes(peer) ? 1 : 0)),
      excluded: Uint8Array.from(oracle.facts.peers, (_, peer) => (oracle.statusOf(peer) === 'revoked' ? 1 : 0)),
    };
    const { evidence, isVague } = columnsOf(oracle, computed.computedAt, nudge);
    if (isVague) {
      count('weights beyond the range of doubles');
      return;
    }
    const own = computePeerTrust(evidence, facts);
    const far = Math.max(
      Math.abs(own.pi - computed.pi),
      ...Array.from(own.tau, (tau, i) =>
        Math.max(
          Math.abs(tau - computed.tau[i]!),
          Math.abs(own.a[i]! - computed.a[i]!),
          Math.abs(own.b[i]! - computed.b[i]!),
        ),
      ),
    );
    nearest = Math.min(nearest, far);
    if (nearest <= tolerance) return;
    count('weights at an edge');
  }
  throw new Difference(
    'weights',
    `computed for record ${computed.basedOnSeq}: off by ${nearest} from the same on the oracle's evidence`,
  );
}

function columnsOf(oracle: Oracle, now: number, nudge: number): { evidence: EvidenceColumns; isVague: boolean } {
  const offsets = [0];
  const peer: number[] = [];
  const lowering: number[] = [];
  const raising: number[] = [];
  let isVague = false;
  for (const subject of oracle.subjects) {
    // A clock that was set back makes no evidence larger.
    const at = Math.max(now, newestEvidence(oracle, subject));
    for (const evidence of evidenceOf(oracle, subject, at)) {
      // A peer whose evidence has faded to nothing still has a vote in the fit, by its share of lowering; where that is in doubt, so is the fit.
      const isShareVague =
        evidence.error > 1e-7 * (evidence.lowering + evidence.raising) && evidence.isHeld && evidence.isHeavy;
      isVague ||= evidence.error > 1e-7 || isShareVague || isAtEdge(evidence);
      const factor = 1 + nudge * (1 + (peer.length % 7));
      peer.push(evidence.peer);
      lowering.push(evidence.lowering * factor);
      raising.push(evidence.raising * factor);
    }
    offsets.push(peer.length);
  }
  const evidence = {
    peers: oracle.facts.peers.length,
    players: offsets.length - 1,
    offsets: Uint32Array.from(offsets),
    peer: Uint16Array.from(peer),
    lowering: Float64Array.from(lowering),
    raising: Float64Array.from(raising),
  };
  return { evidence, isVague };
}

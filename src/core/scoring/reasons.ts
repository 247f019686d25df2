/**
 * Explains a verdict in words. If few peers reported the player, the text reveals nothing that a single one reported.
 */
import { limits } from '../../limits.js';
import type { Verdict } from '../vocabulary.js';
import type { TrustExplanation } from './score.js';

/** Share of one-sided evidence from which the evidence counts as coming from peers that only report. */
const ONE_SIDED = 0.5;

/** Returns one to three sentences. */
export function reasonsOf(verdict: Verdict, explanation: TrustExplanation): string[] {
  const { peers, witnesses, oneSided, logOdds, suspicious, allowed } = explanation;
  if (allowed)
    return ['The player is on the allow list of the group and reads as neutral, whatever its peers reported.'];
  if (peers === 0) return ['No peer holds evidence about this player that counts.'];
  if (witnesses === 0)
    return [
      'No peer that knows this player has a weight: weights are not computed yet, or the reports of these peers prove nothing.',
    ];
  const reasons = [witnessesText(explanation)];
  if (verdict === 'trusted') return reasons;
  if (verdict === 'untrusted' || verdict === 'suspicious') {
    if (oneSided < ONE_SIDED) reasons.push('Most of this evidence comes from peers that also report good behaviour.');
    if (verdict === 'suspicious') reasons.push('For untrusted, more independent witnesses would have to agree.');
    return reasons;
  }
  if (logOdds <= 0) {
    if (peers >= limits.summaryPeersMin && explanation.lowering > 0)
      reasons.push('Its peers disagree, and the good reports prevail.');
    if (logOdds < 0) reasons.push('For trusted, more good reports would be needed.');
    return reasons;
  }
  if (witnesses > 1 && oneSided >= ONE_SIDED) {
    reasons.push('These peers send bad reports only: about five independent reports are needed.');
  } else if (witnesses > 1 && logOdds < suspicious) {
    reasons.push('Their evidence together is not enough for a verdict.');
  }
  return reasons;
}

function witnessesText({ peers, witnesses, preTrusted }: TrustExplanation): string {
  const known = preTrusted ? ', including a pre-trusted one' : '';
  if (peers === 1) return `Known to one peer only${preTrusted ? ', which is pre-trusted' : ''}.`;
  if (witnesses === 1)
    return `Known to ${peers} peers, of which only one is an independent witness with a weight${known}.`;
  if (witnesses === peers) return `Known to ${peers} independent peers${known}.`;
  return `Known to ${peers} peers, which are ${witnesses} independent witnesses${known}.`;
}

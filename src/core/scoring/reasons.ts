/** Why a player has its verdict, in words. Of few peers nothing is said that would tell what a single one reported. */
import { limits } from '../../limits.js';
import type { Verdict } from '../vocabulary.js';
import type { TrustExplanation } from './score.js';

/** From here on what is heard counts as coming from peers that only report. */
const ONE_SIDED = 0.5;

/** One to three sentences. */
export function reasonsOf(verdict: Verdict, explanation: TrustExplanation): string[] {
  const { peers, witnesses, oneSided, logOdds, suspicious, allowed } = explanation;
  if (allowed) return ['The player is on the allow list of the group: it is neutral, whatever its peers reported.'];
  if (peers === 0) return ['No peer holds evidence about this player that counts.'];
  if (witnesses === 0)
    return [
      'No peer that knows this player has a weight: weights are not computed yet, or what its peers send proves nothing.',
    ];
  const reasons = [witnessesText(explanation)];
  if (verdict === 'trusted') return reasons;
  if (verdict === 'untrusted' || verdict === 'suspicious') {
    if (oneSided < ONE_SIDED)
      reasons.push('Most of what they say comes from peers that report and also say what is good.');
    if (verdict === 'suspicious') reasons.push('For untrusted, more independent witnesses would have to agree.');
    return reasons;
  }
  if (logOdds <= 0) {
    if (peers >= limits.summaryPeersMin && explanation.lowering > 0)
      reasons.push('Its peers differ, and what is good prevails.');
    if (logOdds < 0) reasons.push('For trusted, more that is good would have to be known.');
    return reasons;
  }
  if (witnesses > 1 && oneSided >= ONE_SIDED) {
    reasons.push('The peers that reported it only report: about five independent reports are needed.');
  } else if (witnesses > 1 && logOdds < suspicious) {
    reasons.push('What they say together is not enough to tell.');
  }
  return reasons;
}

function witnessesText({ peers, witnesses, preTrusted }: TrustExplanation): string {
  const known = preTrusted ? ', a pre-trusted one among them' : '';
  if (peers === 1) return `Known to one peer only${preTrusted ? ', which is pre-trusted' : ''}.`;
  if (witnesses === 1)
    return `Known to ${peers} peers, of which only one is an independent witness with a weight${known}.`;
  if (witnesses === peers) return `Known to ${peers} independent peers${known}.`;
  return `Known to ${peers} peers, which are ${witnesses} independent witnesses${known}.`;
}

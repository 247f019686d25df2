/** Explains a verdict in words, which reveal nothing that a single peer reported. */
import { limits } from '../../limits.js';
import type { Verdict } from '../vocabulary.js';
import type { TrustExplanation } from './explanation.js';

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
  const reasons = [witnessesText(explanation), ...bansText(verdict, explanation)];
  if (verdict === 'trusted') return reasons;
  if (verdict === 'untrusted' || verdict === 'suspicious') {
    if (explanation.banned === 0 && oneSided < ONE_SIDED)
      reasons.push('Most of this evidence comes from peers that also report good behaviour.');
    if (verdict === 'suspicious' && reasons.length < 2)
      reasons.push('For untrusted, more independent witnesses would have to agree.');
    return reasons;
  }
  if (logOdds <= 0) {
    if (peers >= limits.summaryPeersMin && explanation.lowering > 0)
      reasons.push('Its peers disagree, and the good reports prevail.');
    if (logOdds < 0) reasons.push('For trusted, more good reports would be needed.');
    return reasons;
  }
  if (witnesses > 1 && oneSided >= ONE_SIDED && explanation.banned === 0) {
    reasons.push('Reports alone: about five independent peers are needed; bans and good sessions would say more.');
  } else if (witnesses > 1 && logOdds < suspicious) {
    reasons.push('Their evidence together is not enough for a verdict.');
  }
  return reasons;
}

/** Independent bans from which a player whom nobody praises is untrusted. */
const UNTRUSTED_BANS = 3;

/** Returns a sentence about the bans, or none: of two peers it must not tell which one banned. */
function bansText(verdict: Verdict, { peers, banned, bannedAfterOthers, bans }: TrustExplanation): string[] {
  const isPublic = peers >= limits.summaryPeersMin || (peers > 1 && banned === peers);
  if (!isPublic || banned === 0) return [];
  const servers = bans === 1 ? '1 independent server' : `${bans} independent servers`;
  const counted = bans < banned && bannedAfterOthers > 0;
  const said = counted
    ? `${banned} peers banned it, ${bannedAfterOthers} of them after others had: they count as ${bans}`
    : `Banned by ${bans < banned ? `${banned} peers, which count as ${servers}` : servers}`;
  const oneMore = verdict === 'suspicious' && bans === UNTRUSTED_BANS - 1;
  return [`${said}${oneMore ? '; one more would make it untrusted' : ''}.`];
}

function witnessesText({ peers, witnesses, preTrusted }: TrustExplanation): string {
  // Of fewer peers it would tell who they are.
  const known = preTrusted && peers >= limits.summaryPeersMin ? ', including a pre-trusted one' : '';
  if (peers === 1) return 'Known to one peer only.';
  if (witnesses === 1)
    return `Known to ${peers} peers, of which only one is an independent witness with a weight${known}.`;
  if (witnesses === peers) return `Known to ${peers} independent peers${known}.`;
  return `Known to ${peers} peers, which are ${witnesses} independent witnesses${known}.`;
}

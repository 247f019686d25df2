/**
 * Looks a player up for the operator: the score with its explanation, and the public summary. Returns no peer's events.
 */
import { refusalOfRawIds } from '../../core/hashing/pseudonym.js';
import { reasonsOf } from '../../core/scoring/reasons.js';
import { publishedFigures } from '../../core/scoring/score.js';
import { granted, type Outcome, refused } from '../../errors.js';
import type { AllowedPlayer, OperatorApi, PlayerEvents, TrustExplanation, TrustView } from '../../group/api.js';
import { limits } from '../../limits.js';
import { playerId } from '../../validation/identifiers.js';
import { validatorOf } from '../../validation/validator.js';

/** Returns the 32 bytes of a player's subject hash; null if the group does not accept the entered id. */
export type Pseudonymise = (playerId: string) => Uint8Array | null;

const validateLookUp = validatorOf({ type: 'object', required: ['player_id'], properties: { player_id: playerId } });

/**
 * Codes: schema_validation_failed, subject_hash_required, player_id_not_canonical, player_not_found, overloaded,
 * dependency_unavailable.
 */
export async function lookUpPlayer(
  group: OperatorApi,
  pseudonymise: Pseudonymise,
  body: unknown,
): Promise<Outcome<ReturnType<typeof playerValue>>> {
  const asked = validateLookUp(body);
  if (!asked.ok) return asked;
  const subject = pseudonymise(asked.value.player_id);
  if (subject === null) return refused(refusalOfRawIds(group.identity.identityMode));
  const view = group.trust(subject);
  const explanation = group.explain(subject);
  if (view === undefined || explanation === undefined) return refused('player_not_found');
  const events = await group.playerEvents(subject, null, 1, null);
  if (!events.ok) return events;
  const allowed = group.allowedPlayer(subject);
  return granted(playerValue(subject, view, explanation, events.value, allowed));
}

/** A player as the operator sees it: the values that every peer may read, and no peer's events. */
export function playerValue(
  subject: Uint8Array,
  view: TrustView,
  explanation: TrustExplanation,
  { summarised, summary }: PlayerEvents,
  allowed: AllowedPlayer | undefined,
) {
  // A split of fewer peers' evidence would reveal what a single peer reported.
  const isSplit = explanation.peers >= limits.summaryPeersMin;
  return {
    subject_hash: Buffer.from(subject).toString('hex'),
    allowed: allowed === undefined ? null : { until: new Date(allowed.until).toISOString(), note: allowed.note },
    ...publishedFigures(view),
    verdict: view.verdict,
    event_count: view.eventCount,
    updated_at: new Date(view.updatedAt).toISOString(),
    explain: {
      lowering: isSplit ? explanation.lowering : null,
      raising: isSplit ? explanation.raising : null,
      reasons: reasonsOf(view.verdict, explanation),
      witnesses: explanation.witnesses,
      two_sided: explanation.oneSided < 0.5,
      peers: explanation.peers,
      pre_trusted: explanation.preTrusted,
      half_life_days: explanation.halfLifeDays,
      ban_half_life_days: explanation.banHalfLifeDays,
      weights_based_on_seq: explanation.weightsBasedOnSeq,
    },
    /** The public summary; it covers the newest `summarised` events. */
    summarised,
    /** `week` is null on the row `other`, which is the only one if fewer than three peers contributed. */
    summary: summary.map(({ eventType, week, count }) => ({ event_type: eventType, week: week ?? null, count })),
  };
}

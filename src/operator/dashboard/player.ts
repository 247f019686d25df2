/**
 * Looks a player up for the operator: the score with its explanation, and the public summary. Returns no peer's events.
 */
import { refusalOfRawIds } from '../../core/hashing/pseudonym.js';
import { reasonsOf } from '../../core/scoring/reasons.js';
import { granted, type Outcome, refused } from '../../errors.js';
import type { GroupApi } from '../../group/api.js';
import { limits } from '../../limits.js';
import { playerId } from '../../validation/identifiers.js';
import { validatorOf } from '../../validation/validator.js';
import type { PlayerValue } from './wire.js';

/** Returns the 32 bytes of a player's subject hash; null if the group does not accept the entered id. */
export type Pseudonymise = (playerId: string) => Uint8Array | null;

const validateLookUp = validatorOf({ type: 'object', required: ['player_id'], properties: { player_id: playerId } });

/**
 * Codes: schema_validation_failed, subject_hash_required, player_id_not_canonical, player_not_found, overloaded,
 * dependency_unavailable.
 */
export async function lookUpPlayer(
  group: GroupApi,
  pseudonymise: Pseudonymise,
  body: unknown,
): Promise<Outcome<PlayerValue>> {
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
  const isSplit = explanation.peers >= limits.summaryPeersMin;
  return granted({
    subject_hash: Buffer.from(subject).toString('hex'),
    allowed: allowed === undefined ? null : { until: new Date(allowed.until).toISOString(), note: allowed.note },
    score: view.score,
    confidence: view.confidence,
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
    summarised: events.value.summarised,
    summary: events.value.summary.map(({ eventType, week, count }) => ({
      event_type: eventType,
      week: week ?? null,
      count,
    })),
  });
}

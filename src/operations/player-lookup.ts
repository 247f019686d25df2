/** Looks a player up for the operator: the score with its explanation, and the public summary. */
import { refusalOfRawIds } from '../core/hashing/pseudonym.js';
import { reasonsOf } from '../core/scoring/reasons.js';
import { publishedFigures } from '../core/scoring/score.js';
import { granted, type Outcome, refused } from '../errors.js';
import type { AllowedPlayer, OperatorApi, PlayerEvents, TrustExplanation, TrustView } from '../group/api.js';
import { limits } from '../limits.js';
import { isoTime, type Pseudonymise } from './operation.js';
import { facts, table } from './text-table.js';

/** Codes: subject_hash_required, player_id_not_canonical, player_not_found, overloaded, dependency_unavailable. */
export async function lookUpPlayer(
  group: OperatorApi,
  pseudonymise: Pseudonymise,
  playerId: string,
): Promise<Outcome<PlayerValue>> {
  const subject = pseudonymise(playerId);
  if (subject === null) return refused(refusalOfRawIds(group.identity.identityMode));
  const view = group.trust(subject);
  const explanation = group.explain(subject);
  if (view === undefined || explanation === undefined) return refused('player_not_found');
  const events = await group.playerEvents(subject, null, 1, null);
  if (!events.ok) return events;
  const allowed = group.allowedPlayer(subject);
  return granted(playerValue(subject, view, explanation, events.value, allowed));
}

export interface PlayerValue extends ReturnType<typeof playerValue> {}

/** A player as the operator sees it: the values that every peer may read, and no peer's events. */
function playerValue(
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
    allowed: allowed === undefined ? null : { until: isoTime(allowed.until), note: allowed.note },
    ...publishedFigures(view),
    verdict: view.verdict,
    event_count: view.eventCount,
    updated_at: isoTime(view.updatedAt),
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

/** How the evidence about a player points, and of how many peers; for an operator's decision. */
export function evidenceValue(group: OperatorApi, subject: Uint8Array) {
  const [view, explanation] = [group.trust(subject), group.explain(subject)];
  if (view === undefined || explanation === undefined) return null;
  const { lowering, raising, peers } = explanation;
  const oneWay = lowering > 0 ? ('lowering' as const) : ('raising' as const);
  const direction =
    lowering > 0 && raising > 0 ? ('both' as const) : lowering + raising > 0 ? oneWay : ('none' as const);
  return { verdict: view.verdict, score: publishedFigures(view).score, event_count: view.eventCount, peers, direction };
}

export function playerLines(player: PlayerValue, width: number): string[] {
  const { explain, allowed } = player;
  const known = (value: number | null): string => value?.toFixed(2) ?? 'not shown with fewer than 3 peers';
  const lines = facts(
    [
      ['subject', player.subject_hash],
      ['verdict', `${player.verdict}${allowed === null ? '' : `, on the allow list until ${allowed.until}`}`],
      ['score', player.score.toFixed(1)],
      ['confidence', player.confidence.toFixed(2)],
      ['why', explain.reasons.join(' ')],
      ['events', player.event_count],
      ['peers', `${explain.peers}${explain.pre_trusted ? ', pre-trusted ones among them' : ''}`],
      ['witnesses', explain.witnesses],
      ['lowering', known(explain.lowering)],
      ['raising', known(explain.raising)],
      ['changed', player.updated_at],
    ],
    width,
  );
  if (player.summary.length === 0) return lines;
  const rows = player.summary.map(({ event_type, week, count }) => [event_type, week ?? '', count]);
  return [...lines, '', ...table(rows, width, ['reported', 'week', 'events'])];
}

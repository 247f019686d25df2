/** The body of a score as the contract states it: what the JSON that is written byte by byte must equal. */

import type { TrustScoreBody } from '../../../src/contract/response-bodies.js';
import type { TrustView } from '../../../src/group/api.js';

const hourMs = 3_600_000;

export function scoreBody(playerId: string, view: TrustView): TrustScoreBody {
  return {
    player_id: playerId,
    score: Math.round(view.score * 100) / 100,
    confidence: Math.round(view.confidence * 10_000) / 10_000,
    verdict: view.verdict,
    event_count: view.eventCount,
    updated_at: new Date(Math.floor(view.updatedAt / hourMs) * hourMs).toISOString(),
  };
}

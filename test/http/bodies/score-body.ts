/** The body of a score as the contract states it: what the JSON that is written byte by byte must equal. */

import type { TrustScoreBody } from '../../../src/contract/response-bodies.js';
import { publishedFigures } from '../../../src/core/scoring/score.js';
import type { TrustView } from '../../../src/group/api.js';

const hourMs = 3_600_000;

export function scoreBody(playerId: string, view: TrustView): TrustScoreBody {
  return {
    player_id: playerId,
    ...publishedFigures(view),
    verdict: view.verdict,
    event_count: view.eventCount,
    updated_at: new Date(Math.floor(view.updatedAt / hourMs) * hourMs).toISOString(),
  };
}

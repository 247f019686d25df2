/** Bodies that the contract accepts, for tests to spoil. */
import type { EventBody } from '../../src/contract/request-bodies.js';

let made = 0;

/** A valid event of a new id. */
export function eventBody(more: Partial<EventBody> = {}): EventBody {
  made += 1;
  return {
    schema_version: '1.0.0',
    event_id: `event-${made}`,
    event_type: 'report_cheating',
    peer_id: '00000000-0000-4000-8000-000000000000',
    player_id: 'player-1',
    game_id: 'arena',
    severity: 0.5,
    timestamp: '2026-01-02T03:04:05.678Z',
    ...more,
  };
}

/** Builds the event that reports an entry of a plan, with an event id that follows from the ban. */
import * as crypto from 'node:crypto';
import type { TrustEvent } from '../../client/entry.js';
import type { RowKind } from '../formats/list-row.js';
import type { PlanEntry } from './plan.js';

export interface EventOptions {
  readonly peerId: string;
  /** Keys the event ids, so that nobody can find the player of an event id by trial. */
  readonly groupSalt: string;
  readonly list: string;
  readonly gameId: string;
  /** Name of the public list, as the operator declared it; undefined if the list is the peer's own. */
  readonly origin?: string | undefined;
}

const typeOf = {
  ban: 'ban_applied',
  cheating: 'report_cheating',
  toxicity: 'report_toxicity',
} as const satisfies Record<RowKind, TrustEvent['eventType']>;

/** Returns the event that reports an entry. The same ban gives the same event id, however the list spells it. */
export function eventOf(entry: PlanEntry, options: EventOptions): TrustEvent {
  const { peerId, groupSalt, list, gameId, origin } = options;
  const { player, at, says, severity } = entry;
  const playerId = player.id;
  const ban = JSON.stringify(['ban list', peerId, list, playerId, at, says]);
  const digest = crypto.createHmac('sha256', groupSalt).update(ban).digest('hex');
  return {
    eventType: typeOf[says],
    playerId,
    gameId,
    severity,
    eventId: `import:${digest.slice(0, 40)}`,
    ...(at === null ? {} : { at }),
    origin,
  };
}

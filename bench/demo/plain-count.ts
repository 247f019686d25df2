/** The field's rule, without weights: how many game servers have a player banned. */
import type { TrustEvent } from '../../src/client/write/client-event.js';
import type { Player } from './players.js';

export class PlainCount {
  readonly #bannedBy = new Map<string, Set<string>>();

  add(server: string, { eventType, playerId }: TrustEvent): void {
    const servers = this.#bannedBy.get(playerId) ?? new Set();
    if (eventType === 'ban_applied') servers.add(server);
    if (eventType === 'ban_lifted') servers.delete(server);
    this.#bannedBy.set(playerId, servers);
  }

  /** The number of game servers with a standing ban of the player. */
  bans({ id }: Player): number {
    return this.#bannedBy.get(id)?.size ?? 0;
  }
}

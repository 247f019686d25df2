/** The verdicts of a shared list without weights: a player is condemned once more events report than praise it. */
import type { TrustEvent } from '../../src/client/write/submission.js';
import type { Player } from './players.js';

const reports: readonly string[] = ['report_cheating', 'ban_applied'];

export class PlainCount {
  readonly #balance = new Map<string, number>();

  add({ eventType, playerId }: TrustEvent): void {
    const step = reports.includes(eventType) ? 1 : eventType === 'commendation' ? -1 : 0;
    this.#balance.set(playerId, (this.#balance.get(playerId) ?? 0) + step);
  }

  condemns({ id }: Player): boolean {
    return (this.#balance.get(id) ?? 0) > 0;
  }
}

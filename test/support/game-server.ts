/** A peer that sends events to a node over HTTP, and withdraws some. */
import * as assert from 'uvu/assert';

// On a busy machine an idle connection may be closed just when it is used again, so each request opens a new one.
const json = { 'content-type': 'application/json', connection: 'close' };

export interface SentEvent {
  readonly id: string;
  readonly player: string;
}

export class GameServer {
  readonly url: string;
  readonly peerId: string;
  readonly #headers: Record<string, string>;

  private constructor(url: string, peerId: string, key: string) {
    this.url = url;
    this.peerId = peerId;
    this.#headers = { ...json, 'x-peer-api-key': key };
  }

  static async register(url: string, name: string): Promise<GameServer> {
    const body = JSON.stringify({ peer_name: name, game_ids: ['g'] });
    const response = await fetch(`${url}/api/v1/peers/register`, { method: 'POST', headers: json, body });
    assert.is(response.status, 201);
    const { peer_id, api_key } = (await response.json()) as { peer_id: string; api_key: string };
    return new GameServer(url, peer_id, api_key);
  }

  /** Returns the same peer on a later node. */
  at(url: string): GameServer {
    return new GameServer(url, this.peerId, this.#headers['x-peer-api-key']!);
  }

  /** Sends events. Returns the status of each event, as if it had been sent alone. */
  async send(events: readonly SentEvent[]): Promise<number[]> {
    const fixed = { schema_version: '1.0.0', event_type: 'ban_applied', game_id: 'g', severity: 1 };
    const sent = events.map(({ id, player }) => ({
      ...fixed,
      event_id: id,
      peer_id: this.peerId,
      player_id: player,
      timestamp: '2026-01-01T00:00:00Z',
    }));
    const response = await fetch(`${this.url}/api/v1/events/batch`, {
      method: 'POST',
      headers: this.#headers,
      body: JSON.stringify({ events: sent }),
    });
    const { results } = (await response.json()) as { results: { status: number }[] };
    return results.map(({ status }) => status);
  }

  async withdraw(id: string): Promise<number> {
    return (await fetch(`${this.url}/api/v1/events/${id}`, { method: 'DELETE', headers: this.#headers })).status;
  }

  async erase(subjectHash: string): Promise<number> {
    const path = `${this.url}/api/v1/subjects/${subjectHash}`;
    return (await fetch(path, { method: 'DELETE', headers: this.#headers })).status;
  }

  /** Returns the status of the score, and the number of its events. */
  async score(player: string): Promise<readonly [status: number, events: number | undefined]> {
    const response = await fetch(`${this.url}/api/v1/players/${encodeURIComponent(player)}/trust-score`);
    const { event_count } = (await response.json()) as { event_count?: number };
    return [response.status, event_count];
  }
}

/** One look at the group: weights as its operator sees them, verdicts as a game server reads them. */
import type { TrustClient } from '../../src/client/trust-client.js';
import { callNode } from '../../src/operator/cli/node-client.js';
import { type Character, characters } from './game-servers.js';
import type { PlainCount } from './plain-count.js';
import type { Player, Population } from './players.js';

/** How many players of a kind the group's verdicts and the plain count of bans condemn. */
export interface Tally {
  readonly players: number;
  readonly untrusted: number;
  /** Players with the verdict `suspicious` or `untrusted`. */
  readonly suspicious: number;
  /** Players with standing bans of three game servers or more, and of two or more. */
  readonly threeBans: number;
  readonly twoBans: number;
}

export interface ServerReading extends Character {
  /** Null before the first computation that saw the peer. */
  readonly weight: number | null;
  readonly events: number;
  /** Names of the servers that count as one witness with it, and why. */
  readonly oneWitnessWith: readonly { readonly name: string; readonly reason: string }[];
}

export interface Reading {
  readonly servers: readonly ServerReading[];
  readonly cheaters: Tally;
  readonly good: Tally;
  readonly victims: Tally;
}

const idsPerCall = 128;

export class Reader {
  readonly #dataDir: string;
  readonly #client: TrustClient;
  readonly #population: Population;

  /** `client` follows the verdict stream, so that reads are local. */
  constructor(dataDir: string, client: TrustClient, population: Population) {
    this.#dataDir = dataDir;
    this.#client = client;
    this.#population = population;
  }

  async read(plainCount: PlainCount): Promise<Reading> {
    const { players, victims } = this.#population;
    const verdictOf = await this.#verdicts(players);
    const tally = (some: readonly Player[]): Tally => {
      const count = (isCounted: (player: Player) => boolean) => some.filter(isCounted).length;
      const untrusted = count(({ id }) => verdictOf.get(id) === 'untrusted');
      return {
        players: some.length,
        untrusted,
        suspicious: untrusted + count(({ id }) => verdictOf.get(id) === 'suspicious'),
        threeBans: count((player) => plainCount.bans(player) >= 3),
        twoBans: count((player) => plainCount.bans(player) >= 2),
      };
    };
    return {
      servers: await this.#servers(),
      cheaters: tally(players.filter(({ isCheater }) => isCheater)),
      good: tally(players.filter(({ isCheater }) => !isCheater)),
      victims: tally(victims),
    };
  }

  async #verdicts(players: readonly Player[]): Promise<Map<string, string>> {
    const found = new Map<string, string>();
    for (let from = 0; from < players.length; from += idsPerCall) {
      const ids = players.slice(from, from + idsPerCall).map(({ id }) => id);
      for (const { playerId, verdict } of await this.#client.scores(ids)) found.set(playerId, verdict);
    }
    return found;
  }

  async #servers(): Promise<ServerReading[]> {
    const { data } = await callNode(this.#dataDir, 'peers-list', { from: 0, limit: characters.length });
    const nameOf = new Map(data.map(({ peer_id: id, peer_name: name }) => [id, name]));
    return characters.map((character) => {
      const peer = data.find(({ peer_name: name }) => name === character.name);
      const witnesses = peer?.signals?.one_witness_with ?? [];
      return {
        ...character,
        weight: peer === undefined || peer.signals === null ? null : peer.weight,
        events: peer?.event_count ?? 0,
        oneWitnessWith: witnesses.map(({ peer_id: id, reason }) => ({
          name: nameOf.get(id) ?? id,
          reason: reason.replace('_', ' '),
        })),
      };
    });
  }
}

/** One look at the group: weights as its operator sees them, verdicts as a game server reads them. */
import type { TrustClient } from '../../src/client/trust-client.js';
import { callNode } from '../../src/operator/cli/node-client.js';
import { type Character, characters } from './game-servers.js';
import type { PlainCount } from './plain-count.js';
import type { Player, Population } from './players.js';

export const verdicts = ['untrusted', 'suspicious', 'neutral', 'trusted'] as const;

export type Verdict = (typeof verdicts)[number];

export type VerdictCounts = Readonly<Record<Verdict, number>>;

export interface ServerReading extends Character {
  /** Null before the first computation that saw the peer. */
  readonly weight: number | null;
  readonly events: number;
  /** Names of the servers that count as one witness with it, and why. */
  readonly oneWitnessWith: readonly { readonly name: string; readonly reason: string }[];
}

export interface Reading {
  readonly servers: readonly ServerReading[];
  readonly cheaters: VerdictCounts;
  readonly good: VerdictCounts;
  readonly victims: VerdictCounts;
  /** The verdicts of a plain count of reports. */
  readonly plain: { readonly goodCondemned: number; readonly cheatersCleared: number };
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
    const count = (some: readonly Player[]): VerdictCounts => {
      const counts = { untrusted: 0, suspicious: 0, neutral: 0, trusted: 0 };
      for (const { id } of some) counts[verdictOf.get(id) ?? 'neutral']++;
      return counts;
    };
    const cheaters = players.filter(({ isCheater }) => isCheater);
    const good = players.filter(({ isCheater }) => !isCheater);
    return {
      servers: await this.#servers(),
      cheaters: count(cheaters),
      good: count(good),
      victims: count(victims),
      plain: {
        goodCondemned: good.filter((player) => plainCount.condemns(player)).length,
        cheatersCleared: cheaters.filter((player) => !plainCount.condemns(player)).length,
      },
    };
  }

  async #verdicts(players: readonly Player[]): Promise<Map<string, Verdict>> {
    const found = new Map<string, Verdict>();
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

/** Players with the verdict `suspicious` or `untrusted`. */
export function condemned({ untrusted, suspicious }: VerdictCounts): number {
  return untrusted + suspicious;
}

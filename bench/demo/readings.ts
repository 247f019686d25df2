/** Reads the group of the demo from its node: verdicts by the client, weights and witnesses as an operator does. */
import type { TrustClient } from '../../src/client/trust-client.js';
import { callNode } from '../../src/operator/cli/node-client.js';
import { type Character, characters, type GameServers, type Player, type Population } from './game-servers.js';

/** The group's verdicts and the plain count of bans, each strict and mild, with their names. */
export const rules = {
  untrusted: 'untrusted',
  suspicious: 'suspicious or worse',
  threeBans: 'three bans or more',
  twoBans: 'two bans or more',
} as const;

export type Rule = keyof typeof rules;

/** How many players of a kind each rule condemns. */
export type Tally = Readonly<Record<Rule | 'players', number>>;

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

/** `client` follows the verdict stream, so that reads are local. */
export async function readGroup(
  dataDir: string,
  client: TrustClient,
  { players, victims }: Population,
  servers: GameServers,
): Promise<Reading> {
  const verdictOf = new Map<string, string>();
  for (let from = 0; from < players.length; from += idsPerCall) {
    const ids = players.slice(from, from + idsPerCall).map(({ id }) => id);
    for (const { playerId, verdict } of await client.scores(ids)) verdictOf.set(playerId, verdict);
  }
  const tally = (some: readonly Player[]): Tally => {
    const count = (isCounted: (player: Player) => boolean) => some.filter(isCounted).length;
    const untrusted = count(({ id }) => verdictOf.get(id) === 'untrusted');
    return {
      players: some.length,
      untrusted,
      suspicious: untrusted + count(({ id }) => verdictOf.get(id) === 'suspicious'),
      threeBans: count((player) => servers.bansOf(player) >= 3),
      twoBans: count((player) => servers.bansOf(player) >= 2),
    };
  };
  return {
    servers: await readServers(dataDir),
    cheaters: tally(players.filter(({ isCheater }) => isCheater)),
    good: tally(players.filter(({ isCheater }) => !isCheater)),
    victims: tally(victims),
  };
}

async function readServers(dataDir: string): Promise<ServerReading[]> {
  const { data } = await callNode(dataDir, 'peers-list', { from: 0, limit: characters.length });
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

/** Chooses the ids under which a person with several ids is reported. Only accounts of one row or report are linked. */
import { readPlayerId } from '../../player-ids/player-id.js';

export interface RowId {
  readonly text: string;
  readonly kind?: string;
}

export interface Player {
  readonly id: string;
  readonly kind: string;
}

export type PlayersFound =
  | { readonly ok: true; readonly players: readonly Player[] }
  | { readonly ok: false; readonly text: string };

/** The order if the group has no kinds: ids that most games know come first. */
const usualKinds: readonly string[] =
  'steam minecraft minecraft-offline xbox eos epic psn ea license license2 fivem discord live'.split(' ');

export interface Hints {
  /** The group's kinds of ids, the preferred one first; null if ids are opaque or the kinds are unknown. */
  readonly kinds: readonly string[] | null;
  /** The server in offline mode that created Minecraft UUIDs of version 3. */
  readonly offlineServer?: string | undefined;
}

/** The first id of each of the group's kinds, else one of the kind that most games know; or the reason for none. */
export function playersOf(ids: readonly RowId[], { kinds, offlineServer }: Hints): PlayersFound {
  const order = kinds ?? usualKinds;
  const rankOf = ({ kind }: Player) => (order.includes(kind) ? order.indexOf(kind) : order.length);
  const byKind = new Map<string, Player>();
  let reason: string | null = null;
  for (const { text, kind } of ids) {
    const found = readPlayerId(text, { kind, kinds: kinds ?? undefined, server: offlineServer });
    if (!found.ok) reason ??= `${found.reason}: ${found.text}`;
    else if (!byKind.has(found.kind)) byKind.set(found.kind, { id: found.id, kind: found.kind });
  }
  if (byKind.size === 0) return { ok: false, text: reason ?? 'the row names no player' };
  const players = [...byKind.values()].sort((one, other) => rankOf(one) - rankOf(other));
  return { ok: true, players: kinds === null ? players.slice(0, 1) : players };
}

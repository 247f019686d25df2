/** Chooses the id under which a person with several ids is reported. */
import { readPlayerId } from '../../player-ids/player-id.js';
import type { RowId } from '../formats/list-row.js';

export type PlayerFound =
  | { readonly ok: true; readonly id: string; readonly kind: string }
  | { readonly ok: false; readonly text: string };

/** The order if the group has no kinds: ids that most games know come first. */
const usualKinds: readonly string[] = [
  'steam',
  'minecraft',
  'minecraft-offline',
  'xbox',
  'eos',
  'epic',
  'psn',
  'ea',
  'license',
  'license2',
  'fivem',
  'discord',
  'live',
];

interface Hints {
  readonly kinds: readonly string[] | null;
  readonly offlineServer?: string | undefined;
}

/** Returns the first canonical id of the group's kinds, or the reason for none, which contains no id. */
export function playerOf(ids: readonly RowId[], { kinds, offlineServer }: Hints): PlayerFound {
  const order = kinds ?? usualKinds;
  const rankOf = (kind: string) => (order.includes(kind) ? order.indexOf(kind) : order.length);
  let best: { readonly id: string; readonly kind: string } | null = null;
  let reason: string | null = null;
  for (const { text, kind } of ids) {
    const found = readPlayerId(text, { kind, kinds: kinds ?? undefined, server: offlineServer });
    if (!found.ok) reason ??= `${found.reason}: ${found.text}`;
    else if (best === null || rankOf(found.kind) < rankOf(best.kind)) best = found;
  }
  if (best !== null) return { ok: true, id: best.id, kind: best.kind };
  return { ok: false, text: reason ?? 'the row names no player' };
}

/**
 * Finds the peers and disputes that a request names, by id, by name, or by the beginning of an id, and puts their ids in
 * place. The schema of the request tells which of its members are such ids.
 */
import { granted, type Outcome, refused } from '../errors.js';
import type { OperatorApi } from '../group/api.js';
import { limits } from '../limits.js';
import type { Schema } from '../validation/schema.js';
import { disputeId, peerId } from './operation.js';

/** A shorter beginning of an id is no id: a slip of the keys must not name a peer. */
const PREFIX_MIN = 4;

type Resolve = (group: OperatorApi, text: string) => Outcome<string>;

const resolvers: ReadonlyMap<unknown, Resolve> = new Map([
  [peerId, peerNamed],
  [disputeId, disputeNamed],
]);

/** Codes: unknown_peer, invalid_parameter (a name or beginning that several have). */
export function withIds<R extends object>(
  group: OperatorApi,
  { properties = {} }: { readonly properties?: Readonly<Record<string, Schema>> },
  request: R,
): Outcome<R> {
  const resolved: Record<string, unknown> = Object.fromEntries(Object.entries(request));
  for (const [member, schema] of Object.entries(properties)) {
    const value = resolved[member];
    const resolve = resolvers.get(schema) ?? resolvers.get(schema.items);
    if (value === undefined || resolve === undefined) continue;
    const ids: string[] = [];
    for (const text of Array.isArray(value) ? value : [value]) {
      const id = resolve(group, text);
      if (!id.ok) return id;
      ids.push(id.value);
    }
    resolved[member] = Array.isArray(value) ? [...new Set(ids)] : ids[0];
  }
  return granted(resolved as R);
}

/**
 * A peer chooses its own name, which may be another's name or the beginning of another's id: whatever fits several
 * peers is refused. A text that fits none is passed on, for the operation to refuse.
 */
function peerNamed(group: OperatorApi, text: string): Outcome<string> {
  if (group.peerById(text) !== undefined) return granted(text);
  const fitting = group
    .peers(0, limits.peersMaxCeiling)
    .filter((peer) => peer.peerName === text || isPrefix(text, peer.peerId));
  const standing = fitting.filter(({ status }) => status !== 'revoked');
  const found = (standing.length > 0 ? standing : fitting).map((peer) => `${peer.peerId} (${peer.peerName})`);
  return only(standing[0]?.peerId ?? fitting[0]?.peerId, text, found);
}

function disputeNamed(group: OperatorApi, text: string): Outcome<string> {
  const all = group.disputes().map(({ id }) => id);
  if (all.includes(text)) return granted(text);
  const found = all.filter((id) => isPrefix(text, id));
  return only(found[0], text, found);
}

function isPrefix(text: string, id: string): boolean {
  return text.length >= PREFIX_MIN && id.startsWith(text.toLowerCase());
}

function only(id: string | undefined, text: string, found: readonly string[]): Outcome<string> {
  if (found.length < 2) return granted(id ?? text);
  const some = found.slice(0, 5).join(', ');
  return refused('invalid_parameter', { text: `"${text}" fits ${found.length}: ${some}; give the whole id` });
}

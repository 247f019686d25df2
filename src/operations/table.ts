/** The operations of a node by name. Answers a request by its row, with ids in place of names and beginnings of ids. */
import { granted, type Outcome, refused } from '../errors.js';
import type { OnProgress, OperatorApi } from '../group/api.js';
import { limits } from '../limits.js';
import type { Schema } from '../validation/schema.js';
import { type Validator, validatorOf } from '../validation/validator.js';
import { clusterOperations } from './cluster-operations.js';
import { disputeOperations } from './dispute-operations.js';
import { logOperations } from './log-operations.js';
import { type AskedNode, disputeId, type Operation, peerId } from './operation.js';
import { originOperations } from './origin-operations.js';
import { peerOperations } from './peer-operations.js';
import { playerOperations } from './player-operations.js';
import { simulationOperations } from './simulation-operation.js';
import { statusOperations } from './status-operation.js';

const rows = {
  ...statusOperations,
  ...peerOperations,
  ...originOperations,
  ...disputeOperations,
  ...playerOperations,
  ...logOperations,
  ...simulationOperations,
  ...clusterOperations,
};

export type OperationName = keyof typeof rows;

export type Requests = {
  readonly [N in OperationName]: (typeof rows)[N] extends Operation<infer Request, infer _> ? Request : never;
};
export type Values = {
  readonly [N in OperationName]: (typeof rows)[N] extends Operation<infer _, infer Value> ? Value : never;
};

export const operations: { readonly [N in OperationName]: Operation<Requests[N], Values[N]> } = rows;

export function isOperationName(name: string): name is OperationName {
  return Object.hasOwn(operations, name);
}

/** Compiled at first use: a run of the command needs only one of them. */
const validators = new Map<OperationName, Validator<unknown>>();

/** Returns the body as the request of an operation, or `schema_validation_failed` with the faults. */
export function checkRequest<N extends OperationName>(name: N, body: unknown): Outcome<Requests[N]> {
  const validate = validators.get(name) ?? validatorOf(operations[name].request);
  validators.set(name, validate);
  const checked = validate(body);
  return checked.ok ? granted(body as Requests[N]) : checked;
}

/** Asks operations of one node. Codes of refusals: schema_validation_failed, and those of the operation. */
export type Ask = <N extends OperationName>(
  name: N,
  body: unknown,
  onProgress?: OnProgress,
) => Promise<Outcome<Values[N]>>;

export function asksOf(node: AskedNode): Ask {
  return async (name, body, onProgress = () => {}) => {
    const request = checkRequest(name, body);
    if (!request.ok) return request;
    const resolved = withIds(node.group, operations[name].request, request.value);
    if (!resolved.ok) return resolved;
    const { by } = request.value as { readonly by?: string };
    const actor = by === undefined ? 'operator' : `operator:${by}`;
    return operations[name].answer(resolved.value, { ...node, by: actor, onProgress });
  };
}

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
 * A peer chooses its own name, which may be another's name or the beginning of another's id: what fits several peers is
 * refused. A revoked peer counts only if no other fits, since its server may have registered again.
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
  const all = group.disputeIds();
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

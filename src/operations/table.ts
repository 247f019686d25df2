/**
 * The operations of a node by the names that socket and dashboard know. Answers a request by its row.
 */
import { granted, type Outcome } from '../errors.js';
import type { OnProgress, OperatorApi } from '../group/api.js';
import { type Validator, validatorOf } from '../validation/validator.js';
import { clusterOperations } from './cluster-operations.js';
import { disputeOperations } from './dispute-operations.js';
import { logOperations } from './log-operations.js';
import type { Operation } from './operation.js';
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

/** `version` is this release. The dashboard itself need not be able to unlock it. */
export function asksOf(group: OperatorApi, version: string, unlockDashboard: () => void = () => {}): Ask {
  return async (name, body, onProgress = () => {}) => {
    const request = checkRequest(name, body);
    if (!request.ok) return request;
    const { by } = request.value as { readonly by?: string };
    const actor = by === undefined ? 'operator' : `operator:${by}`;
    return operations[name].answer(request.value, { group, version, by: actor, onProgress, unlockDashboard });
  };
}

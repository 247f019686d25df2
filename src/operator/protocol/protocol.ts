/**
 * Declares the protocol between the operator command and the node over the socket: the schema of each command's
 * request, from which its type follows, and the type of its value. Both ends check requests with the same schemas.
 */
import type { PeerRelation } from '../../core/relations.js';
import { disputeStatuses, peerStatuses } from '../../core/vocabulary.js';
import { granted, type Outcome } from '../../errors.js';
import { limits } from '../../limits.js';
import {
  contactEmail,
  gameIds,
  operatorPatterns,
  originName,
  peerName,
  publicKey,
} from '../../validation/identifiers.js';
import { type FromSchema, shape } from '../../validation/schema.js';
import { type Validator, validatorOf } from '../../validation/validator.js';
import type { SubjectExportValue } from './subject-export.js';
import type {
  AllowedPlayerValue,
  AuditEntryValue,
  ClusterValue,
  DisputeValue,
  ListedPeerValue,
  OriginValue,
  PeerValue,
  PendingErasureValue,
  PreTrustValue,
  PublishedWeightsValue,
  SimulationValue,
  StatusValue,
  VerifyValue,
} from './values.js';

export interface Values {
  readonly status: StatusValue;
  readonly 'peers-list': { readonly data: readonly ListedPeerValue[]; readonly next_from: number | null };
  readonly 'peers-add': PeerValue & { readonly api_key: string };
  readonly 'peers-status': PeerValue;
  readonly 'peers-rotate-key': PeerValue & { readonly api_key: string; readonly overlap_ms: number };
  readonly 'peers-set-key': PeerValue;
  readonly 'peers-purge': { readonly purged: readonly string[] };
  readonly 'peers-relate': {
    readonly relation: PeerRelation['relation'];
    readonly peers: readonly [PeerValue, PeerValue];
  };
  readonly 'pretrust-list': PreTrustValue;
  readonly 'pretrust-change': PreTrustValue;
  readonly 'origins-list': { readonly data: readonly OriginValue[] };
  readonly 'origins-change': OriginValue;
  readonly 'disputes-list': { readonly data: readonly DisputeValue[]; readonly next_from: number | null };
  readonly 'disputes-decide': DisputeValue;
  readonly 'subject-export': SubjectExportValue;
  readonly 'allow-list': { readonly data: readonly AllowedPlayerValue[]; readonly next_from: number | null };
  readonly 'allow-add': AllowedPlayerValue;
  readonly 'allow-remove': { readonly subject_hash: string };
  readonly 'erase-pending': { readonly data: readonly PendingErasureValue[] };
  readonly erase: {
    readonly subject_hash: string;
    readonly status: 'erased' | 'pending';
    readonly events_erased: number;
    readonly erased_at: string;
    readonly receipt: string;
  };
  readonly 'audit-tail': { readonly data: readonly AuditEntryValue[] };
  readonly 'audit-page': { readonly data: readonly AuditEntryValue[]; readonly next_after: number | null };
  readonly 'weights-page': {
    readonly data: readonly PublishedWeightsValue[];
    readonly next_after: number | null;
    readonly last_seq: number;
  };
  readonly simulate: SimulationValue;
  readonly verify: VerifyValue;
  readonly 'cluster-status': ClusterValue;
  readonly 'cluster-step-down': { readonly node_id: string };
  readonly 'cluster-scrub': { readonly complete: boolean; readonly detail: string; readonly marker: string | null };
  readonly 'cluster-forget': { readonly node_id: string };
}

/** Path prefix to which commands are posted. */
export const commandPath = '/v1/';

const count = (minimum: number, maximum: number) => ({ type: 'integer', minimum, maximum }) as const;
/**
 * Name of the operator for the audit log; without it the log says `operator`. A single line, because people read the
 * audit log on terminals.
 */
const by = {
  type: 'string',
  minLength: 1,
  maxLength: limits.peerNameLength,
  pattern: operatorPatterns.oneLine,
} as const;
const note = {
  type: 'string',
  minLength: 1,
  maxLength: limits.allowNoteLength,
  pattern: operatorPatterns.oneLine,
} as const;
const subjectHash = { type: 'string', pattern: operatorPatterns.subjectHash } as const;
const peerId = {
  type: 'string',
  minLength: 1,
  maxLength: limits.peerIdLength,
  pattern: operatorPatterns.moreThanBlanks,
} as const;

const schemas = {
  status: shape({}),
  /** Lists peers numbered from `from` on. */
  'peers-list': shape({ from: count(0, limits.peersMaxCeiling), limit: count(1, limits.pageMax) }),
  'peers-add': shape(
    { peer_name: peerName, game_ids: gameIds, contact_email: contactEmail, public_key: publicKey, by },
    ['contact_email', 'public_key', 'by'],
  ),
  'peers-status': shape({ peer_id: peerId, status: { enum: peerStatuses }, by }, ['by']),
  'peers-rotate-key': shape({ peer_id: peerId, overlap_ms: count(0, limits.keyOverlapMsMax), by }, ['by']),
  /** Null removes the key. */
  'peers-set-key': shape({ peer_id: peerId, public_key: { ...publicKey, type: ['string', 'null'] }, by }, ['by']),
  /** Revokes peers that never sent an event. */
  'peers-purge': shape({ idle_ms: count(0, limits.purgeIdleMsMax), by }, ['by']),
  /** Declares whether two peers are one witness. */
  'peers-relate': shape({ relation: { enum: ['same', 'independent'] }, peer_id: peerId, other_id: peerId, by }, ['by']),
  'pretrust-list': shape({}),
  'pretrust-change': shape({ change: { enum: ['add', 'remove'] }, peer_id: peerId, by }, ['by']),
  'origins-list': shape({}),
  'origins-change': shape({ change: { enum: ['add', 'remove'] }, name: originName, by }, ['by']),
  /** Lists disputes, the oldest first, from position `from` on; those with one status if it is given. */
  'disputes-list': shape(
    {
      from: count(0, Number.MAX_SAFE_INTEGER),
      limit: count(1, limits.pageMax),
      status: { enum: disputeStatuses },
    },
    ['status'],
  ),
  /** `peer_ids`: to uphold, the peers whose events become void. */
  'disputes-decide': shape(
    {
      decision: { enum: ['uphold', 'reject', 'undo'] },
      dispute_id: peerId,
      peer_ids: { type: 'array', minItems: 1, maxItems: limits.disputeVoidsMax, uniqueItems: true, items: peerId },
      by,
    },
    ['peer_ids', 'by'],
  ),
  'subject-export': shape({ subject_hash: subjectHash, by }, ['by']),
  /** Lists entries from position `from` on. */
  'allow-list': shape({ from: count(0, limits.allowedSubjectsMax), limit: count(1, limits.pageMax) }),
  'allow-add': shape({ subject_hash: subjectHash, until: { type: 'string', format: 'date-time' }, note, by }, ['by']),
  'allow-remove': shape({ subject_hash: subjectHash, by }, ['by']),
  'erase-pending': shape({}),
  erase: shape({ subject_hash: subjectHash, by }, ['by']),
  /** The newest entries; with `before`, the newest ones below that sequence number. */
  'audit-tail': shape({ count: count(1, limits.pageMax), before: count(1, Number.MAX_SAFE_INTEGER) }, ['before']),
  /** Entries with a sequence number above `after`. */
  'audit-page': shape({ after: count(0, Number.MAX_SAFE_INTEGER), limit: count(1, limits.pageMax) }),
  /** Peer weights published after record `after`. */
  'weights-page': shape({ after: count(0, Number.MAX_SAFE_INTEGER) }),
  /** At least one of the assumptions, besides `rows`: the largest number of players, and of peers, to list. */
  simulate: {
    ...shape(
      {
        pre_trusted: { type: 'array', maxItems: limits.preTrustedMax, uniqueItems: true, items: peerId },
        without: { type: 'array', minItems: 1, maxItems: limits.preTrustedMax, uniqueItems: true, items: peerId },
        half_life_days: count(0, limits.halfLifeDaysMax),
        ban_half_life_days: count(0, limits.halfLifeDaysMax),
        rows: count(1, limits.pageMax),
      },
      ['pre_trusted', 'without', 'half_life_days', 'ban_half_life_days'],
    ),
    minProperties: 2,
  },
  verify: shape({}),
  'cluster-status': shape({}),
  'cluster-step-down': shape({}),
  'cluster-scrub': shape(
    { snapshot_count: count(1, limits.walSnapshotEntriesMax), max_wals: count(1, limits.walFilesMax) },
    ['snapshot_count', 'max_wals'],
  ),
  'cluster-forget': shape({ node_id: { type: 'string', minLength: 1, maxLength: limits.nodeIdLength } }),
};

export type CommandName = keyof typeof schemas;

export type Requests = { readonly [C in CommandName]: FromSchema<(typeof schemas)[C]> };

export function isCommandName(name: string): name is CommandName {
  return Object.hasOwn(schemas, name);
}

/** Compiled at first use: a run of the command needs only one of them. */
const validators = new Map<CommandName, Validator<unknown>>();

/** Returns the body as the request of `command`, or `schema_validation_failed` with the faults in text and details. */
export function checkRequest<C extends CommandName>(command: C, body: unknown): Outcome<Requests[C]> {
  const validate = validators.get(command) ?? validatorOf(schemas[command]);
  validators.set(command, validate);
  const checked = validate(body);
  return checked.ok ? granted(body as Requests[C]) : checked;
}

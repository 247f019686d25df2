/** Declares the commands of a group's actor, the answer to each, and the format of records that a command needs. */
import type * as asked from '../core/commands.js';
import type { PeerChangeType } from '../core/peers/peer-changes.js';
import type { readAgain } from '../core/rules/decide-removal.js';
import type { ComputedWeights } from '../core/rules/decide-setting.js';
import type { PendingReason } from '../core/vocabulary.js';
import type { Outcome } from '../errors.js';
import type { Chains, Holdings } from './access/subject-holdings.js';
import type { AcceptedEvent, DisputeView } from './api.js';
import type { RepeatQuery } from './ports/pool.js';

/** Position of an event as of a count of removals from the log; 0 for an unknown id. */
export interface Located {
  readonly seq: number;
  readonly asOf: number;
}

/**
 * No event was decided: the caller reads the log about these `checks` and sends the submission again with the answers.
 */
export interface RepeatsUnknown extends Pick<RepeatQuery, 'checks' | 'expired' | 'withdrawn'> {
  readonly type: 'repeats_unknown';
  readonly events: asked.SubmitEvents['events'];
}

export type Command =
  | ({ readonly type: 'submit' } & asked.SubmitEvents)
  | ({ readonly type: 'register' } & asked.RegisterPeer)
  | asked.ChangePeer
  | ({ readonly type: 'allow' } & asked.AllowPlayer)
  | ({ readonly type: 'disallow' } & asked.DisallowPlayer)
  | ({ readonly type: 'pre_trust' } & asked.ChangePreTrust)
  | ({ readonly type: 'purge_peers' } & asked.PurgePeers)
  | ({ readonly type: 'relate_peers' } & asked.RelatePeers)
  | ({ readonly type: 'origin' } & asked.ChangeOrigin)
  | ({ readonly type: 'open_dispute' } & asked.OpenDispute)
  | ({ readonly type: 'decide_dispute' } & asked.DecideDispute)
  | ({ readonly type: 'export_subject' } & asked.ExportSubject)
  | { readonly type: 'scoring' }
  | ({ readonly type: 'setting' } & asked.ChangeSetting)
  | { readonly type: 'locate'; readonly eventId: string }
  | ({ readonly type: 'withdraw' } & asked.WithdrawEvent)
  | { readonly type: 'chains'; readonly subject: Uint8Array }
  | ({ readonly type: 'erase' } & asked.EraseSubject)
  | ({ readonly type: 'refuse_erasure' } & asked.RefuseErasure)
  | { readonly type: 'publish_weights'; readonly weights: ComputedWeights };

export interface Answers extends Record<PeerChangeType, Outcome<number>> {
  submit: Outcome<AcceptedEvent>[] | RepeatsUnknown;
  register: Outcome<number>;
  /** End of the entry, ms since 1970. */
  allow: Outcome<number>;
  disallow: Outcome<null>;
  pre_trust: Outcome<null>;
  purge_peers: Outcome<readonly string[]>;
  relate_peers: Outcome<null>;
  origin: Outcome<null>;
  open_dispute: Outcome<{ readonly openedAt: number }>;
  decide_dispute: Outcome<DisputeView>;
  export_subject: Outcome<Holdings>;
  scoring: Outcome<null>;
  setting: Outcome<null>;
  locate: Located;
  withdraw: Outcome<{ readonly withdrawnAt: number }> | typeof readAgain;
  chains: Chains | null;
  /** Answered when an erasure is complete on disk, or when its request is durable; a withdrawal likewise. */
  erase: Outcome<{
    readonly events: number;
    readonly pending: boolean;
    readonly reason: PendingReason | null;
    readonly at: number;
  }>;
  refuse_erasure: Outcome<null>;
  publish_weights: Outcome<boolean>;
}

export type Answer = Answers[keyof Answers];

/**
 * The format of the records that a command writes, if not 1; that of a change of a peer stands in `peerChanges`. A new
 * type of record, or a new member that older releases must not ignore, takes the format after that of the last
 * release. Format 2 is the third version of scoring; format 3 has settings, refused erasures and notes.
 */
export const commandFormats = { scoring: 2, setting: 3, refuse_erasure: 3 } satisfies Partial<
  Record<Command['type'], number>
>;

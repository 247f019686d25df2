/**
 * Decides disputes and their outcome. The peer does not know who reported the player; the operator decides whose
 * events are void. Only scores leave these out, so that an undo restores the scores exactly.
 */
import { granted } from '../../errors.js';
import { limits } from '../../limits.js';
import type { DecideDispute, OpenDispute } from '../commands.js';
import { audited, type Decision, grant, refuse } from '../decision.js';
import { subjectHex } from '../hashing/pseudonym.js';
import type { Dispute } from '../registers/disputes.js';
import type { GroupState } from '../state.js';
import { quotaWaitsMs } from './quota.js';

/**
 * Opens a dispute. Codes: peer_not_active, subject_not_found, unknown_peer (the named one), duplicate_dispute (open),
 * dispute_quota_exceeded, nothing_to_dispute (no lowering evidence of the named peer, or of any), overloaded.
 */
export function decideDisputeOpened(state: GroupState, command: OpenDispute, now: number): Decision<null> {
  const { caller, text, disputeId, by } = command;
  if (caller >= 0 && state.peers.at(caller).status !== 'active') return refuse('peer_not_active');
  if (state.subjects.find(command.subject) < 0) return refuse('subject_not_found');
  const against = command.against === undefined ? null : state.peers.byId(command.against);
  if (against === undefined) return refuse('unknown_peer');
  const subject = subjectHex(command.subject);
  const open = state.disputes.of(subject).find(({ peer, status }) => status === 'open' && peer === caller);
  if (open !== undefined) return refuse('duplicate_dispute', { details: { dispute_id: open.id } });
  const { disputeQuotaPerDay: quota, groupDisputesFactor: groupFactor } = limits;
  const { own, group } = quotaWaitsMs(state, state.disputesBy, caller, { quota, groupFactor, isShared: true }, now);
  const wait = Math.max(own, group);
  if (wait > 0) return refuse('dispute_quota_exceeded', { retryAfterS: Math.ceil(wait / 1000) });
  const reporters = reportersOf(state, subject);
  const isReported = against === null ? reporters.length > 0 : reporters.some(({ peer }) => peer === against.index);
  if (!isReported) return refuse('nothing_to_dispute');
  if (state.disputes.counts.open >= limits.disputesOpenMax) {
    return refuse('overloaded', { text: 'too many disputes wait for the operator' });
  }
  return grant(null, {
    type: 'dispute_opened',
    dispute_id: disputeId,
    peer: caller,
    subject,
    text,
    against: against?.index ?? null,
    audit: audited(state, now, { action: 'dispute_opened', actor: by, target: disputeId }),
  });
}

const actions = { uphold: 'dispute_upheld', reject: 'dispute_rejected', undo: 'dispute_undone' } as const;
const statuses = { uphold: 'upheld', reject: 'rejected', undo: 'open' } as const;

/**
 * Upholds or rejects a dispute, or undoes that. Codes: dispute_not_found, dispute_decided (status), unknown_peer (has
 * no lowering evidence), reporter_required (not exactly one is possible, or the text names another one).
 */
export function decideDispute(state: GroupState, command: DecideDispute, now: number): Decision<null> {
  const { decision, disputeId, by } = command;
  const dispute = state.disputes.byId(disputeId);
  if (dispute === undefined) return refuse('dispute_not_found');
  const isOpen = dispute.status === 'open';
  if (isOpen === (decision === 'undo')) {
    const text = isOpen
      ? 'the dispute is open: there is no decision to undo'
      : `the dispute is ${dispute.status}; undo that first`;
    return refuse('dispute_decided', { text });
  }
  const voids = decision === 'uphold' ? voidsOf(state, dispute, command.peerIds) : granted([]);
  if (!voids.ok) return { records: [], outcome: voids };
  return grant(null, {
    type: 'dispute_decided',
    dispute_id: disputeId,
    status: statuses[decision],
    voids: voids.value,
    audit: audited(state, now, { action: actions[decision], actor: by, target: disputeId }),
  });
}

function voidsOf(state: GroupState, dispute: Dispute, peerIds: readonly string[]) {
  const { reporters, addressed, others } = readingOf(state, dispute);
  if (peerIds.length === 0) {
    const isPossible = addressed !== null && reporters.some(({ peer }) => peer === addressed);
    if (isPossible && others.length === 0) return granted([addressed]);
    const text =
      reporters.length === 0
        ? 'no peer holds lowering evidence about this player: no events can become void'
        : isPossible
          ? `name the peers whose events become void: the text of the dispute names ${state.peers.at(others[0]!).peerId}, too`
          : `name the peers whose events become void: ${reporters.length} peers hold lowering evidence about this player`;
    return refuse('reporter_required', { text }).outcome;
  }
  const numbers = new Map(reporters.map(({ peer }) => [state.peers.at(peer).peerId, peer]));
  const other = peerIds.find((peerId) => !numbers.has(peerId));
  if (other !== undefined)
    return refuse('unknown_peer', { text: `${other} holds no lowering evidence about this player` }).outcome;
  return granted([...new Set(peerIds.map((peerId) => numbers.get(peerId)!))].sort((p, q) => p - q));
}

/** Returns the reporters, the one peer that a dispute can be against (null: several), and others its text names. */
export function readingOf(state: GroupState, { subject, against, text }: Dispute) {
  const reporters = reportersOf(state, subject);
  const numbers = reporters.map(({ peer }) => peer);
  const addressed = against ?? (numbers.length === 1 ? numbers[0]! : null);
  return { reporters, addressed, others: state.peerNames.in(text, numbers, addressed) };
}

export interface Holder {
  readonly peer: number;
  readonly lowers: boolean;
  readonly raises: boolean;
  readonly events: number;
  /** Its newest record about the player. */
  readonly head: number;
}

/** Returns the peers with lowering evidence about a player (hex). */
function reportersOf(state: GroupState, subject: string): Holder[] {
  return holdersOf(state, subject).filter(({ lowers }) => lowers);
}

/** Returns the peers that hold events about a player (hex), their own or by an origin, sorted by number. */
export function holdersOf({ subjects, origins }: GroupState, subject: string): Holder[] {
  const row = subjects.find(Buffer.from(subject, 'hex'));
  if (row < 0) return [];
  const holders = new Map<number, Holder>();
  const { entries } = subjects;
  for (const entry of subjects.entriesOf(row)) {
    if (entries.count(entry) === 0) continue;
    const peer = origins.peerOf(entries.peer(entry));
    const before = holders.get(peer);
    holders.set(peer, {
      peer,
      lowers: entries.lowers(entry) || before?.lowers === true,
      raises: entries.raising(entry) > 0 || before?.raises === true,
      events: entries.count(entry) + (before?.events ?? 0),
      head: Math.max(entries.head(entry), before?.head ?? 0),
    });
  }
  return [...holders.values()].sort((p, q) => p.peer - q.peer);
}

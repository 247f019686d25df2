/** Collects what the state holds about one player, as of one record. The events themselves are only in the log. */
import { asOfTime, decayed, decayFactorFor, measureFactorFor } from '../../core/evidence/decay.js';
import { subjectHex } from '../../core/hashing/pseudonym.js';
import type { AllowEntry } from '../../core/registers/allow-list.js';
import type { Dispute } from '../../core/registers/disputes.js';
import { readTrust } from '../../core/scoring/allowed.js';
import type { TrustView } from '../../core/scoring/score.js';
import type { GroupState } from '../../core/state.js';
import type { ChainHead, Chains } from '../ports/chains.js';

export interface PairHolding extends ChainHead {
  readonly events: number;
  /** Decayed sums, in events of severity 1. */
  readonly lowering: number;
  readonly raising: number;
  readonly measure: number;
  /** True if an upheld dispute excludes the evidence from the score. */
  readonly isVoid: boolean;
}

export interface Holdings {
  readonly seq: number;
  /** ms since 1970. */
  readonly at: number;
  readonly trust: TrustView | null;
  readonly pairs: readonly PairHolding[];
  readonly disputes: readonly Dispute[];
  readonly droppedDisputes: readonly number[];
  /** The entry of the allow list, and the records that name the player for it. */
  readonly allowed: AllowEntry | null;
  readonly allowRecords: readonly number[];
  readonly erasureRequests: readonly number[];
  readonly withdrawn: readonly number[];
  /** Events up to this record have left the log. */
  readonly expired: number;
}

export function holdingsOf(state: GroupState, subject: Uint8Array): Holdings {
  const { subjects, lastAt: at } = state;
  const hex = subjectHex(subject);
  const row = subjects.find(subject);
  const asOf = asOfTime(state, at);
  const decayFactor = row < 0 ? 0 : decayFactorFor(state, subjects.evidenceAt(row), asOf);
  const measureFactor = row < 0 ? 0 : measureFactorFor(state, subjects.evidenceAt(row), asOf);
  const pairs = headsOf(state, row).map((head, i): PairHolding => {
    const entry = subjects.firstEntry(row) + i;
    const { entries } = subjects;
    return {
      ...head,
      events: entries.count(entry),
      lowering: decayed(entries.lowering(entry), decayFactor),
      raising: decayed(entries.raising(entry), decayFactor),
      measure: decayed(entries.measure(entry), measureFactor),
      isVoid: entries.isVoid(entry),
    };
  });
  return {
    seq: state.lastSeq,
    at,
    trust: row < 0 ? null : readTrust(state, row, asOf),
    pairs,
    disputes: state.disputes.of(hex),
    droppedDisputes: state.disputes.droppedOf(hex),
    allowed: state.allowed.of(hex)?.entry ?? null,
    allowRecords: state.allowed.of(hex)?.seqs ?? [],
    erasureRequests: state.erasureRequests.of(hex).seqs,
    withdrawn: withdrawnOf(state, hex),
    expired: state.retired.seq,
  };
}

export function chainsOf(state: GroupState, subject: Uint8Array): Chains | null {
  const { subjects, disputes } = state;
  const row = subjects.find(subject);
  if (row < 0) return null;
  const hex = subjectHex(subject);
  const heads = headsOf(state, row);
  const first = subjects.firstEntry(row);
  const total = heads.reduce((events, _, i) => events + subjects.entries.count(first + i), 0);
  const senders = [...new Set(heads.map(({ sender }) => sender))];
  return {
    total,
    heads,
    disputed: disputes.size === 0 ? [] : senders.filter((peer) => disputes.concern(hex, peer)),
    withdrawn: withdrawnOf(state, hex),
    asOf: state.lastSeq,
    expired: state.retired.seq,
  };
}

/** Returns the heads in the order of the player's entries; none for row -1. */
function headsOf({ subjects, origins }: GroupState, row: number): ChainHead[] {
  if (row < 0) return [];
  const first = subjects.firstEntry(row);
  return Array.from({ length: subjects.peerCount(row) }, (_, i) => {
    const peer = subjects.entries.peer(first + i);
    return { peer, sender: origins.peerOf(peer), origin: origins.nameOf(peer), head: subjects.entries.head(first + i) };
  });
}

function withdrawnOf(state: GroupState, subject: string): number[] {
  const withdrawn: number[] = [];
  for (const [eventSeq, withdrawal] of state.withdrawals) if (withdrawal.subject === subject) withdrawn.push(eventSeq);
  return withdrawn;
}

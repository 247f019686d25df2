/** The evidence of a state as the columns that peer trust is computed from, at one moment. */
import { worthOf } from '../decay.js';
import type { EvidenceSubjects, EvidenceView } from '../evidence-view.js';
import { momentOf, worthFor } from '../score.js';
import { trustConstants } from '../trust-constants.js';
import type { EvidenceColumns, PeerFacts } from './columns.js';
import { Scratch } from './scratch.js';

/** A view together with how many peers there are. */
export interface GatheredView extends EvidenceView {
  readonly peers: { readonly size: number };
}

export interface Gathered {
  readonly evidence: EvidenceColumns;
  /** Equal to `evidence` in a group that needs no sample. */
  readonly sample: EvidenceColumns;
  readonly facts: PeerFacts;
  /** Per peer: players that it reported, and those of them that another peer reported too. */
  readonly reported: Uint32Array;
  readonly shared: Uint32Array;
}

/**
 * `at` is in ms since 1970; evidence of a player that is newer is taken at the moment of the newest, as a read takes it. The
 * columns are the scratch's, so they hold until it begins anew.
 */
export function gatherEvidence(state: GatheredView, at: number, scratch = new Scratch()): Gathered {
  const peers = state.peers.size;
  const { excluded, preTrusted } = state.peerWeights;
  const facts = { preTrusted: preTrusted.slice(0, peers), excluded: excluded.slice(0, peers) };
  const rows = heldRows(state.subjects, scratch);
  const evidence = columnsOf(state, rows, at, scratch);
  const most = Math.max(trustConstants.sampledPlayers, trustConstants.sampledPlayersPerPeer * peers);
  const sample =
    rows.length > most ? columnsOf(state, sampleOf(state.subjects, rows, most, scratch), at, scratch) : evidence;
  return { evidence, sample, facts, ...overlapOf(evidence, facts) };
}

function heldRows(subjects: EvidenceSubjects, scratch: Scratch): Uint32Array {
  const rows = scratch.uint32(subjects.size);
  let held = 0;
  for (let row = 0; row < subjects.rows; row++) if (subjects.has(row)) rows[held++] = row;
  return rows;
}

/** Players whose seeded mix falls below a threshold: the same ones each time, and none that a peer can choose. */
function sampleOf(subjects: EvidenceSubjects, rows: Uint32Array, most: number, scratch: Scratch): Uint32Array {
  const threshold = (most / rows.length) * 0x100000000;
  const sample = scratch.uint32(rows.length);
  let taken = 0;
  for (const row of rows) if (subjects.mixOf(row) < threshold) sample[taken++] = row;
  return sample.subarray(0, taken);
}

function columnsOf(state: GatheredView, rows: Uint32Array, at: number, scratch: Scratch): EvidenceColumns {
  const { subjects } = state;
  const { entries } = subjects;
  const moment = momentOf(state, at);
  const offsets = scratch.uint32(rows.length + 1);
  offsets[0] = 0;
  for (let i = 0; i < rows.length; i++) offsets[i + 1] = offsets[i]! + subjects.peerCount(rows[i]!);
  const total = offsets[rows.length]!;
  const peer = scratch.uint16(total);
  const lowering = scratch.float64(total);
  const raising = scratch.float64(total);
  let to = 0;
  for (const row of rows) {
    const worth = worthFor(state, row, moment);
    const first = subjects.firstEntry(row);
    const end = first + subjects.peerCount(row);
    for (let entry = first; entry < end; entry++, to++) {
      peer[to] = entries.peer(entry);
      lowering[to] = worthOf(entries.lowering(entry), worth);
      raising[to] = worthOf(entries.raising(entry), worth);
    }
  }
  return { peers: state.peers.size, players: rows.length, offsets, peer, lowering, raising };
}

/** How many of each peer's players it shares with another: a peer that shares none most likely has another salt. */
function overlapOf(evidence: EvidenceColumns, facts: PeerFacts): { reported: Uint32Array; shared: Uint32Array } {
  const { peers, players, offsets, peer, lowering, raising } = evidence;
  const reported = new Uint32Array(peers);
  const shared = new Uint32Array(peers);
  const isVote = (e: number) => lowering[e]! + raising[e]! > 0 && facts.excluded[peer[e]!] === 0;
  for (let i = 0; i < players; i++) {
    let votes = 0;
    for (let e = offsets[i]!; e < offsets[i + 1]!; e++) if (isVote(e)) votes++;
    for (let e = offsets[i]!; e < offsets[i + 1]!; e++) {
      if (!isVote(e)) continue;
      reported[peer[e]!]!++;
      if (votes > 1) shared[peer[e]!]!++;
    }
  }
  return { reported, shared };
}

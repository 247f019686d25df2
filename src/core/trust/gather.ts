/** The votes of a group, read from the tables of a state at one moment, as peer trust is computed from them. */
import { worthOf } from '../decay.js';
import type { EvidenceSubjects, EvidenceView } from '../evidence-view.js';
import { type Moment, momentOf, worthFor } from '../score.js';
import { HOME_BITS } from '../subject-index.js';
import type { TrustConstants } from '../trust-constants.js';
import type { PeerFacts } from './columns.js';
import type { Scratch } from './scratch.js';
import { VoteSums } from './vote-sums.js';
import { badShare, type Votes } from './votes.js';

/** A view together with how many peers there are. */
export interface GatheredView extends EvidenceView {
  readonly peers: { readonly size: number };
}

export interface GroupVotes {
  /** Of all votes. */
  readonly sums: VoteSums;
  /** To fit log-odds on: all of them, or in a very large group a sample of the players. */
  readonly judged: Votes;
  readonly facts: PeerFacts;
}

/** Entries of one part: what is written of them stays in the second cache until it is summed up. */
const PART_ENTRIES = 4_096;
/** Rows whose entries are fetched together. */
const ROWS_AHEAD = 256;
const WHOLE = 1 << HOME_BITS;

/**
 * `at` is in ms since 1970; evidence of a player that is newer is taken at the moment of the newest, as a read takes it. The
 * columns are the scratch's, so they hold until it begins anew.
 */
export function gatherVotes(state: GatheredView, at: number, c: TrustConstants, scratch: Scratch): GroupVotes {
  const { subjects, peerWeights } = state;
  const peers = state.peers.size;
  const facts = {
    preTrusted: peerWeights.preTrusted.slice(0, peers),
    excluded: peerWeights.excluded.slice(0, peers),
  };
  const sums = new VoteSums(peers, c, scratch);
  const most = Math.max(c.sampledPlayers, c.sampledPlayersPerPeer * peers);
  const isSampled = subjects.size > most;
  // Players whose seeded mix falls below a threshold: the same ones each time, and none that a peer can choose.
  const below = isSampled ? (most / subjects.size) * WHOLE : WHOLE;
  const columns = (entries: number) => new VoteColumns(state, at, facts.excluded, entries, scratch);
  const part = columns(isSampled && sums.takesParts ? Math.max(PART_ENTRIES, peers) : countEntries(subjects, WHOLE));
  const judged = isSampled ? columns(countEntries(subjects, below)) : part;
  for (let from = 0; from < subjects.rows; from += ROWS_AHEAD) {
    const end = Math.min(subjects.rows, from + ROWS_AHEAD);
    warmEntries(subjects, from, end);
    for (let row = from; row < end; row++) {
      const count = subjects.peerCount(row);
      if (count === 0) continue;
      if (count > part.room) {
        sums.take(part);
        part.clear();
      }
      part.add(row, count);
      if (isSampled && subjects.homeOf(row) < below) judged.addLastOf(part);
    }
  }
  sums.take(part);
  return { sums, judged, facts };
}

/**
 * Reads the entries of rows, so that the memory behind comes side by side: one after the other, each would be waited for. Returns a sum
 * that means nothing; without it a compiler could leave the reading out.
 */
function warmEntries(subjects: EvidenceSubjects, from: number, end: number): number {
  let sum = 0;
  for (let row = from; row < end; row++) if (subjects.peerCount(row) > 0) sum += subjects.warmEntries(row);
  return sum;
}

/** Of players whose mix falls below `below`. */
function countEntries(subjects: EvidenceSubjects, below: number): number {
  let count = 0;
  for (let row = 0; row < subjects.rows; row++) if (subjects.homeOf(row) < below) count += subjects.peerCount(row);
  return count;
}

/** Columns of votes that are filled player by player, up to so many entries. */
class VoteColumns implements Votes {
  readonly peers: number;
  players = 0;
  readonly offsets: Uint32Array;
  readonly peer: Uint16Array;
  readonly mass: Float64Array;
  readonly x: Float64Array;
  readonly #view: EvidenceView;
  readonly #moment: Moment;
  readonly #excluded: Uint8Array;

  constructor(view: GatheredView, at: number, excluded: Uint8Array, entries: number, scratch: Scratch) {
    this.peers = view.peers.size;
    // No player is without an entry.
    this.offsets = scratch.uint32(entries + 1);
    this.peer = scratch.uint16(entries);
    this.mass = scratch.float64(entries);
    this.x = scratch.float64(entries);
    this.#view = view;
    this.#moment = momentOf(view, at);
    this.#excluded = excluded;
    this.clear();
  }

  clear(): void {
    this.players = 0;
    this.offsets[0] = 0;
  }

  /** For so many entries more. */
  get room(): number {
    return this.peer.length - this.offsets[this.players]!;
  }

  /** Adds the player of a row, which has `count` entries. */
  add(row: number, count: number): void {
    const { subjects } = this.#view;
    const { entries } = subjects;
    const { peer, mass, x } = this;
    const excluded = this.#excluded;
    const worth = worthFor(this.#view, row, this.#moment);
    const first = subjects.firstEntry(row);
    let to = this.offsets[this.players]!;
    for (let entry = first; entry < first + count; entry++, to++) {
      const j = entries.peer(entry);
      const lowering = worthOf(entries.lowering(entry), worth);
      const m = excluded[j] === 0 ? lowering + worthOf(entries.raising(entry), worth) : 0;
      peer[to] = j;
      mass[to] = m;
      x[to] = badShare(lowering, m);
    }
    this.offsets[++this.players] = to;
  }

  /** Adds the newest player of others. */
  addLastOf({ players, offsets, peer, mass, x }: VoteColumns): void {
    let to = this.offsets[this.players]!;
    for (let e = offsets[players - 1]!; e < offsets[players]!; e++, to++) {
      this.peer[to] = peer[e]!;
      this.mass[to] = mass[e]!;
      this.x[to] = x[e]!;
    }
    this.offsets[++this.players] = to;
  }
}

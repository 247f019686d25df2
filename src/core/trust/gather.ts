/** The votes of a group, read from the tables of a state at one moment, as peer trust is computed from them. */
import type { EvidenceSubjects, EvidenceView } from '../evidence-view.js';
import { type Moment, momentOf, worthFor } from '../score.js';
import { HOME_BITS } from '../subject-index.js';
import type { RowColumns } from '../subjects.js';
import type { TrustConstants } from '../trust-constants.js';
import type { PeerFacts } from './columns.js';
import type { Scratch } from './scratch.js';
import { VoteSums } from './vote-sums.js';
import { VoteColumns, type Votes } from './votes.js';

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
/** Rows that are read together. */
const BLOCK_ROWS = 256;
/** So many entries apart, the entries of two rows still lie near each other. */
const NEAR = 64;
/** Part of a block's rows whose entries may lie elsewhere without being fetched beforehand. */
const ASTRAY_MAX = 1 / 8;
/** What chance may bring beyond what is expected of a sample. */
const SAMPLE_SPARE = 1.1;
const WHOLE = 1 << HOME_BITS;

/**
 * `at` is in ms since 1970; evidence of a player that is newer is taken at the moment of the newest, as a read takes it. The
 * columns are the scratch's, so they hold until it begins anew.
 */
export function gatherVotes(state: GatheredView, at: number, c: TrustConstants, scratch: Scratch): GroupVotes {
  const { subjects, peerWeights } = state;
  const { entries } = subjects;
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
  const columns = (room: number) => new VoteColumns(facts.excluded, room, scratch);
  const inParts = isSampled && sums.takesParts;
  const part = columns(inParts ? Math.max(PART_ENTRIES, peers) : entries.size);
  const judged = isSampled ? columns(sampledEntries(state, below)) : part;
  const moment = momentOf(state, at);
  const rows = new RowBlock();
  const takeRows = () => {
    for (let i = 0; i < rows.size; i++) {
      const count = rows.count[i]!;
      if (count === 0) continue;
      if (!part.hasRoom(count)) {
        sums.take(part);
        part.clear();
      }
      const first = rows.first[i]!;
      part.close(entries.putVotes(first, count, rows.worth, i, part, part.end));
      if (!isSampled || rows.home[i]! >= below || !judged.hasRoom(count)) continue;
      judged.close(entries.putVotes(first, count, rows.worth, i, judged, judged.end));
    }
  };
  for (let from = 0; from < subjects.rows; from += BLOCK_ROWS) {
    rows.read(state, from, moment);
    takeRows();
    scratch.pause();
  }
  sums.take(part);
  return { sums, judged, facts };
}

/** Some rows that follow each other, with their entries at hand. */
class RowBlock implements RowColumns {
  size = 0;
  readonly count = new Uint16Array(BLOCK_ROWS);
  readonly first = new Uint32Array(BLOCK_ROWS);
  readonly evidenceAt = new Float64Array(BLOCK_ROWS);
  readonly home = new Uint16Array(BLOCK_ROWS);
  /** Of their evidence, at the moment that they were read for. */
  readonly worth = new Float64Array(BLOCK_ROWS);

  read(state: EvidenceView, from: number, moment: Moment): void {
    const { subjects } = state;
    const end = Math.min(subjects.rows, from + BLOCK_ROWS);
    this.size = end - from;
    subjects.readRows(from, end, this);
    for (let i = 0; i < this.size; i++) this.worth[i] = worthFor(state, this.evidenceAt[i]!, moment);
    if (!this.#lieInOrder()) this.#warm(subjects.entries);
  }

  /** Whether the entries of most rows lie near those of the row before, as a start lays them out: the processor fetches these by itself. */
  #lieInOrder(): boolean {
    const { size, first } = this;
    let astray = 0;
    for (let i = 1; i < size; i++) astray += Math.abs(first[i]! - first[i - 1]!) > NEAR ? 1 : 0;
    return astray < size * ASTRAY_MAX;
  }

  /**
   * Reads the entries, so that the memory behind comes side by side: one after the other, each would be waited for. Returns a sum that
   * means nothing; without it a compiler could leave the reading out.
   */
  #warm(entries: EvidenceSubjects['entries']): number {
    const { size, first, count } = this;
    let sum = 0;
    for (let i = 0; i < size; i++) if (count[i]! > 0) sum += entries.warm(first[i]!, count[i]!);
    return sum;
  }
}

/** More than players whose mix falls below `below` have; where chance should want more still, the last ones are left out. */
function sampledEntries({ subjects, peers }: GatheredView, below: number): number {
  const expected = subjects.entries.size * (below / WHOLE);
  return Math.ceil(expected * SAMPLE_SPARE) + peers.size;
}

/** Reads the votes of a group from the tables of a state as of one time, as the peer-trust computation needs them. */
import { DAY_MS } from '../../../limits.js';
import { type AsOf, asOfTime, decayFactorFor, measureFactorFor } from '../../evidence/decay.js';
import type { TrustConstants } from '../../evidence/trust-constants.js';
import type { Peers } from '../../peers/peers.js';
import type { Origins } from '../../registers/origins.js';
import type { EvidenceSubjects, EvidenceView } from '../../tables/evidence-view.js';
import { HOME_BITS } from '../../tables/subject-index.js';
import type { RowColumns } from '../../tables/subjects.js';
import { OriginVotes, type PeerFacts } from '../votes/origin-votes.js';
import type { Scratch } from '../votes/scratch.js';
import { VoteColumns, type Votes } from '../votes/votes.js';
import { pairsSplit } from './pair-sums.js';
import { VoteSums } from './vote-sums.js';

export interface GatheredView extends EvidenceView {
  readonly peers: Pick<Peers, 'seniority' | 'joined'>;
  readonly origins: Pick<Origins, 'list' | 'carriers'>;
  readonly numbers: number;
}

export interface GroupVotes {
  readonly sums: VoteSums;
  /** Votes on which log-odds are fitted: all of them, or in a very large group those of a sample of the players. */
  readonly judged: Votes;
  /** Share of the group's players in `judged`, in (0, 1]. */
  readonly part: number;
  readonly facts: PeerFacts;
}

/** Number of entries in one part: their votes stay in the second-level cache until they are summed up. */
const PART_ENTRIES = 4_096;
/** One more than the highest hash value of a player. */
const WHOLE = 1 << HOME_BITS;
/** Spare factor for a sample that is larger than expected. */
const SAMPLE_SPARE = 1.1;

/**
 * Reads the votes of a group as of `at` (a player with newer evidence: as of that). Valid until the next `begin` of
 * the scratch memory.
 */
export function gatherVotes(
  state: GatheredView,
  at: number,
  c: TrustConstants,
  scratch: Scratch,
  gates: Float64Array,
): GroupVotes {
  const { subjects, peerWeights } = state;
  const { entries } = subjects;
  const peers = state.numbers;
  const origins = state.origins.carriers.length === 0 ? null : new OriginVotes(state.origins, peers, gates);
  const joined = state.peers.joined(at, c.newPeerDays * DAY_MS, peers);
  const facts = {
    preTrusted: peerWeights.preTrusted.slice(0, peers),
    excluded: peerWeights.excluded.slice(0, peers),
    seniority: state.peers.seniority(at, c.newPeerDays * DAY_MS, peers),
    ...(origins === null ? {} : { origins }),
    ...(joined === null ? {} : { joined }),
  };
  // An origin is as old as the oldest of the peers that carry it.
  for (const { index, peer, origin } of facts.origins?.carriers ?? []) {
    if (facts.excluded[index] === 1) continue;
    facts.seniority[origin] = Math.max(facts.seniority[origin]!, facts.seniority[peer]!);
  }
  const most = Math.max(c.sampledPlayers, c.sampledPlayersPerPeer * peers);
  const isSampled = subjects.size > most;
  // Selects the players whose seeded hash is below a threshold: the same ones each time, beyond any peer's influence.
  const below = isSampled ? (most / subjects.size) * WHOLE : WHOLE;
  const columns = (room: number) => new VoteColumns(facts.excluded, room, scratch);
  const part = columns(isSampled && pairsSplit(peers, c) ? Math.max(PART_ENTRIES, peers) : entries.size);
  // An upper bound of the sample's entries; entries beyond it are left out.
  const sampledEntries = Math.ceil(entries.size * (below / WHOLE) * SAMPLE_SPARE) + peers;
  const judged = isSampled ? columns(sampledEntries) : part;
  const asOf = asOfTime(state, at);
  const sums = new VoteSums(peers, c, scratch);
  const rows = new RowBlock();
  const gatherRows = () => {
    for (let i = 0; i < rows.size; i++) {
      const count = rows.count[i]!;
      if (count === 0) continue;
      if (!part.hasRoom(count)) {
        sums.add(part);
        part.clear();
      }
      part.close(putRow(entries, rows, i, part, origins));
      if (!isSampled || rows.home[i]! >= below || !judged.hasRoom(count)) continue;
      judged.close(putRow(entries, rows, i, judged, origins));
    }
  };
  for (let from = 0; from < subjects.rows; from += BLOCK_ROWS) {
    rows.read(state, from, asOf);
    gatherRows();
    scratch.yieldCore();
  }
  sums.add(part);
  return { sums, judged, part: isSampled ? below / WHOLE : 1, facts };
}

export const BLOCK_ROWS = 256;

export class RowBlock implements RowColumns {
  size = 0;
  readonly count = new Uint16Array(BLOCK_ROWS);
  readonly first = new Uint32Array(BLOCK_ROWS);
  readonly evidenceAt = new Float64Array(BLOCK_ROWS);
  readonly home = new Uint16Array(BLOCK_ROWS);
  /** Decay factors of each row's claims and measures, for the time of the read. */
  readonly decayFactor = new Float64Array(BLOCK_ROWS);
  readonly measureFactor = new Float64Array(BLOCK_ROWS);

  read(state: EvidenceView, from: number, asOf: AsOf): void {
    const { subjects } = state;
    const end = Math.min(subjects.rows, from + BLOCK_ROWS);
    this.size = end - from;
    subjects.readRows(from, end, this);
    for (let i = 0; i < this.size; i++) {
      this.decayFactor[i] = decayFactorFor(state, this.evidenceAt[i]!, asOf);
      this.measureFactor[i] = measureFactorFor(state, this.evidenceAt[i]!, asOf);
    }
    this.#prefetch(subjects.entries);
  }

  /** Prefetches the entries. Returns a sum of the words, without which a compiler could drop the reads. */
  #prefetch(entries: EvidenceSubjects['entries']): number {
    const { size, first, count } = this;
    let sum = 0;
    for (let i = 0; i < size; i++) if (count[i]! > 0) sum += entries.prefetch(first[i]!, count[i]!);
    return sum;
  }
}

export function putRow(
  entries: EvidenceSubjects['entries'],
  { first, count, decayFactor, measureFactor }: RowBlock,
  i: number,
  to: VoteColumns,
  origins: OriginVotes | null,
): number {
  const end = entries.putVotes(first[i]!, count[i]!, decayFactor, measureFactor, i, to, to.end);
  return origins === null ? end : origins.merge(to, to.end, end);
}

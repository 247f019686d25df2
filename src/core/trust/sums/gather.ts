/** The votes of a group, read from the tables of a state at one moment, as peer trust is computed from them. */
import { DAY_MS } from '../../../limits.js';
import { asOfTime } from '../../evidence/decay.js';
import type { TrustConstants } from '../../evidence/trust-constants.js';
import type { Origins } from '../../registers/origins.js';
import type { EvidenceView } from '../../tables/evidence-view.js';
import type { Peers } from '../../tables/peers.js';
import type { PeerFacts } from '../votes/columns.js';
import { OriginVotes } from '../votes/origin-votes.js';
import { BLOCK_ROWS, RowBlock } from '../votes/row-block.js';
import type { Scratch } from '../votes/scratch.js';
import { VoteColumns, type Votes } from '../votes/votes.js';
import { GateSample, WHOLE } from './gate-sample.js';
import { pairsSplit } from './pair-sums.js';
import { VoteSums } from './vote-sums.js';

/** A view together with how many peers there are. */
export interface GatheredView extends EvidenceView {
  readonly peers: Pick<Peers, 'seniority' | 'joined'>;
  readonly origins: Pick<Origins, 'list' | 'carriers'>;
  /** Of peers, origins and carriers together. */
  readonly numbers: number;
}

export interface GroupVotes {
  /** Of all votes, or in a very large group of a sample for each peer and pair. */
  readonly sums: VoteSums;
  /** To fit log-odds on: all of them, or in a very large group a sample of the players. */
  readonly judged: Votes;
  /** How many of the group's players these are of, in (0, 1]. */
  readonly part: number;
  readonly facts: PeerFacts;
}

/** Entries of one part: what is written of them stays in the second cache until it is summed up. */
const PART_ENTRIES = 4_096;
/** What chance may bring beyond what is expected of a sample. */
const SAMPLE_SPARE = 1.1;

/**
 * `at` is in ms since 1970; evidence of a player that is newer is taken at the moment of the newest, as a read takes
 * it. The columns are the scratch's, so they hold until it begins anew.
 */
export function gatherVotes(state: GatheredView, at: number, c: TrustConstants, scratch: Scratch): GroupVotes {
  const { subjects, peerWeights } = state;
  const { entries } = subjects;
  const peers = state.numbers;
  const origins = state.origins.carriers.length === 0 ? null : new OriginVotes(state.origins, peers);
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
  // Players whose seeded mix falls below a threshold: the same ones each time, and none that a peer can choose.
  const below = isSampled ? (most / subjects.size) * WHOLE : WHOLE;
  const isSplit = isSampled && pairsSplit(peers, c);
  const columns = (room: number) => new VoteColumns(facts.excluded, room, scratch);
  const part = columns(isSplit ? Math.max(PART_ENTRIES, peers) : entries.size);
  const judged = isSampled ? columns(sampledEntries(state, below)) : part;
  const asOf = asOfTime(state, at);
  const sample = isSplit ? new GateSample(state, asOf, part, Math.ceil(below), c, scratch, origins) : null;
  const sums = new VoteSums(peers, c, scratch, sample);
  const rows = new RowBlock();
  const putVotes = (first: number, count: number, i: number, to: VoteColumns) => {
    const end = entries.putVotes(first, count, rows.decayFactor, i, to, to.end);
    return origins === null ? end : origins.merge(to, to.end, end);
  };
  const gatherRows = () => {
    for (let i = 0; i < rows.size; i++) {
      const count = rows.count[i]!;
      if (count === 0) continue;
      const first = rows.first[i]!;
      const mix = rows.home[i]!;
      if (sample !== null && !sample.has(subjects, first, count, mix)) continue;
      if (!part.hasRoom(count)) {
        sums.add(part);
        part.clear();
      }
      const end = putVotes(first, count, i, part);
      sample?.leaveOut(part, end, mix);
      part.close(end, mix);
      if (!isSampled || mix >= below || !judged.hasRoom(count)) continue;
      judged.close(putVotes(first, count, i, judged), mix);
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

/**
 * More than players whose mix falls below `below` have; where chance should want more still, the last ones are left
 * out.
 */
function sampledEntries({ subjects, numbers }: GatheredView, below: number): number {
  const expected = subjects.entries.size * (below / WHOLE);
  return Math.ceil(expected * SAMPLE_SPARE) + numbers;
}

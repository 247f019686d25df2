/** Converts the operator's request for a simulation to a scenario, and the result to the operator's view. */
import { trustConstants as k } from '../../core/evidence/trust-constants.js';
import type { Scenario, Simulation } from '../../core/scoring/simulation.js';
import type { GroupState } from '../../core/state.js';
import { granted, type Outcome, refused } from '../../errors.js';

export interface SimulationQuery {
  /** Peer ids; null for the present set. */
  readonly preTrusted: readonly string[] | null;
  /** Peer ids whose evidence does not count. */
  readonly without: readonly string[];
  /** As if they had always applied; null for the present ones. */
  readonly halfLifeDays: number | null;
  readonly banHalfLifeDays: number | null;
  /** Largest number of players, and of peers, in the answer. */
  readonly rowsMax: number;
}

/** Codes: unknown_peer. */
export function scenarioOf({ peers }: GroupState, query: SimulationQuery): Outcome<Scenario> {
  const { preTrusted, without, halfLifeDays: claims, banHalfLifeDays: measures } = query;
  const unknown = [...(preTrusted ?? []), ...without].find((peerId) => peers.byId(peerId) === undefined);
  if (unknown !== undefined) return refused('unknown_peer', { text: `no peer of this group has the id ${unknown}` });
  const numbers = (ids: readonly string[]) => ids.map((peerId) => peers.byId(peerId)!.index);
  return granted({
    preTrusted: preTrusted === null ? null : numbers(preTrusted),
    without: numbers(without),
    halfLives: { claims, measures },
  });
}

/** `peers` are those whose weight changes, the largest change first. */
export function simulationView({ peers }: GroupState, simulation: Simulation, rowsMax: number) {
  const { weightsBefore, weightsAfter, ...rest } = simulation;
  const moved = [...weightsBefore.keys()]
    .filter((number) => peers.has(number))
    .map((peer) => ({ peer, before: weightsBefore[peer]!, after: weightsAfter[peer]! }))
    .filter(({ before, after }) => Math.abs(after - before) > k.publishStep)
    .sort((p, q) => Math.abs(q.after - q.before) - Math.abs(p.after - p.before) || p.peer - q.peer)
    .slice(0, rowsMax);
  const named = moved.map(({ peer, before, after }) => {
    const { peerId, peerName } = peers.at(peer);
    return { peerId, peerName, before, after };
  });
  return { ...rest, peers: named };
}

export interface SimulationView extends Readonly<ReturnType<typeof simulationView>> {}

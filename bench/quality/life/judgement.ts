/**
 * Judges one group that reports, detects, bans and lifts: reads every player through a node, and counts whom its
 * verdicts and the rules of the field condemn.
 */
import { eventTypes } from '../../../src/core/evidence/event-types.js';
import type { Verdict } from '../../../src/core/vocabulary.js';
import type { LifeEvent, LifeGroup } from '../../data/life-set.js';
import type { Observation } from '../../data/trust-set.js';
import { quality, sharesCaught } from '../../statistics.js';
import { dawidSkene, eigenTrust } from '../classics.js';
import type { EvidenceColumns } from '../evidence-columns.js';
import { byName, hitShares } from '../methods.js';
import { evidenceColumns } from '../readout.js';
import { type NodeReadings, readLifeThroughNode } from '../through-node.js';
import { countPlayers, goodTargets, isSuspicious, isUntrusted, type VerdictCount } from '../verdicts.js';

/** Methods that rank players. `bans` ranks by the number of standing bans. */
export const lifeMethods = {
  score: 'score',
  bans: 'bans',
  dawidSkene: 'Dawid-Skene',
  eigenTrust: 'EigenTrust',
} as const;

export type LifeMethod = keyof typeof lifeMethods;

export const lifeMethodNames = Object.keys(lifeMethods) as LifeMethod[];

/**
 * Rules that condemn players: the verdicts, a plain count of standing bans of any peers, and two methods of the field
 * at the threshold that catches as many bad players as `suspicious` or worse.
 */
export const lifeRules = {
  suspicious: 'suspicious or worse',
  twoBans: 'two bans',
  dawidSkene: 'Dawid-Skene, same catch',
  eigenTrust: 'EigenTrust, same catch',
  untrusted: 'untrusted',
  threeBans: 'three bans',
} as const;

export type LifeRule = keyof typeof lifeRules;

export const lifeRuleNames = Object.keys(lifeRules) as LifeRule[];

type ByRule<T> = Readonly<Record<LifeRule, T>>;

export interface LifeJudgement {
  readonly condemned: ByRule<VerdictCount>;
  /** The same of the good players among the targets of the attack. */
  readonly targets: ByRule<VerdictCount>;
  /** Bad players with two standing bans of honest peers or more that are `suspicious` or worse, of all such. */
  readonly withTwoBans: VerdictCount;
  /** Bad players with three or more that are `untrusted`. */
  readonly withThreeBans: VerdictCount;
  readonly auc: Readonly<Record<LifeMethod, number>>;
  readonly caughtAt: Readonly<Record<LifeMethod, readonly number[]>>;
}

export async function judgeLife(group: LifeGroup): Promise<LifeJudgement> {
  return judgeReadings(group, await readLifeThroughNode(group));
}

export function judgeReadings(
  group: LifeGroup,
  { score, verdict }: Pick<NodeReadings, 'score' | 'verdict'>,
): LifeJudgement {
  const { truth, adversaries } = group;
  const evidence = lifeEvidence(group);
  const bans = standingBans(group, []);
  const honestBans = standingBans(group, adversaries);
  const has = (is: (verdict: Verdict) => boolean) => (player: number) => is(verdict[player]!);
  const [suspicious, untrusted] = [has(isSuspicious), has(isUntrusted)];
  const risks: Record<LifeMethod, ArrayLike<number>> = {
    score: score.map((value) => (100 - value) / 100),
    bans,
    dawidSkene: dawidSkene(evidence),
    eigenTrust: eigenTrust(evidence, []),
  };
  const { caught } = countPlayers(truth, suspicious);
  const atSameCatch = (risk: ArrayLike<number>) => {
    const threshold = thresholdThatCatches(risk, truth, caught);
    return (player: number) => risk[player]! >= threshold;
  };
  const rules: ByRule<(player: number) => boolean> = {
    suspicious,
    untrusted,
    twoBans: (player) => bans[player]! >= 2,
    threeBans: (player) => bans[player]! >= 3,
    dawidSkene: atSameCatch(risks.dawidSkene),
    eigenTrust: atSameCatch(risks.eigenTrust),
  };
  const badWithBans = (least: number) =>
    new Map([...truth].filter(([player, bad]) => bad === 1 && honestBans[player]! >= least));
  const victims = goodTargets(group);
  return {
    condemned: byName(lifeRuleNames, (rule) => countPlayers(truth, rules[rule])),
    targets: byName(lifeRuleNames, (rule) => countPlayers(victims, rules[rule])),
    withTwoBans: countPlayers(badWithBans(2), suspicious),
    withThreeBans: countPlayers(badWithBans(3), untrusted),
    auc: byName(lifeMethodNames, (method) => quality(risks[method], truth).auc),
    caughtAt: byName(lifeMethodNames, (method) =>
      sharesCaught(risks[method], truth, (good) => hitShares.map((share) => Math.floor(share * good))),
    ),
  };
}

/** Returns the number of peers whose ban of the player was not lifted, per player, without the bans of some peers. */
export function standingBans({ players, events }: LifeGroup, without: readonly number[]): number[] {
  const banning = players.map(() => new Set<number>());
  for (const { peer, player, type } of events) {
    if (without.includes(peer)) continue;
    if (type === 'ban_applied') banning[player]!.add(peer);
    if (type === 'ban_lifted') banning[player]!.delete(peer);
  }
  return banning.map(({ size }) => size);
}

/** Returns the undecayed evidence. A lifting takes back what its peer has lowered the player by. */
export function lifeEvidence(group: LifeGroup): EvidenceColumns {
  const lowering = new Map<string, LifeEvent[]>();
  const raising: LifeEvent[] = [];
  for (const event of group.events) {
    const pair = `${event.peer} ${event.player}`;
    const { sign } = eventTypes[event.type];
    if (sign > 0) raising.push(event);
    else lowering.set(pair, sign === 0 ? [] : [...(lowering.get(pair) ?? []), event]);
  }
  const observations = [...[...lowering.values()].flat(), ...raising].map(
    ({ peer, player, type, severity }): Observation => {
      const { sign, baseWeight } = eventTypes[type];
      return { peer, player, polarity: sign < 0 ? -1 : 1, severity: severity * baseWeight, timestampMs: null };
    },
  );
  return evidenceColumns({ ...group, observations, preTrusted: [] });
}

/** Returns the highest threshold that catches at least `caught` bad players; infinity for none. */
function thresholdThatCatches(risk: ArrayLike<number>, truth: ReadonlyMap<number, 0 | 1>, caught: number): number {
  if (caught === 0) return Number.POSITIVE_INFINITY;
  const ofBad = [...truth].flatMap(([player, bad]) => (bad === 1 ? [risk[player]!] : [])).sort((a, b) => b - a);
  return ofBad[caught - 1]!;
}

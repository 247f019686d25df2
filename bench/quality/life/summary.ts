/** Sums up the judgements of groups that report, detect, ban and lift: of one kind, and of all kinds with bans. */
import { average, least } from '../../statistics.js';
import { goalOf, judgedIf, type Population, percent } from '../goals.js';
import { byName, hitShares } from '../methods.js';
import type { GroupSize } from '../scene.js';
import { caughtShare, hitShare } from '../summary.js';
import { precisionOf, sumEach, type VerdictCount } from '../verdicts.js';
import { type LifeJudgement, type LifeRule, lifeMethodNames, lifeRuleNames, lifeRules } from './judgement.js';
import type { LifeRow } from './rows.js';
import { lifeKinds, lifeSize, profileOf } from './simulator.js';

/** Returns the counts of all groups together, and the means of the other figures. */
export function combine(groups: readonly LifeJudgement[]): LifeJudgement {
  const countsOf = (key: 'condemned' | 'targets') =>
    byName(lifeRuleNames, (rule) => sumEach(groups.map((group) => group[key][rule])));
  const meanOf = (figure: (group: LifeJudgement) => number) => average(groups.map(figure));
  return {
    condemned: countsOf('condemned'),
    targets: countsOf('targets'),
    withTwoBans: sumEach(groups.map(({ withTwoBans }) => withTwoBans)),
    withThreeBans: sumEach(groups.map(({ withThreeBans }) => withThreeBans)),
    auc: byName(lifeMethodNames, (method) => meanOf(({ auc }) => auc[method])),
    caughtAt: byName(lifeMethodNames, (method) =>
      hitShares.map((_, i) => meanOf((group) => group.caughtAt[method][i]!)),
    ),
  };
}

/** The worst precision is that of kinds with at least so many players that the rule condemns. */
const enoughCondemned = 10;

/** Returns figures over kinds as shares in [0, 1]; NaN if no kind has the figure. */
export function totalsOf(rows: readonly LifeRow[]) {
  const ofKinds = lifeKinds.flatMap((kind) => {
    const groups = rows.filter((row) => row.kind === kind).flatMap(({ judgements }) => judgements);
    return groups.length === 0 ? [] : [combine(groups)];
  });
  const byRule = (of: (counts: readonly VerdictCount[]) => number) =>
    byName(lifeRuleNames, (rule) => of(ofKinds.map((kind) => kind.condemned[rule])));
  const hasEnough = ({ caught, hit }: VerdictCount) => caught + hit >= enoughCondemned;
  return {
    all: combine(rows.flatMap(({ judgements }) => judgements)),
    rightMean: byRule((counts) => average(counts.map(precisionOf))),
    rightWorst: byRule((counts) => least(counts.filter(hasEnough).map(precisionOf))),
    caughtMean: byRule((counts) => average(counts.map(caughtShare))),
    twoBansMean: average(ofKinds.map(({ withTwoBans }) => caughtShare(withTwoBans))),
    threeBansMean: average(ofKinds.map(({ withThreeBans }) => caughtShare(withThreeBans))),
  };
}

export interface LifePopulation {
  readonly name: 'data files' | 'simulated groups';
  readonly rows: readonly LifeRow[];
}

/** Returns data files and simulated groups apart, without the groups that only report and without attempts. */
export function banningPopulations(rows: readonly LifeRow[]): LifePopulation[] {
  const banning = rows.filter(({ kind }) => profileOf(kind) !== 'reports' && lifeKinds.includes(kind));
  const populations: readonly LifePopulation[] = [
    { name: 'data files', rows: banning.filter(({ origin }) => origin === 'data file') },
    { name: 'simulated groups', rows: banning.filter(({ origin }) => origin === 'simulated') },
  ];
  return populations.filter((population) => population.rows.length > 0);
}

/** The goals are about every kind of group with bans, of at least the usual number of players. */
export function judgeLifePopulations(rows: readonly LifeRow[], { players }: GroupSize): Population[] {
  return banningPopulations(rows).map(({ name, rows: population }) => {
    const isWhole =
      (name === 'data files' || players >= lifeSize.players) &&
      lifeKinds.every((kind) => profileOf(kind) === 'reports' || population.some((row) => row.kind === kind));
    const { all, rightMean, rightWorst, caughtMean, twoBansMean, threeBansMean } = totalsOf(population);
    const goals = [
      goalOf('untrusted right, together / worst kind of 10 or more', '99 / 95', [
        percent(precisionOf(all.condemned.untrusted), { atLeast: 97 }),
        percent(rightWorst.untrusted, { atLeast: 93 }),
      ]),
      goalOf('suspicious or worse right, mean / worst kind of 10 or more', '96 / 86', [
        percent(rightMean.suspicious, { atLeast: 94 }),
        percent(rightWorst.suspicious, { atLeast: 82 }),
      ]),
      goalOf('bad with two standing bans that are suspicious or worse', '99', [percent(twoBansMean, { atLeast: 95 })]),
      goalOf('bad with three standing bans that are untrusted', '98', [percent(threeBansMean, { atLeast: 94 })]),
      goalOf('bad caught as untrusted / suspicious or worse', '20 / 35', [
        percent(caughtMean.untrusted, { atLeast: 18 }),
        percent(caughtMean.suspicious, { atLeast: 32 }),
      ]),
      goalOf('good hit by suspicious or worse / good targets hit', '0.2 / 0.6', [
        percent(hitShare(all.condemned.suspicious), { atMost: 0.4, digits: 2 }),
        percent(hitShare(all.targets.suspicious), { atMost: 2, digits: 2 }),
      ]),
    ];
    const judged = goals.map((goal) => judgedIf(isWhole, goal));
    return { name: `life, ${name} that ban`, reference: 'reference', goals: judged };
  });
}

/** Compares the verdicts with a plain count of bans in two sentences; null without groups that ban. */
export function lifeConclusion(rows: readonly LifeRow[]): string | null {
  const banning = banningPopulations(rows).flatMap((population) => population.rows);
  if (banning.length === 0) return null;
  const { condemned, targets } = combine(banning.flatMap(({ judgements }) => judgements));
  const phrase = (rule: LifeRule) => {
    const right = precisionOf(condemned[rule]);
    if (Number.isNaN(right)) return 'condemns nobody';
    const { hit, good } = targets[rule];
    const ofTargets = good === 0 ? '' : ` and hits ${withCommas(hit)} of ${withCommas(good)} good targets`;
    return `is right ${whole(right)} times of 100${ofTargets}`;
  };
  const sentence = (bans: LifeRule, verdict: LifeRule, name: string) => {
    const caught = [bans, verdict].map((rule) => whole(caughtShare(condemned[rule])));
    return `A plain count of ${lifeRules[bans]} ${phrase(bans)}, ${name} ${phrase(verdict)}; they catch ${caught.join(' and ')} of 100 bad players.`;
  };
  const [mild, strict] = ['`suspicious` or worse', '`untrusted`'] as const;
  return [sentence('twoBans', 'suspicious', mild), sentence('threeBans', 'untrusted', strict)].join(' ');
}

function withCommas(count: number): string {
  return count.toLocaleString('en-US');
}

function whole(share: number): string {
  return (share * 100).toFixed(0);
}

/** The cluster harness as a fault of `npm run faults`: see test/cluster. */
import { noEtcd } from '../../bench/cluster/etcd-members.js';
import { faults, takeoverFaults } from '../cluster/faults.js';
import { runCluster } from '../cluster/run.js';
import type { Fault, Rounds } from './fault.js';

/** The long form: takeovers by kill and by pause in turn, every tenth round another fault. */
const othersEvery = 10;

/** Kills and pauses of leaders, with one of the other faults now and then. */
export function takeovers(rounds: Rounds): Promise<void> {
  const others = faults.filter((fault) => !takeoverFaults.includes(fault));
  return runCluster(rounds, {
    smallDisks: true,
    next: (round, random) =>
      round % othersEvery === othersEvery - 1 ? random.pick(others) : takeoverFaults[round % takeoverFaults.length]!,
  });
}

/** Each of these faults so many times, one kind after the other. */
export function eachFault(rounds: Rounds, names: readonly string[], times: number): Promise<void> {
  const chosen = faults.filter(({ name, row }) => (names.length === 0 ? row !== null : names.includes(name)));
  return runCluster(rounds, { smallDisks: true, next: (round) => chosen[Math.floor(round / times) % chosen.length]! });
}

export const faultNames = (): string[] => faults.map(({ name }) => name);

/** How many faults of the page's table there are. */
export const tableFaults = (): number => faults.filter(({ row }) => row !== null).length;

export const cluster: Fault = {
  name: 'cluster',
  summary:
    'three nodes and three members of etcd under load: leaders killed and paused, and every other fault of the design; nothing acknowledged is lost, doubled or re-ordered',
  rounds: 500,
  async run(rounds) {
    const missing = noEtcd();
    if (missing !== undefined) throw new Error(missing);
    return takeovers(rounds);
  },
};

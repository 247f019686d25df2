/**
 * Simulates a small machine: one core and 1 GB for the node, half an hour of matches and events. Measures the latency
 * of a match and the node's memory, and checks that every acknowledged event is in the log.
 */
import { eventKind, matchKind, mixture } from '../load/requests.js';
import { peakMemory, residentMbOf } from '../process-stats.js';
import { measured } from '../run.js';
import { makeMemoryGroup } from '../server-process.js';
import { expectStored } from '../stored.js';
import { warmUpSecondsMax } from '../windows.js';

const memoryBytes = 1024 ** 3;
const matchesPerSecond = 50;
const eventsPerSecond = 200;
const sampleEveryMs = 1_000;

export const small = measured({
  name: 'small',
  summary: 'a small machine, one core and 1 GB: 50 matches and 200 events a second',
  players: 200_000,
  peers: 100,
  minutes: 30,
  async measure(run) {
    const to = run.report;
    const group = makeMemoryGroup(memoryBytes);
    if (group === null) to.note('memory is not bounded: this process may not create a control group on this machine');
    const node = await run.node({ environment: { MALLOC_ARENA_MAX: '2' }, ...(group && { memoryGroup: group }) });
    const { target, site } = node;
    const series = {
      name: 'matches and events',
      target,
      workload: mixture(
        site.seed,
        [matchKind(site), (100 * matchesPerSecond) / (matchesPerSecond + eventsPerSecond)],
        [eventKind(site), (100 * eventsPerSecond) / (matchesPerSecond + eventsPerSecond)],
      ),
      connections: run.options.connections ?? 32,
      rate: run.options.rate ?? matchesPerSecond + eventsPerSecond,
    };
    await run.drive(series, Math.min(warmUpSecondsMax, run.options.seconds));
    const memory = peakMemory(() => residentMbOf(target.pids), sampleEveryMs);
    const window = await run.window(series, run.options.seconds, 0);
    const peakMb = to.figure('memory, at most', 'MB', 'less', memory.end());
    const matchMs = window.driven.kinds[0]!.latencies.ms(99);
    to.goal('p99 of a match of 50', to.figure('p99 of a match of 50', 'ms', 'less', matchMs), 'at most', 10, ' ms');
    to.goal('memory of the node', peakMb, 'at most', 450, ' MB');
    const lost = await expectStored(node, to);
    to.goal('acknowledged events that the log lacks', lost, 'at most', 0, '');
  },
});

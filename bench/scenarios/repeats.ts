/** Measures single events whose timestamps are those of their match, beside events that each have their own. */
import { eventKind, only, repeatKind } from '../load/requests.js';
import { measured } from '../run.js';

const connections = 256;
const eventsOfMatch = 100_000;

export const repeats = measured({
  name: 'repeats',
  summary: 'durable events of which most repeat a timestamp of their player, beside others',
  players: 2_000,
  async measure(run) {
    const { target, site } = await run.node();
    const load = { target, connections: run.options.connections ?? connections, rate: run.options.rate };
    const [own, shared] = await run.alternate('events', [
      { ...load, name: 'events with timestamps of their own', workload: only(eventKind(site)) },
      { ...load, name: 'events with the timestamp of their match', workload: only(repeatKind(site, eventsOfMatch)) },
    ]);
    const ratio = run.rateRatio('durable events, timestamps of the match / of their own', shared!, own!);
    run.report.goal('durable POST that repeats timestamps against one that does not', ratio, 'at least', 0.75, 'x');
  },
});

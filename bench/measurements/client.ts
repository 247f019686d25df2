/** Measures the client on a game server: a match looked up by call and by cache, and events through the spool. */
import { TrustClient } from '../../src/client/trust-client.js';
import { EventSpool } from '../../src/client/write/spool/event-spool.js';
import { temporaryFolder } from '../ending.js';
import { Latencies } from '../load/latency.js';
import { gameId, matchPlayers, mix, playerId, type Site } from '../load/requests.js';
import type { Report } from '../report.js';
import { measured } from '../run.js';

const roundsMax = 5;
/** Calls of `add` that wait for their sync at the same time. */
const addsAtOnce = 256;
/** Long enough that no read falls back to the cache or to a default. */
const readBudgetMs = 60_000;

export interface Lookups {
  readonly latencies: Latencies;
  readonly rate: number;
  readonly cpuUs: number;
}

interface LookupOptions {
  readonly client: Pick<TrustClient, 'scores'>;
  readonly source: 'node' | 'cache';
}

export const client = measured({
  name: 'client',
  summary: 'the client: a match of 50 players by call and by cache, events through the spool',
  players: 100_000,
  async measure(run) {
    const to = run.report;
    const { seconds } = run.options;
    const { site, salt: groupSalt, node } = await run.node();
    const { url } = node;
    const { peerId, apiKey } = site.peers[0]!;
    const start = (options: Partial<ConstructorParameters<typeof TrustClient>[0]>): TrustClient => {
      const one = new TrustClient({ url, groupSalt, ...options });
      run.use({ stop: () => one.close() });
      return one;
    };
    const cached = start({ peerId, apiKey, playersMax: site.players });
    const ways = [
      { name: 'match by call', client: start({ readBudgetMs }), source: 'node' },
      { name: 'match by cache', client: cached, source: 'cache' },
    ] as const;
    const startedMs = performance.now();
    await cached.follow().live();
    to.figure(`snapshot of ${site.players} players into the cache`, 'ms', 'less', performance.now() - startedMs);
    const rounds = Math.max(1, Math.min(roundsMax, Math.floor(seconds)));
    for (const way of ways) await lookUp(way, site, seconds / 10);
    const found: Lookups[][] = ways.map(() => []);
    for (let round = 0; round < rounds; round++) {
      for (const [i, way] of ways.entries()) found[i]!.push(await lookUp(way, site, seconds / rounds));
    }
    for (const [i, { name }] of ways.entries()) {
      const windows = found[i]!;
      const latencies = Latencies.sum(windows.map((window) => window.latencies));
      const [rates, cpuUs] = [windows.map(({ rate }) => rate), windows.map((window) => window.cpuUs)];
      to.figure(name, 'matches/s', 'more', rates);
      to.figure(`${name}: CPU of the game server`, 'us', 'less', cpuUs);
      to.latencies(name, latencies.summary());
    }
    await throughSpool(start({ peerId, apiKey }), seconds, to);
  },
});

/** Looks up matches one after the other, as a game server starts them. */
export async function lookUp({ client, source }: LookupOptions, site: Site, seconds: number): Promise<Lookups> {
  const latencies = new Latencies();
  const startedMs = performance.now();
  const startedCpu = process.cpuUsage();
  const endMs = startedMs + seconds * 1_000;
  let matches = 0;
  for (let beganMs = startedMs; beganMs < endMs; matches++) {
    const players = Array.from({ length: matchPlayers }, (_, i) =>
      playerId(mix(mix(site.seed, matches), i) % site.players),
    );
    const fromMs = performance.now();
    const trusts = await client.scores(players);
    const doneMs = performance.now();
    if (trusts.some((trust) => trust.source !== source)) throw new Error(`a read did not come from the ${source}`);
    latencies.record(doneMs - fromMs);
    beganMs = doneMs;
    // The cache never waits, so without this pause other work of the process, such as the stream, would never run.
    if (matches % 64 === 0) await new Promise((resolve) => setImmediate(resolve));
  }
  const { user, system } = process.cpuUsage(startedCpu);
  const rate = (matches * 1_000) / (performance.now() - startedMs);
  return { latencies, rate, cpuUs: (user + system) / matches };
}

/** Adds events as fast as they are accepted, until all are delivered. */
async function throughSpool(to: TrustClient, seconds: number, report: Report): Promise<void> {
  const folder = temporaryFolder('ptf-bench-spool-');
  const spool = await EventSpool.open({ folder: folder.path, to, whenFull: 'wait' });
  try {
    const latencies = new Latencies();
    const startedMs = performance.now();
    const sinceStartS = () => (performance.now() - startedMs) / 1_000;
    let added = 0;
    const add = async () => {
      while (sinceStartS() < seconds) {
        const fromMs = performance.now();
        const event = { eventType: 'report_spam', gameId, severity: 0.1 } as const;
        await spool.add({ ...event, playerId: playerId(added++ % 10_000) });
        latencies.record(performance.now() - fromMs);
      }
    };
    await Promise.all(Array.from({ length: addsAtOnce }, add));
    report.figure('spool: events accepted, each synced', 'events/s', 'more', added / sinceStartS());
    await spool.drained();
    report.figure('spool: events delivered to the node', 'events/s', 'more', added / sinceStartS());
    report.latencies(`spool: add, ${addsAtOnce} at once`, latencies.summary());
    const { delivered, setAside } = spool.progress;
    if (delivered !== added) {
      report.fault(`${added} events accepted, ${delivered} delivered, ${setAside} set aside`);
    }
  } finally {
    await spool.close();
    folder.remove();
  }
}

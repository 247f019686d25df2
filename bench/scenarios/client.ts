/** What a game server sees of the client: a match looked up by call and by cache, and events through the spool. */
import { fetchTransport } from '../../src/client/fetch-transport.js';
import { EventSpool } from '../../src/client/spool/event-spool.js';
import { TrustClient } from '../../src/client/trust-client.js';
import { temporaryFolder } from '../ending.js';
import { Latencies } from '../load/latency.js';
import { gameId, matchPlayers, mix, playerId, type Site } from '../load/requests.js';
import { type LoadOptions, measured } from '../measured.js';
import { filledNode, startNode } from '../node-target.js';
import type { Report } from '../report.js';

export const client = measured(
  'client',
  'the client: a match of 50 players by call and by cache, events through the spool',
  { players: 100_000 },
  run,
);

const roundsMax = 5;
/** Adds that wait for their sync at one time. */
const addsAtOnce = 256;
/** A read that falls back would be no figure of a read. */
const budgetMs = 60_000;

interface Way {
  readonly name: string;
  readonly client: Pick<TrustClient, 'scores'>;
  readonly source: 'node' | 'cache';
}

/** What one window of lookups found. */
export interface Lookups {
  readonly latencies: Latencies;
  readonly rate: number;
  readonly cpuUs: number;
}

async function run(options: LoadOptions, to: Report): Promise<void> {
  const filled = await filledNode({ ...options, snapshotAfter: 1 });
  const { target, site, node } = await startNode('node', filled);
  const { url } = node;
  const groupSalt = filled.salt;
  const [{ peerId, apiKey }] = site.peers as [Site['peers'][number]];
  const cached = new TrustClient({ url, groupSalt, peerId, apiKey, playersMax: site.players });
  const called = new TrustClient({ url, groupSalt, readBudgetMs: budgetMs });
  const fetched = new TrustClient({ url, groupSalt, readBudgetMs: budgetMs, transport: fetchTransport(url) });
  const ways = [
    { name: 'match by call', client: called, source: 'node' },
    { name: 'match by call with fetch', client: fetched, source: 'node' },
    { name: 'match by cache', client: cached, source: 'cache' },
  ] as const;
  const writer = new TrustClient({ url, groupSalt, peerId, apiKey });
  try {
    const startedMs = performance.now();
    await cached.follow().live();
    to.figure(`snapshot of ${site.players} players into the cache`, 'ms', 'less', performance.now() - startedMs);
    const rounds = Math.max(1, Math.min(roundsMax, Math.floor(options.seconds)));
    // What the warm-up found is nobody's.
    for (const one of ways) await lookUp(one, site, options.seconds / 10);
    const found: Lookups[][] = ways.map(() => []);
    for (let round = 0; round < rounds; round++) {
      for (const [i, one] of ways.entries()) found[i]!.push(await lookUp(one, site, options.seconds / rounds));
    }
    for (const [i, { name }] of ways.entries()) {
      const windows = found[i]!;
      const latencies = new Latencies();
      for (const window of windows) latencies.add(window.latencies);
      to.figure(
        name,
        'matches/s',
        'more',
        windows.map(({ rate }) => rate),
      );
      to.figure(
        `${name}: CPU of the game server`,
        'us',
        'less',
        windows.map(({ cpuUs }) => cpuUs),
      );
      to.latencies(name, latencies.summary());
    }
    await throughSpool(writer, options.seconds, to);
  } finally {
    await Promise.all([called, fetched, cached, writer].map((one) => one.close()));
    await target.stop();
  }
}

/** Matches one after the other, as a game server starts them. */
export async function lookUp({ client, source }: Omit<Way, 'name'>, site: Site, seconds: number): Promise<Lookups> {
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
    // The cache never waits: without this nothing else of the process, such as the stream, would have its turn.
    if (matches % 64 === 0) await new Promise((resolve) => setImmediate(resolve));
  }
  const { user, system } = process.cpuUsage(startedCpu);
  const rate = (matches * 1_000) / (performance.now() - startedMs);
  return { latencies, rate, cpuUs: (user + system) / matches };
}

/** Events added as fast as they are accepted, until all are delivered. */
async function throughSpool(to: TrustClient, seconds: number, report: Report): Promise<void> {
  const folder = temporaryFolder('ptf-bench-spool-');
  const spool = await EventSpool.open({ folder: folder.path, to, whenFull: 'wait' });
  try {
    const latencies = new Latencies();
    const startedMs = performance.now();
    const endMs = startedMs + seconds * 1_000;
    let added = 0;
    const add = async () => {
      while (performance.now() < endMs) {
        const fromMs = performance.now();
        const event = { eventType: 'report_spam', gameId, severity: 0.1 } as const;
        await spool.add({ ...event, playerId: playerId(added++ % 10_000) });
        latencies.record(performance.now() - fromMs);
      }
    };
    await Promise.all(Array.from({ length: addsAtOnce }, add));
    const acceptedS = (performance.now() - startedMs) / 1_000;
    await spool.drained();
    const deliveredS = (performance.now() - startedMs) / 1_000;
    report.figure('spool: events accepted, each synced', 'events/s', 'more', added / acceptedS);
    report.figure('spool: events delivered to the node', 'events/s', 'more', added / deliveredS);
    report.latencies(`spool: add, ${addsAtOnce} at once`, latencies.summary());
    const { delivered, setAside, dropped } = spool.progress;
    if (delivered !== added) {
      report.fault(`${added} events accepted, ${delivered} delivered, ${setAside} set aside, ${dropped} dropped`);
    }
  } finally {
    await spool.close();
    folder.remove();
  }
}

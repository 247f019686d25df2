/**
 * Measures the sidecar as a game server sees it: memory of the cached players, reads at a fixed rate, reports on disk.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { temporaryFolder } from '../ending.js';
import type { Kind } from '../load/drive.js';
import { gameId, get, mix, only, playerId, post, type Site } from '../load/requests.js';
import { startBareHttp, targetOf } from '../peers/references.js';
import { anonymousMbOf } from '../process-stats.js';
import { measured, type Run } from '../run.js';
import { ServerProcess } from '../server-process.js';
import { median } from '../statistics.js';
import { until } from '../until.js';
import { p99MsOf } from '../windows.js';

const entry = fileURLToPath(new URL('../../src/ptf-peer.js', import.meta.url));
const rateDefault = 1_000;
const readConnections = 8;
const reportConnections = 64;
const patience = { timeoutMs: 60_000 };
/** Time until the garbage of a snapshot is collected. */
const settleMs = 3_000;

interface Running {
  readonly port: number;
  readonly process: ServerProcess;
  /** The header that every request needs. */
  readonly authorization: string;
}

interface Status {
  readonly memory: { readonly rss_bytes: number; readonly heap_used_bytes: number };
  readonly stream: { readonly phase: string; readonly players: number };
  readonly spool: { readonly pending: number; readonly set_aside: number };
}

export const sidecar = measured({
  name: 'sidecar',
  summary: 'the sidecar: memory of cached players, reads at 1,000 a second, reports on disk',
  players: 100_000,
  async measure(run) {
    const to = run.report;
    const { site, salt, target } = await run.node();
    const empty = await start(run, 'http://127.0.0.1:9', salt, site);
    await delay(settleMs);
    const emptyMb = await memoryOf(empty);
    await empty.process.end('SIGTERM');

    const startedMs = performance.now();
    const full = await start(run, `http://127.0.0.1:${target.port}`, salt, site);
    const { stream } = await statusWhere(full, (status) => status.stream.phase === 'live');
    to.figure(`snapshot of ${stream.players} players into the cache`, 'ms', 'less', performance.now() - startedMs);
    if (stream.players < site.players) to.fault(`${stream.players} of ${site.players} players are cached`);
    await delay(settleMs);
    const fullMb = await memoryOf(full);
    for (const what of ['rss', 'anonymous', 'heap'] as const) {
      to.figure(`memory: ${what}, empty`, 'MB', 'less', emptyMb[what]);
      to.figure(`memory: ${what}, ${site.players} players cached`, 'MB', 'less', fullMb[what]);
    }

    const served = targetOf('sidecar', full.port, full.process);
    const reads: Kind<string> = {
      name: 'cached read',
      expects: [200],
      request: (i) => get(`/v1/players/${playerId(mix(site.seed, i) % site.players)}`, full.authorization),
    };
    const rate = run.options.rate ?? rateDefault;
    // At this rate a tail is mostly the machine's: what bare node:http shows in the same run is not the sidecar's.
    const bareHttp = run.use(await startBareHttp());
    const load = run.load(reads, readConnections, rate);
    const [read, bare] = await run.compare(`cached reads, ${rate} a second`, [served, bareHttp], load);
    const afterMb = await memoryOf(full);
    to.figure('memory: rss, after the reads', 'MB', 'less', afterMb.rss);

    const reports: Kind<string> = {
      name: 'report',
      expects: [202],
      request: (i) => {
        const body = { player_id: playerId(i % 10_000), event_type: 'report_spam', game_id: gameId, severity: 0.1 };
        return post('/v1/reports', full.authorization, JSON.stringify(body));
      },
    };
    const ofReports = { workload: only(reports), connections: reportConnections, rate: null };
    await run.compare('reports, each synced', [served], ofReports);
    const { spool } = await statusWhere(full, (status) => status.spool.pending === 0);
    if (spool.set_aside > 0) to.fault(`${spool.set_aside} reports were set aside`);

    const [p99Ms, bareMs] = [read, bare].map(({ windows }) => median(windows.map(p99MsOf))) as [number, number];
    to.figure('p99 of a cached read over that of bare node:http', 'x', 'less', p99Ms / bareMs);
    to.goal(`p99 of a cached read at ${rate} a second`, p99Ms, 'at most', 1, ' ms');
    const growth = `growth over an empty sidecar, ${site.players} players cached`;
    to.goal(growth, fullMb.rss - emptyMb.rss, 'at most', 60, ' MB');
  },
});

/** Starts a sidecar with its own folder. Resolves once it listens. */
async function start(run: Run, url: string, salt: string, { peers }: Site): Promise<Running> {
  const folder = temporaryFolder('ptf-bench-sidecar-');
  const { peerId, apiKey } = peers[0]!;
  const file = { url, peer_id: peerId, api_key: apiKey, group_salt: salt, game_ids: [gameId], state_dir: folder.path };
  const config = join(folder.path, 'config.json');
  writeFileSync(config, JSON.stringify(file), { mode: 0o600 });
  const args = ['--config', config, '--json', 'sidecar', '--port', '0'];
  const process = new ServerProcess({ script: entry, args, cwd: folder.path, env: {} });
  run.use({
    async stop() {
      await process.end('SIGTERM');
      folder.remove();
    },
  });
  const port = await process.start();
  const token = readFileSync(join(folder.path, 'sidecar', 'token'), 'utf8').trim();
  return { port, process, authorization: `authorization: Bearer ${token}\r\n` };
}

async function statusOf({ port, authorization }: Running): Promise<Status> {
  const headers = { authorization: authorization.slice('authorization: '.length).trim() };
  return (await (await fetch(`http://127.0.0.1:${port}/v1/status`, { headers })).json()) as Status;
}

async function statusWhere(running: Running, holds: (status: Status) => boolean): Promise<Status> {
  const look = async () => {
    const status = await statusOf(running);
    return holds(status) && status;
  };
  const failure = async () =>
    `the sidecar did not reach the expected status: ${JSON.stringify(await statusOf(running))}`;
  return until(look, patience, failure);
}

async function memoryOf(running: Running) {
  const { memory } = await statusOf(running);
  return {
    rss: memory.rss_bytes / 1e6,
    anonymous: anonymousMbOf(running.process.pid!),
    heap: memory.heap_used_bytes / 1e6,
  };
}

/** Reads and durable writes beside what a user would pick instead, and beside bare `node:http`. */
import { startWays } from '../lanes.js';
import type { Kind } from '../load/drive.js';
import { eventKind, mix, only, playerOfEvent, post, type Site, sownScoreKind } from '../load/requests.js';
import { type LoadOptions, measured } from '../measured.js';
import {
  type CrowdsecTarget,
  startBareHttp,
  startCrowdsec,
  startOrNote,
  startPostgres,
  startRedis,
} from '../peers/references.js';
import type { Report } from '../report.js';
import { stopAll, type Target } from '../target.js';
import { alternate, answersOf, driveWindow, type Measured, rates, ratios, report } from '../windows.js';

const readers = 64;
const writers = 256;
/** Events that every contestant takes first: the reads ask for their players. */
const sownEvents = 2_000;
const sowTriesMax = 60;

export const peers = measured('peers', 'beside node:http, Redis, PostgreSQL and CrowdSec', { players: 10_000 }, run);

/** A server with its way to be asked. */
interface Contestant {
  readonly target: Target;
  readonly read: Kind;
  readonly write: Kind;
}

async function run(options: LoadOptions, to: Report): Promise<void> {
  const ways = await startWays({ ...options, snapshotAfter: 1 });
  const all: Contestant[] = ways.map(({ target, site }) => contestant(target, site));
  const { site } = ways[0]!;
  const note = (text: string) => to.note(text);
  try {
    all.push(contestant(await startBareHttp(), site));
    for (const [name, start] of [
      ['fastify+redis', () => startRedis(site.peers)],
      ['fastify+postgres', () => startPostgres(site.peers)],
    ] as const) {
      const target = await startOrNote(name, start, note);
      if (target !== null) all.push(contestant(target, site));
    }
    const crowdsec = await startOrNote('CrowdSec LAPI', startCrowdsec, note);
    if (crowdsec !== null) all.push(crowdsecContestant(crowdsec, site));
    await measure(all, options, to);
  } finally {
    await stopAll(all.map(({ target }) => target));
  }
}

async function measure(all: readonly Contestant[], options: LoadOptions, to: Report): Promise<void> {
  const startedMs = performance.now();
  for (const { target, write } of all) await sow(target, write);
  const series = async (what: string, kind: 'read' | 'write', connections: number, among = all) => {
    const given = among.map((one) => ({
      name: `${what}, ${one.target.name}`,
      target: one.target,
      workload: only(one[kind]),
      connections,
      rate: null,
    }));
    const found = await alternate(what, given, options.seconds, startedMs);
    for (const one of found) report(to, one, { tolerant: !one.series.target.name.startsWith('node') });
    return found;
  };
  const reads = await series('reads', 'read', options.connections ?? readers);
  const writes = await series('durable events', 'write', options.connections ?? writers);
  const one = await series(
    'durable events at 1 connection',
    'write',
    1,
    all.filter(({ target }) => target.name !== 'bare node:http'),
  );
  const against = (figure: string, found: readonly Measured[], rival: string, bound: number): void => {
    const node = found.find(({ series: { target } }) => target.name === 'node')!;
    const other = found.find(({ series: { target } }) => target.name === rival);
    const name = `${figure} against ${rival}`;
    const ratio = other && to.figure(name, 'x', 'more', ratios(rates(node), rates(other)));
    to.goal(name, ratio ?? null, 'at least', bound, 'x');
  };
  against('reads', reads, 'bare node:http', 0.95);
  against('reads', reads, 'fastify+redis', 2.2);
  against('reads', reads, 'fastify+postgres', 4.5);
  against('durable POST at 256 connections', writes, 'bare node:http', 0.65);
  against('durable POST at 256 connections', writes, 'fastify+redis', 2.5);
  against('durable POST at 256 connections', writes, 'fastify+postgres', 9);
  against('durable POST at 256 connections', writes, 'CrowdSec LAPI', 20);
  against('durable POST at 1 connection', one, 'fastify+postgres', 1);
}

function contestant(target: Target, site: Site): Contestant {
  return { target, read: sownScoreKind(site, sownEvents), write: eventKind(site) };
}

async function sow(target: Target, write: Kind): Promise<void> {
  const series = { name: 'sowing', target, workload: only(write), connections: readers, rate: null };
  let sown = 0;
  for (let tries = 0; sown < sownEvents; tries++) {
    if (tries === sowTriesMax) throw new Error(`${target.name} took ${sown} of ${sownEvents} events`);
    sown += answersOf((await driveWindow(series, 0.5, performance.now())).driven);
  }
}

/** An alert with one decision stands for an event, and the decisions on a value for a score. */
function crowdsecContestant(target: CrowdsecTarget, site: Site): Contestant {
  const read: Kind = {
    name: 'decisions',
    expects: [200],
    request: (i) =>
      `GET /v1/decisions?scope=player&value=${playerOfEvent(site, mix(site.seed, i) % sownEvents)} HTTP/1.1\r\nhost: 127.0.0.1\r\nuser-agent: bench/1\r\nx-api-key: ${target.apiKey}\r\n\r\n`,
  };
  const write: Kind = {
    name: 'alert',
    expects: [201],
    request(i) {
      const value = playerOfEvent(site, i);
      const source = `"source":{"scope":"player","value":"${value}"}`;
      const decision = `{"origin":"bench","type":"ban","scope":"player","value":"${value}","duration":"720h","scenario":"report_cheating"}`;
      const times = '"start_at":"2026-01-01T00:00:00Z","stop_at":"2026-01-01T00:00:00Z"';
      const head = `"scenario":"report_cheating","scenario_hash":"","scenario_version":"1","message":"report","events_count":1`;
      const rest = `"capacity":0,"leakspeed":"0","simulated":false,"events":[],"remediation":true`;
      const body = `[{${head},${times},${rest},${source},"decisions":[${decision}]}]`;
      return post('/v1/alerts', `user-agent: bench/1\r\nauthorization: Bearer ${target.token}\r\n`, body);
    },
  };
  return { target, read, write };
}

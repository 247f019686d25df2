/** Compares reads and durable writes with the alternatives of a user, and with bare `node:http`. */
import type { Kind } from '../load/drive.js';
import { eventKind, get, mix, only, playerOfEvent, post, type Site, scoreKind } from '../load/requests.js';
import {
  type CrowdsecTarget,
  startBareHttp,
  startCrowdsec,
  startOrNote,
  startPostgres,
  startRedis,
} from '../peers/references.js';
import { measured, type Run } from '../run.js';
import type { Target } from '../target.js';
import { until } from '../until.js';
import { answersOf, driveWindow, type Measured } from '../windows.js';

const readers = 64;
const writers = 256;
/** Events that every server gets first; the reads ask for their players. */
const sownEvents = 2_000;
const sowPatience = { timeoutMs: 60_000, everyMs: 0 };

/** A server with the requests that it understands. */
interface Contestant {
  readonly target: Target;
  readonly read: Kind;
  readonly write: Kind;
}

export const peers = measured({
  name: 'peers',
  summary: 'beside node:http, Redis, PostgreSQL and CrowdSec',
  players: 10_000,
  async measure(run) {
    const all = await contestants(run);
    for (const { target, write } of all) await sow(target, write);
    const series = async (what: string, kind: 'read' | 'write', connections: number, among = all) => {
      const seriesOf = ({ target, [kind]: one }: Contestant) => ({
        ...{ name: `${what}, ${target.name}`, target, workload: only(one), connections, rate: null },
        tolerant: !target.name.startsWith('node'),
      });
      return run.alternate(what, among.map(seriesOf));
    };
    const reads = await series('reads', 'read', run.options.connections ?? readers);
    const writes = await series('durable events', 'write', run.options.connections ?? writers);
    const stores = all.filter(({ target }) => target.name !== 'bare node:http');
    const one = await series('durable events at 1 connection', 'write', 1, stores);
    const against = (figure: string, found: readonly Measured[], rival: string, bound: number): void => {
      const measuredOn = (name: string) => found.find(({ series: { target } }) => target.name === name);
      const [node, other] = [measuredOn('node')!, measuredOn(rival)];
      const name = `${figure} against ${rival}`;
      run.report.goal(name, other === undefined ? null : run.rateRatio(name, node, other), 'at least', bound, 'x');
    };
    against('reads', reads, 'bare node:http', 0.95);
    against('reads', reads, 'fastify+redis', 2.2);
    against('reads', reads, 'fastify+postgres', 4.5);
    const many = 'durable POST at 256 connections';
    against(many, writes, 'bare node:http', 0.65);
    against(many, writes, 'fastify+redis', 2.5);
    against(many, writes, 'fastify+postgres', 9);
    against(many, writes, 'CrowdSec LAPI', 20);
    against('durable POST at 1 connection', one, 'fastify+postgres', 1);
  },
});

/** Starts the servers. Notes a server that is not installed or does not start; the others are measured anyway. */
async function contestants(run: Run): Promise<Contestant[]> {
  const ways = await run.bothWays();
  const { site } = ways[0];
  const contestant = (target: Target): Contestant => ({
    target,
    read: scoreKind(site, (i) => playerOfEvent(site, mix(site.seed, i) % sownEvents)),
    write: eventKind(site),
  });
  const all = [...ways.map(({ target }) => target), run.use(await startBareHttp())].map(contestant);
  const start = async <T extends Target>(name: string, starting: () => Promise<T | null>): Promise<T | null> => {
    const target = await startOrNote(name, starting, (text) => run.report.note(text));
    return target && run.use(target);
  };
  const redis = await start('fastify+redis', () => startRedis(site.peers));
  if (redis !== null) all.push(contestant(redis));
  const postgres = await start('fastify+postgres', () => startPostgres(site.peers));
  if (postgres !== null) all.push(contestant(postgres));
  const crowdsec = await start('CrowdSec LAPI', startCrowdsec);
  if (crowdsec !== null) all.push(crowdsecContestant(crowdsec, site));
  return all;
}

async function sow(target: Target, write: Kind): Promise<void> {
  const series = { name: 'sowing', target, workload: only(write), connections: readers, rate: null };
  let sown = 0;
  const isSown = async () => {
    sown += answersOf((await driveWindow(series, 0.5, performance.now())).driven);
    return sown >= sownEvents;
  };
  await until(isSown, sowPatience, () => `${target.name} took ${sown} of ${sownEvents} events`);
}

/** CrowdSec: an alert with one decision stands for an event, the decisions on a value stand for a score. */
function crowdsecContestant(target: CrowdsecTarget, site: Site): Contestant {
  const agent = 'user-agent: bench/1\r\n';
  const read: Kind = {
    name: 'decisions',
    expects: [200],
    request(i) {
      const value = playerOfEvent(site, mix(site.seed, i) % sownEvents);
      return get(`/v1/decisions?scope=player&value=${value}`, `${agent}x-api-key: ${target.apiKey}\r\n`);
    },
  };
  const write: Kind = {
    name: 'alert',
    expects: [201],
    request(i) {
      const source = { scope: 'player', value: playerOfEvent(site, i) };
      const scenario = 'report_cheating';
      const alert = {
        scenario,
        scenario_hash: '',
        scenario_version: '1',
        message: 'report',
        events_count: 1,
        start_at: '2026-01-01T00:00:00Z',
        stop_at: '2026-01-01T00:00:00Z',
        capacity: 0,
        leakspeed: '0',
        simulated: false,
        events: [],
        remediation: true,
        source,
        decisions: [{ origin: 'bench', type: 'ban', ...source, duration: '720h', scenario }],
      };
      return post('/v1/alerts', `${agent}authorization: Bearer ${target.token}\r\n`, JSON.stringify([alert]));
    },
  };
  return { target, read, write };
}

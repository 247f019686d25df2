/** Runs `ptf-peer` at a fake node: events that the node stores without counting them, and a list that changes. */
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { saltCheckOf } from '../../src/client/ids/salt-check.js';
import type { EventBody } from '../../src/contract/request-bodies.js';
import { Sidecar } from '../../src/peer/sidecar/sidecar.js';
import { sourceOf } from '../../src/peer/sources/source.js';
import { watchList } from '../../src/peer/watch/list-watch.js';
import { until } from '../support/until.js';
import { PeerWorld } from './peer-world.js';

const groupSalt = 'a salt of the tests';
const list = 'steam_id\n76561202255225729\n76561202255225730\n76561202255225731\n';
const said = /^(?:\S+ )*3 events are older than 20 half-lives or of severity 0: stored, but no evidence$/m;

let server: Server;
let world: PeerWorld;
let config: Parameters<typeof watchList>[0]['config'];
/** The severities of the events that the fake node took. */
let severities: number[] = [];

test.before(async () => {
  server = createServer(async (request, response) => {
    const { status, body } = answerTo(request, await textOf(request));
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
});
test.after(() => {
  server.closeAllConnections();
  server.close();
});
test.before.each(() => {
  severities = [];
  world = new PeerWorld();
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const member = { url, peerId: 'peer', apiKey: 'key', groupSalt, gameIds: ['arena'] };
  world.writeConfig(member);
  config = { ...member, signingKey: undefined, stateDir: world.stateDir, path: world.configPath };
});

/** Answers as a node of which every event of severity 0 is no evidence. */
function answerTo({ url = '' }: IncomingMessage, text: string): { status: number; body: object } {
  if (url.startsWith('/api/v1/peers')) {
    const group = { group_id: 'local', identity_mode: 'privacy-first', salt_check: saltCheckOf(groupSalt) };
    return { status: 200, body: { group: { ...group, player_id_kinds: ['steam'] }, data: [], next_cursor: null } };
  }
  if (url !== '/api/v1/events/batch') return { status: 404, body: { error: 'no such route', code: 'route_not_found' } };
  const { events } = JSON.parse(text) as { events: EventBody[] };
  severities.push(...events.map(({ severity }) => severity));
  const results = events.map(({ event_id, severity }) => ({
    event_id,
    status: 201,
    ...(severity === 0 ? { counts: false } : {}),
  }));
  return { status: 200, body: { accepted: results.length, duplicates: 0, rejected: 0, results } };
}

async function textOf(request: IncomingMessage): Promise<string> {
  let text = '';
  for await (const chunk of request.setEncoding('utf8')) text += chunk;
  return text;
}

function file(): string {
  const path = join(world.folder, 'bans.csv');
  writeFileSync(path, list);
  return path;
}

test('an import says once how many of its events are no evidence, and nothing if all count', async () => {
  const none = await world.run(['import', file(), '--severity', '0']);
  assert.equal([none.code, none.out.match(new RegExp(said, 'gm'))?.length], [0, 1], none.out + none.err);
  const { out } = await world.run(['import', file(), '--severity', '0', '--json']);
  assert.is(JSON.parse(out).uncounted, 3);
  const all = await world.run(['import', file()]);
  assert.not.match(all.out + all.err, 'no evidence');
  assert.equal(severities, [0, 0, 0, 0, 0, 0, 1, 1, 1]);
});

test('a watch logs once how many of its reports are no evidence', async () => {
  const lines: string[] = [];
  const stop = new AbortController();
  const watching = watchList({
    config,
    source: await sourceOf([file()], false, {}),
    format: 'auto',
    gameId: 'arena',
    severity: 0,
    timeZone: 'UTC',
    log: (line) => lines.push(line),
    signal: stop.signal,
  });
  await until(() => lines.some((line) => said.test(line)));
  stop.abort();
  await watching;
  assert.is(lines.filter((line) => said.test(line)).length, 1, lines.join('\n'));
});

test('a JSON list that is followed may lose the last entry with a cell that its description reads', async () => {
  const lines: string[] = [];
  const stop = new AbortController();
  const path = join(world.folder, 'bans.json');
  const write = (...entries: readonly object[]) => writeFileSync(path, JSON.stringify(entries));
  const entry = (n: number) => ({ steam_id: `765612022552257${n}` });
  write({ ...entry(29), until: 4_000_000_000 }, { ...entry(30), until: 0 }, entry(31));
  const ids = [{ cell: 'steam_id', kind: 'steam' }];
  const described = { name: 'arena', title: 'arena', shape: 'json', recognise: { why: 'given' }, ids } as const;
  const watching = watchList({
    config,
    source: await sourceOf([path], false, {}),
    format: 'auto',
    description: { ...described, end: { cell: 'until', unit: 's' }, needs: ['until'] },
    gameId: 'arena',
    timeZone: 'UTC',
    log: (line) => lines.push(line),
    signal: stop.signal,
  });
  await until(() => lines.includes('reported 3 bans'));
  write(entry(30), entry(31), entry(32));
  await until(() => lines.includes('reported 1 bans'));
  stop.abort();
  await watching;
});

test('the status of a sidecar counts reports that are no evidence, and its log names them once', async () => {
  const lines: string[] = [];
  const sidecar = await Sidecar.open({
    config,
    mode: 'shadow',
    restrict: ['untrusted'],
    confidenceMin: 0.4,
    actOn: null,
    actConfidence: 0.5,
    playersMax: 10,
    version: '0.0.0',
    memory: () => ({ rss: 0, heapUsed: 0 }),
    log: (line) => lines.push(line),
  });
  const report = { eventType: 'ban_applied', gameId: 'arena', eventId: undefined, at: undefined } as const;
  for (const n of [29, 30, 31]) await sidecar.report({ ...report, playerIds: [`765612022552257${n}`], severity: 0 });
  await sidecar.report({ ...report, playerIds: ['76561202255225732'], severity: 1 });
  const spool = () => (sidecar.status as { spool: { pending: number; delivered: number; uncounted: number } }).spool;
  await until(() => spool().pending === 0);
  assert.equal([spool().delivered, spool().uncounted], [4, 3]);
  await sidecar.close();
  assert.is(lines.filter((line) => line.includes('no evidence')).length, 1, lines.join('\n'));
});

test.run();

import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { setImmediate as turnOfLoop } from 'node:timers/promises';
import { pino } from 'pino';
import { request } from 'undici';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { routes } from '../../../src/contract/routes.js';
import { refused } from '../../../src/errors.js';
import type { PeersApi } from '../../../src/group/api.js';
import { createMetrics, startMetricsServer } from '../../../src/http/metrics/metrics.js';
import { limits } from '../../../src/limits.js';
import { closing } from '../../support/closing.js';
import { deferred } from '../../support/deferred.js';
import { until } from '../../support/until.js';
import { ask, askRaw, received } from '../exchange.js';
import { type FaceOptions, startFace } from '../face.js';
import { activeKey, groupDouble } from '../group-double.js';
import { sampleOf } from './sample-of.js';

const version = '9.8.7';

/** Metrics, and a face that reports to them. */
async function observedFace(options: FaceOptions = {}) {
  const metrics = createMetrics(version, groupDouble);
  return { metrics, face: await startFace({ metrics, ...options }) };
}

test('answers are counted by route template, method, status and code, never by id', async () => {
  const { metrics, face } = await observedFace();
  await ask(face.url, '/api/v1/players/very-secret/verdict', { key: activeKey });
  await ask(face.url, '/api/v1/players/second-secret/verdict');
  await ask(face.url, '/api/v1/health');
  await ask(face.url, '/very-secret-path');
  await face.drain();
  const text = await metrics.text();
  const counted = (route: string, status: number, code: string) =>
    sampleOf(text, `ptf_http_requests_total{route="${route}",method="GET",status="${status}",code="${code}"}`);
  assert.is(counted('/api/v1/players/{id}/verdict', 404, 'player_not_found'), 2);
  assert.is(counted('/api/v1/health', 200, ''), 1);
  assert.is(counted('none', 404, 'route_not_found'), 1);
  assert.is(sampleOf(text, 'ptf_http_request_duration_seconds_count{route="/api/v1/health",method="GET"}'), 1);
  for (const word of ['very-secret', 'second-secret', activeKey]) assert.not(text.includes(word), word);
});

test('the bounds of every histogram ascend, and hold those of its alerts and of a hung computation', async () => {
  const metrics = createMetrics(version, groupDouble);
  metrics.workDone('weights', true, 1);
  metrics.turnCommitted(1, 1, 1);
  metrics.requestAnswered('/api/v1/health', 'GET', 200, '', 1);
  const bounds = new Map<string, number[]>();
  for (const [, name, le] of (await metrics.text()).matchAll(/^(ptf_\w+)_bucket\{.*?\ble="([\d.]+)"/gm)) {
    bounds.set(name!, [...(bounds.get(name!) ?? []), Number(le)]);
  }
  assert.is(bounds.size, 4);
  for (const [name, steps] of bounds)
    assert.ok(
      steps.every((step, i) => i === 0 || step > steps[i - 1]!),
      name,
    );
  const rules = readFileSync(new URL('../../../../deploy/alerts.yml', import.meta.url), 'utf8');
  const alerts = [...rules.matchAll(/histogram_quantile\([^>]*?(ptf_\w+)_bucket[^>]*> ([\d.]+)$/gm)];
  assert.is(alerts.length, 2);
  // A quantile is exact at a bound alone.
  for (const [, name, bound] of alerts) assert.ok(bounds.get(name!)?.includes(Number(bound)), name);
  assert.is(bounds.get('ptf_work_duration_seconds')?.at(-1), limits.weightsTimeoutMs / 1000);
});

test('answers without a request are counted too: parse errors and excess connections', async () => {
  const { metrics, face } = await observedFace({ settings: { connectionsMax: 1 } });
  const busy = connect(face.port, '127.0.0.1');
  await once(busy, 'connect');
  const fields = `Host: x\r\nX-Peer-API-Key: ${activeKey}\r\nContent-Type: application/json\r\nContent-Length: 5\r\nExpect: 100-continue`;
  busy.write(`POST /api/v1/events HTTP/1.1\r\n${fields}\r\n\r\n`);
  // Once it is told to continue it has a request under way, and is not closed for a new connection.
  await once(busy, 'data');
  assert.is((await askRaw(face.port, []))[0]?.status, 503);
  busy.destroy();
  await until(async () => (await askRaw(face.port, ['no request\r\n\r\n']))[0]?.status === 400);
  await face.drain();
  const text = await metrics.text();
  const none = 'ptf_http_requests_total{route="none",method="other"';
  assert.ok(sampleOf(text, `${none},status="503",code="overloaded"}`)! >= 1);
  assert.ok(sampleOf(text, `${none},status="400",code="invalid_parameter"}`)! >= 1);
});

test('a request that breaks off is counted with the answer of its caller, and only once', async () => {
  for (const type of ['application/json', 'application/json; charset=utf-8']) {
    const { metrics, face } = await observedFace();
    const socket = connect(face.port, '127.0.0.1');
    const answer = received(socket);
    const head = `POST /api/v1/events HTTP/1.1\r\nHost: x\r\nX-Peer-API-Key: ${activeKey}\r\nContent-Type: ${type}\r\n`;
    socket.end(`${head}Content-Length: 9\r\n\r\n{"a"`);
    assert.match(await answer, /^HTTP\/1\.1 400 /);
    await face.drain();
    await turnOfLoop();
    const counted = (await metrics.text()).match(/^ptf_http_requests_total.*$/gm);
    assert.equal(counted, [
      'ptf_http_requests_total{route="none",method="other",status="400",code="invalid_parameter"} 1',
    ]);
  }
});

test('an answer counts even if its caller gave up waiting, so that slow answers show', async () => {
  const [asked, answered] = [deferred(), deferred()];
  const playerEvents: PeersApi['playerEvents'] = async () => {
    asked.resolve();
    await answered.promise;
    return refused('player_not_found');
  };
  const { metrics, face } = await observedFace({ group: { playerEvents } });
  const socket = connect(face.port, '127.0.0.1');
  socket.write(`GET /api/v1/players/p/events HTTP/1.1\r\nHost: x\r\nX-Peer-API-Key: ${activeKey}\r\n\r\n`);
  await asked.promise;
  socket.resetAndDestroy();
  for (let turn = 0; turn < 10; turn++) await turnOfLoop();
  answered.resolve();
  await face.drain();
  assert.match(await metrics.text(), /^ptf_http_requests_total\{route="[^"]*events",.*status="404".*\} 1$/m);
});

test('turns, events, work, refused ids and readers are counted once, however often they are read', async () => {
  const metrics = createMetrics(version, groupDouble);
  metrics.eventsDecided('report_spam', 'accepted', 2);
  await metrics.text();
  metrics.eventsDecided('report_spam', 'accepted', 3);
  metrics.eventsDecided('report_spam', 'duplicate_event', 1);
  for (const id of ['player_id', 'player_id', 'game_id'] as const) metrics.idRefused(id);
  metrics.turnCommitted(3, 1000, 2);
  metrics.turnCommitted(1, 500, 4);
  metrics.streamReaders(4);
  metrics.streamSynced(5);
  metrics.streamSynced(6);
  metrics.streamEnded('left');
  metrics.workDone('snapshot', true, 250);
  metrics.workDone('snapshot', false, 1500);
  const text = await metrics.text();
  const expected = {
    'events_decided_total{event_type="report_spam",outcome="accepted"}': 5,
    'events_decided_total{event_type="report_spam",outcome="duplicate_event"}': 1,
    'ids_refused_total{id="player_id"}': 2,
    'ids_refused_total{id="game_id"}': 1,
    commit_records_sum: 4,
    commit_bytes_total: 1500,
    commit_duration_seconds_sum: 0.006,
    stream_readers: 4,
    stream_rows_total: 11,
    'stream_ends_total{reason="left"}': 1,
    'work_duration_seconds_sum{kind="snapshot",ok="true"}': 0.25,
    'work_duration_seconds_sum{kind="snapshot",ok="false"}': 1.5,
  };
  for (const [name, value] of Object.entries(expected)) assert.is(sampleOf(text, `ptf_${name}`), value, name);
});

test('the traffic is the reads of players, the submissions and the refused ids', () => {
  const metrics = createMetrics(version, groupDouble);
  for (const { method, path } of Object.values(routes)) metrics.requestAnswered(path, method, 200, '', 1);
  metrics.requestAnswered(routes.submitEvents.path, 'POST', 201, '', 1);
  metrics.idRefused('peer_name');
  const { reads, events, idsRefused } = metrics.traffic();
  assert.equal([reads.total, events.total, idsRefused], [4, 3, 1]);
});

test('promtool accepts the metrics', async () => {
  const { metrics, face } = await observedFace();
  await ask(face.url, '/api/v1/health');
  await face.drain();
  const { error, status, stdout, stderr } = spawnSync('promtool', ['check', 'metrics'], {
    input: await metrics.text(),
    encoding: 'utf8',
  });
  if (error !== undefined) process.stdout.write('SKIPPED: promtool is not at hand\n');
  else assert.equal([status, stdout, stderr], [0, '', '']);
});

test('the metrics have their own server, which serves nothing else', async () => {
  await using server = closing(
    await startMetricsServer(createMetrics(version, groupDouble), '127.0.0.1', 0, pino({ level: 'silent' })),
  );
  const url = `http://${server.host}:${server.port}`;
  const status = async (path: string, method: 'GET' | 'POST' | 'HEAD'): Promise<number> => {
    const answer = await request(`${url}${path}`, { method });
    await answer.body.dump();
    return answer.statusCode;
  };
  const { headers, body } = await request(`${url}/metrics`);
  assert.match(String(headers['content-type']), /^text\/plain/);
  assert.match(await body.text(), /^# HELP ptf_http_requests_total /m);
  assert.equal([await status('/', 'GET'), await status('/api/v1/health', 'GET')], [404, 404]);
  assert.equal([await status('/metrics', 'POST'), await status('/metrics', 'HEAD')], [405, 200]);
});

test('metrics that cannot be read are an empty 500, and the log states the reason', async () => {
  const logged: Record<string, unknown>[] = [];
  const log = pino({ level: 'debug' }, { write: (line: string) => logged.push(JSON.parse(line)) });
  const failing = { text: () => Promise.reject(new Error('a secret sentence')), contentType: 'text/plain' };
  await using server = closing(await startMetricsServer(failing, '127.0.0.1', 0, log));
  const { statusCode, body } = await request(`http://${server.host}:${server.port}/metrics`);
  assert.equal([statusCode, await body.text()], [500, '']);
  const [{ level, msg, err } = {}, ...others] = logged;
  // pino: 50 is `error`.
  assert.equal([level, msg, others], [50, 'the metrics could not be read', []]);
  assert.match(JSON.stringify(err), /a secret sentence/);
});

test.run();

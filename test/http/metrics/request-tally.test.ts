/** The tally of answers, held against the library that it stands in for. */
import { Counter, Histogram, Registry } from 'prom-client';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { RequestTally } from '../../../src/http/metrics/metrics.js';

test('the text is that of a counter and a histogram of prom-client for the same answers', async () => {
  const registers = [new Registry()];
  const counter = new Counter({
    name: 'ptf_http_requests_total',
    help: 'Answers on the public port.',
    labelNames: ['route', 'method', 'status', 'code'],
    registers,
  });
  const histogram = new Histogram({
    name: 'ptf_http_request_duration_seconds',
    help: 'Time from the arrival of the request head to the answer.',
    labelNames: ['route', 'method'],
    buckets: [0.00005, 0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5],
    registers,
  });
  const tally = new RequestTally();
  const answers = [
    ['/a', 'GET', 200, '', 0.5],
    ['/a', 'GET', 200, '', 0.50001],
    ['/a', 'GET', 404, 'player_not_found', 5_000],
    ['/a', 'POST', 201, '', 7_000],
    ['/b/{id}', 'GET', 503, 'overloaded', 0],
  ] as const;
  for (const [route, method, status, code, ms] of answers) {
    tally.note(route, method, status, code, ms);
    counter.inc({ route, method, status, code });
    histogram.observe({ route, method }, ms / 1000);
  }
  const theirs = await registers[0]!.metrics();
  assert.equal(tally.text().split('\n').sort(), theirs.split('\n').sort());
});

test('the times of some routes are summed, up to each bound and in all', () => {
  const tally = new RequestTally();
  for (const ms of [0.04, 0.09, 0.3]) tally.note('/a', 'GET', 200, '', ms);
  tally.note('/b', 'HEAD', 404, 'player_not_found', 20_000);
  tally.note('/c', 'GET', 200, '', 0.04);
  const { boundsS, upTo, total } = tally.latencies(new Set(['/a', '/b', '/unseen']));
  assert.equal(boundsS.slice(0, 4), [0.00005, 0.0001, 0.00025, 0.0005]);
  assert.equal(upTo.slice(0, 4), [1, 2, 2, 3]);
  // The slowest is beyond the last bound.
  assert.equal([upTo.at(-1), total], [3, 4]);
});

test.run();

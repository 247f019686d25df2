/** The tally of answers, held against the library that it stands in for. */
import { Counter, Histogram, Registry } from 'prom-client';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { RequestTally } from '../../src/http/request-tally.js';

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
    help: 'From the arrival of the head to the answer.',
    labelNames: ['route', 'method'],
    buckets: [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5],
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

test.run();

/** Damage under a running node is found by the check in the background, told, and harms no answer. */
import { closeSync, openSync, readFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { pino } from 'pino';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { ask } from './http/exchange.js';
import { registerPeer } from './http/peer-client.js';
import { startStillNode } from './support/node.js';
import { until } from './support/until.js';

test('a flipped bit in an old record is found while the node runs, named in log, status and metrics', async () => {
  const lines: Record<string, unknown>[] = [];
  const log = pino({ level: 'info' }, { write: (line: string) => lines.push(JSON.parse(line)) });
  const checkTimes = { checkFirstMs: 1, checkEveryMs: 1 };
  // Still: a commit that is under way while the file is damaged would write the page as it was before.
  await using node = await startStillNode({ METRICS_PORT: '0' }, { log, checkTimes });
  const peer = await registerPeer(node.url);
  await peer.submit({ event_id: 'the-damaged-one', player_id: 'p' });
  for (let i = 0; i < 5; i++) await peer.submit({ event_id: `later-${i}`, player_id: 'p' });
  const { lastSeq } = node.group.health();
  await until(() => node.group.status().check.checkedSeq >= lastSeq && node.group.status().check.endedAt !== null);
  assert.equal(node.group.status().check.faults, []);

  const file = join(node.dir, 'log', 'data.mdb');
  const content = readFileSync(file);
  const descriptor = openSync(file, 'r+');
  for (let at = content.indexOf('the-damaged-one'); at >= 0; at = content.indexOf('the-damaged-one', at + 1)) {
    writeSync(descriptor, Buffer.from([content[at]! ^ 1]), 0, 1, at);
  }
  closeSync(descriptor);
  await until(() => node.group.status().check.faults.length > 0);

  assert.match(node.group.status().check.faults[0]!, /log batch at record \d+: checksum differs/);
  assert.ok(lines.some(({ level, fault }) => level === 50 && /record \d+/.test(String(fault))));
  assert.match(await (await fetch(`${node.metricsUrl}/metrics`)).text(), /\nptf_check_faults 1\n/);
  assert.is((await ask(node.url, '/api/v1/health')).status, 200);
  assert.is((await peer.submit({ player_id: 'p' })).status, 201);
  assert.is((await ask(node.url, '/api/v1/players/p/trust-score')).body.event_count, 7);
});

test.run();

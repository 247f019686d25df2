/**
 * A node whose clock is set forward: nothing is written by it, since one event with its time would devalue all that
 * come later.
 */
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { pino } from 'pino';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { DAY_MS } from '../src/limits.js';
import { StartRefusedError } from '../src/node/startup.js';
import { readClockSeen } from '../src/store/files/folder-files.js';
import { ask } from './http/exchange.js';
import { registerPeer } from './http/peer-client.js';
import { startTestNode } from './support/node.js';
import { temporaryFolder } from './support/process.js';
import { until } from './support/until.js';

const years200 = 200 * 365 * DAY_MS;

class TestClock {
  aheadMs = 0;

  now(): number {
    return Date.now() + this.aheadMs;
  }
}

test('a node whose clock jumps ahead refuses all writes, even of an operator, and continues reads', async () => {
  const clock = new TestClock();
  const lines: string[] = [];
  const log = pino({ level: 'warn' }, { write: (line: string) => lines.push(line) });
  await using node = await startTestNode({}, { clock, log });
  const peer = await registerPeer(node.url);
  assert.is((await peer.submit({ player_id: 'p' })).status, 201);
  const { lastSeq } = node.group.health();
  clock.aheadMs = years200;

  const refused = await peer.submit({ event_id: 'late', player_id: 'p' });
  const ahead = [503, 'dependency_unavailable', { reason: 'clock_ahead' }];
  assert.equal([refused.status, refused.body.code, refused.body.details], ahead);
  const registration = await ask(node.url, '/api/v1/peers/register', { json: { peer_name: 'N', game_ids: ['g'] } });
  assert.equal([registration.status, registration.body.details], [503, { reason: 'clock_ahead' }]);
  const suspended = await node.group.changePeer('peer_status', peer.peerId, { status: 'suspended' }, 'test');
  assert.is(suspended.ok, false);
  for (const path of ['/api/v1/health', '/api/v1/ready']) {
    const { status, body } = await ask(node.url, path);
    assert.equal([status, body.code, body.details], ahead);
  }
  assert.is((await ask(node.url, '/api/v1/players/p/trust-score')).status, 200);
  assert.is(node.group.health().lastSeq, lastSeq);

  clock.aheadMs = 0;
  await until(async () => (await ask(node.url, '/api/v1/health')).status === 200);
  assert.is((await peer.submit({ event_id: 'late', player_id: 'p' })).status, 201);
  const said = (part: string) => lines.filter((line) => line.includes(part)).length;
  assert.equal([said('jumped more than a day ahead'), said('clock is correct again')], [1, 1]);
});

test("a start long after its folder's newest time needs the operator's word outside of dev", async () => {
  const dir = temporaryFolder();
  const clock = new TestClock();
  const env = { DATA_DIR: dir, ENVIRONMENT: 'staging' };
  const started = async (more: Record<string, string> = {}) => {
    const node = await startTestNode({ ...env, ...more }, { clock });
    await until(() => Math.abs(readClockSeen(dir) - clock.now()) < DAY_MS);
    await node.close();
  };
  await started();
  clock.aheadMs = 3 * DAY_MS;
  const refusal = await started().catch((error: unknown) => error);
  assert.instance(refusal, StartRefusedError);
  assert.match((refusal as Error).message, 'CLOCK_ACCEPTED_UNTIL');
  const day = (ms: number) => new Date(ms).toISOString().slice(0, 10);
  const tooEarly = await started({ CLOCK_ACCEPTED_UNTIL: day(clock.now() - DAY_MS) }).catch((error: unknown) => error);
  assert.instance(tooEarly, StartRefusedError);
  await started({ CLOCK_ACCEPTED_UNTIL: day(clock.now()) });
  clock.aheadMs += DAY_MS / 2;
  await started();
  // The group was at rest all the time: the file alone tells that a node ran meanwhile.
  rmSync(join(dir, 'clock-seen'));
  assert.instance(await started().catch((error: unknown) => error), StartRefusedError);
});

test('a start for local trials on such a clock only warns', async () => {
  const dir = temporaryFolder();
  const clock = new TestClock();
  await (await startTestNode({ DATA_DIR: dir }, { clock })).close();
  clock.aheadMs = years200;
  const lines: string[] = [];
  const log = pino({ level: 'warn' }, { write: (line: string) => lines.push(line) });
  await (await startTestNode({ DATA_DIR: dir }, { clock, log })).close();
  assert.is(lines.filter((line) => line.includes('CLOCK_ACCEPTED_UNTIL')).length, 1);
});

test.run();

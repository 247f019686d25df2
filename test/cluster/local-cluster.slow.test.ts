/** `npm run cluster`: the group that it starts, a killed leader, and what is left after Ctrl-C. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { noEtcd } from '../../bench/cluster/etcd-members.js';
import { until } from '../support/until.js';

const missing = noEtcd();
const program = fileURLToPath(new URL('../../bench/cluster/main.js', import.meta.url));

/** Collects the output of the program. */
function started(): { child: ChildProcess; output: () => string } {
  const child = spawn(process.execPath, [program, '--port', '0'], { stdio: ['ignore', 'pipe', 'pipe'] });
  let text = '';
  for (const stream of [child.stdout!, child.stderr!]) {
    stream.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk;
    });
  }
  return { child, output: () => text };
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

async function post(url: string, body: object, key?: string): Promise<Response> {
  const headers = { 'Content-Type': 'application/json', ...(key === undefined ? {} : { 'X-Peer-API-Key': key }) };
  return fetch(url, { method: 'POST', headers, body: JSON.stringify(body), signal: AbortSignal.timeout(10_000) });
}

if (missing === undefined) {
  test('the group serves through its proxy, survives kill -9 of its leader, and Ctrl-C leaves nothing', async () => {
    const { child, output } = started();
    try {
      await until(() => output().includes('Ctrl-C ends'));
      const proxy = /proxy {3}(\S+)/.exec(output())![1]!;
      const processes = [...output().matchAll(/(http\S+) {3}process (\d+)/g)].map(([, url, pid]) => ({
        url: url!,
        pid: Number(pid),
      }));
      assert.is(processes.length, 6);
      const registered = await post(`${proxy}/api/v1/peers/register`, { peer_name: 'Arena', game_ids: ['arena'] });
      assert.is(registered.status, 201);
      const { peer_id: peerId, api_key: key } = (await registered.json()) as { peer_id: string; api_key: string };
      const event = {
        schema_version: '1.0.0',
        event_id: 'first-report',
        event_type: 'report_cheating',
        peer_id: peerId,
        player_id: 'player-1',
        game_id: 'arena',
        severity: 0.8,
        timestamp: new Date().toISOString(),
      };
      assert.is((await post(`${proxy}/api/v1/events`, event, key)).status, 201);

      const roles = await Promise.all(
        processes.slice(0, 3).map(async ({ url, pid }) => {
          const { cluster } = (await (await fetch(`${url}/api/v1/health`)).json()) as { cluster: { role: string } };
          return { pid, role: cluster.role };
        }),
      );
      process.kill(roles.find(({ role }) => role === 'leader')!.pid, 'SIGKILL');
      const repeated = { ...event, event_id: 'second-report', timestamp: new Date().toISOString() };
      await until(async () => {
        const answer = await post(`${proxy}/api/v1/events`, repeated, key).catch(() => null);
        return answer !== null && [201, 409].includes(answer.status);
      });
      await until(() => /node-\d is process \d+/.test(output()));

      const ended = once(child, 'close');
      child.kill('SIGINT');
      assert.equal(await ended, [0, null], output());
      assert.equal(
        processes.filter(({ pid }) => isRunning(pid)),
        [],
      );
      assert.not(existsSync(/DATA_DIR=(\S+)/.exec(output())![1]!));
    } finally {
      child.kill('SIGINT');
    }
  });
} else {
  process.stdout.write(`SKIPPED: ${missing}\n`);
}

test.run();

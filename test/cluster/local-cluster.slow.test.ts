/** `npm run cluster`: the group that it starts, a killed leader, and what is left after Ctrl-C. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { noEtcd } from '../../bench/cluster/etcd-members.js';
import { type Running, watched } from '../support/child-process.js';
import { temporaryFolder } from '../support/process.js';
import { until } from '../support/until.js';

const missing = noEtcd();
const program = fileURLToPath(new URL('../../bench/cluster/main.js', import.meta.url));

/** Collects the output of the program, whose temporary files are in `folder`. */
function started(folder: string): Running {
  const child = spawn(process.execPath, [program, '--port', '0'], {
    env: { ...process.env, TMPDIR: folder },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const running = watched(child);
  return { ...running, out: () => running.out() + running.err() };
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

/** Sends the body until it is stored, because the group may lose its leader on a busy machine. */
async function stored(url: string, body: object, key?: string): Promise<Record<string, string>> {
  const headers = { 'Content-Type': 'application/json', ...(key === undefined ? {} : { 'X-Peer-API-Key': key }) };
  let answer: Record<string, string> = {};
  await until(async () => {
    const signal = AbortSignal.timeout(10_000);
    const response = await fetch(url, { method: 'POST', headers, body: JSON.stringify(body), signal }).catch(
      () => null,
    );
    if (response === null || ![201, 409].includes(response.status)) return false;
    answer = (await response.json()) as Record<string, string>;
    return true;
  });
  return answer;
}

if (missing === undefined) {
  test('the group serves through its proxy, survives kill -9 of its leader, and Ctrl-C leaves nothing', async () => {
    const folder = temporaryFolder();
    const { child, out } = started(folder);
    try {
      await until(() => out().includes('Ctrl-C ends'));
      const proxy = /proxy {3}(\S+)/.exec(out())![1]!;
      const processes = [...out().matchAll(/(http\S+) {3}process (\d+)/g)].map(([, url, pid]) => ({
        url: url!,
        pid: Number(pid),
      }));
      assert.is(processes.length, 6);
      const peer = { peer_name: 'Arena', game_ids: ['arena'] };
      const { peer_id: peerId, api_key: key } = await stored(`${proxy}/api/v1/peers/register`, peer);
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
      await stored(`${proxy}/api/v1/events`, event, key);

      let leader = 0;
      await until(async () => {
        for (const { url, pid } of processes.slice(0, 3)) {
          const { cluster } = (await (await fetch(`${url}/api/v1/health`)).json()) as { cluster?: { role: string } };
          if (cluster?.role === 'leader') leader = pid;
        }
        return leader !== 0;
      });
      process.kill(leader, 'SIGKILL');
      await stored(`${proxy}/api/v1/events`, { ...event, event_id: 'second-report', severity: 0.7 }, key);
      await until(() => /node-\d is process \d+/.test(out()));

      const ended = once(child, 'close');
      child.kill('SIGINT');
      assert.equal(await ended, [0, null], out());
      const pids = Array.from(out().matchAll(/process (\d+)/g), ([, pid]) => Number(pid));
      assert.is(pids.length, 7);
      assert.equal(pids.filter(isRunning), []);
      assert.equal(readdirSync(folder), []);
    } finally {
      child.kill('SIGINT');
    }
  });

  test('Ctrl-C ends a group that is still starting', async () => {
    const folder = temporaryFolder();
    const { child, out } = started(folder);
    try {
      await until(() => readdirSync(folder).some((name) => name.startsWith('ptf-etcd-')));
      const ended = once(child, 'close');
      child.kill('SIGINT');
      assert.equal(await ended, [0, null], out());
      assert.equal(readdirSync(folder), []);
    } finally {
      child.kill('SIGKILL');
    }
  });
} else {
  process.stdout.write(`SKIPPED: ${missing}\n`);
}

test.run();

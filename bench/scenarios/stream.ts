/** What readers of the verdict stream cost the node: the same scores and events without and with them, their snapshots, and how soon they hear. */
import { hash } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { limits } from '../../src/limits.js';
import { probe } from '../load/probes.js';
import { eventKind, fixedTimestamp, gameId, mixture, scoreKind } from '../load/requests.js';
import { StreamSocket } from '../load/stream-socket.js';
import { type LoadOptions, measured } from '../measured.js';
import { filledNode, startNode } from '../node-target.js';
import { cpuSOf } from '../process-stats.js';
import { startProgress } from '../progress.js';
import type { Report } from '../report.js';
import { median } from '../result.js';
import { alternate, report } from '../windows.js';

const readersDefault = 1_000;
const rateDefault = 500;
const loadConnections = 32;
const probes = 40;
const patienceMs = 120_000;

export const stream = measured(
  'stream',
  'readers of the verdict stream (--connections): what they cost, their snapshots, how soon they hear',
  { players: 5_000 },
  run,
);

async function run(options: LoadOptions, to: Report): Promise<void> {
  const count = options.connections ?? readersDefault;
  const filled = await filledNode({ ...options, snapshotAfter: 1 });
  const { target, site, node } = await startNode('node', filled);
  const readers: StreamSocket[] = [];
  try {
    const parts = [
      [scoreKind(site), 80],
      [eventKind(site), 20],
    ] as const;
    const rate = options.rate ?? rateDefault;
    const seriesOf = (name: string) => ({
      name: `${rate} scores and events a second, ${name}`,
      target,
      workload: mixture(site.seed, parts),
      connections: loadConnections,
      rate,
    });
    const [alone] = await alternate('without readers', [seriesOf('no reader')], options.seconds);
    report(to, alone!);

    const began = performance.now();
    const before = cpuSOf(target.pids);
    const progress = startProgress('snapshots', count);
    for (let i = 0; i < count; i++) {
      const { apiKey } = site.peers[i % site.peers.length]!;
      readers.push(new StreamSocket(target.port, apiKey, () => progress.advance(1)));
    }
    await Promise.race([Promise.all(readers.map((reader) => reader.live)), late('the readers did not catch up')]);
    progress.stop();
    const megabytes = readers.reduce((sum, { bytes }) => sum + bytes, 0) / 1e6;
    to.figure(
      `snapshots of ${site.players} players, ${count} at once`,
      's',
      'less',
      (performance.now() - began) / 1000,
    );
    to.figure('a snapshot: CPU', 'ms', 'less', ((cpuSOf(target.pids) - before) * 1000) / count);
    to.figure('snapshots, all together', 'MB', 'less', megabytes);

    const [beside] = await alternate('with readers', [seriesOf(`${count} readers`)], options.seconds);
    report(to, beside!);
    const share = (of: typeof alone) => median(of!.windows.map(({ cpuShare }) => cpuShare));
    to.figure(`CPU of ${count} readers under that load`, '% of a core', 'less', 100 * (share(beside) - share(alone)));

    const [{ peerId, apiKey }] = site.peers as [(typeof site.peers)[number]];
    const { sinceSent, sinceStored } = await probe({
      count: probes,
      seed: site.seed,
      pauseMaxMs: limits.streamIntervalMsDefault,
      send: (i) => sendProbe(i, node.url, peerId, apiKey),
      hears: (i) => {
        const subject = hash('sha256', probePlayer(i) + filled.salt, 'hex');
        return Promise.race([readers[i % readers.length]!.hears(subject), late('a change was not heard')]);
      },
    });
    to.latencies('from the send to a reader', sinceSent.summary());
    to.latencies('from 201 to a reader', sinceStored.summary());
    const lost = readers.filter(({ isOpen }) => !isOpen).length;
    if (lost > 0) to.fault(`${lost} readers were cut off`);
  } finally {
    for (const reader of readers) reader.close();
    await target.stop();
  }
}

function probePlayer(i: number): string {
  return `probe ${i}`;
}

async function sendProbe(i: number, url: string, peerId: string, apiKey: string): Promise<void> {
  const event = {
    schema_version: '1.0.0',
    event_id: `probe-${i}`,
    event_type: 'report_cheating',
    peer_id: peerId,
    player_id: probePlayer(i),
    game_id: gameId,
    severity: 1,
    timestamp: fixedTimestamp,
  };
  const headers = { 'content-type': 'application/json', 'x-peer-api-key': apiKey };
  const response = await fetch(`${url}/api/v1/events`, { method: 'POST', headers, body: JSON.stringify(event) });
  // A body that is not read holds its connection.
  await response.arrayBuffer();
  if (response.status !== 201) throw new Error(`an event was answered ${response.status}`);
}

async function late(text: string): Promise<never> {
  await delay(patienceMs, undefined, { ref: false });
  throw new Error(text);
}

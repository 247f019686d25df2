/**
 * Measures the cost of verdict stream readers: the same load without and with them, their snapshots, and the delay of a
 * change.
 */
import { hash } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { limits } from '../../src/limits.js';
import { attackEvent } from '../load/attackers.js';
import { probe } from '../load/probes.js';
import { type Credentials, eventKind, mixture, scoreKind } from '../load/requests.js';
import { StreamSocket } from '../load/stream-socket.js';
import { cpuSOf } from '../process-stats.js';
import { startProgress } from '../progress.js';
import { measured } from '../run.js';
import { median } from '../statistics.js';

const readersDefault = 320;
const rateDefault = 500;
const loadConnections = 32;
const probes = 40;
const timeoutMs = 120_000;

export const stream = measured({
  name: 'stream',
  summary: 'readers of the verdict stream (--connections): their cost, their snapshots and the delay of a change',
  players: 5_000,
  async measure(run) {
    const to = run.report;
    const count = Math.min(run.options.connections ?? readersDefault, run.options.peers * limits.streamReadersPerPeer);
    const { target, site, node, salt } = await run.node();
    const rate = run.options.rate ?? rateDefault;
    /** Returns the share of a core that the node uses for the load. */
    const loadShare = async (what: string): Promise<number> => {
      const workload = mixture(site.seed, [scoreKind(site), 80], [eventKind(site), 20]);
      const name = `${rate} scores and events a second, ${what}`;
      const series = { name, target, workload, connections: loadConnections, rate };
      const [found] = await run.alternate(what, [series]);
      return median(found.windows.map(({ cpuShare }) => cpuShare));
    };
    const alone = await loadShare('no reader');

    const beganMs = performance.now();
    const cpuSBefore = cpuSOf(target.pids);
    const progress = startProgress('snapshots', count);
    const readers = Array.from({ length: count }, (_, i) => {
      const { apiKey } = site.peers[i % site.peers.length]!;
      return new StreamSocket(target.port, apiKey, () => progress.advance(1));
    });
    run.use({
      async stop() {
        for (const reader of readers) reader.close();
      },
    });
    await within('the readers did not catch up', Promise.all(readers.map(({ live }) => live)));
    progress.stop();
    const tookS = (performance.now() - beganMs) / 1000;
    to.figure(`snapshots of ${site.players} players, ${count} at once`, 's', 'less', tookS);
    to.figure('a snapshot: CPU', 'ms', 'less', ((cpuSOf(target.pids) - cpuSBefore) * 1000) / count);
    const sentMb = readers.reduce((sum, { bytes }) => sum + bytes, 0) / 1e6;
    to.figure('snapshots, all together', 'MB', 'less', sentMb);

    const beside = await loadShare(`${count} readers`);
    to.figure(`CPU of ${count} readers under that load`, '% of a core', 'less', 100 * (beside - alone));

    const { sinceSent, sinceStored } = await probe({
      count: probes,
      seed: site.seed,
      pauseMaxMs: limits.streamIntervalMsDefault,
      send: (i) => sendProbe(i, node.url, site.peers[0]!),
      hears(i) {
        const subject = hash('sha256', `player-${probeId(i)}${salt}`, 'hex');
        return within('a reader did not receive a change', readers[i % readers.length]!.hears(subject));
      },
    });
    to.latencies('from the send to a reader', sinceSent.summary());
    to.latencies('from 201 to a reader', sinceStored.summary());
    const lost = readers.filter(({ isOpen }) => !isOpen).length;
    if (lost > 0) to.fault(`${lost} readers lost their connection`);
  },
});

function probeId(i: number): string {
  return `probe-${i}`;
}

async function sendProbe(i: number, url: string, peer: Credentials): Promise<void> {
  const headers = { 'content-type': 'application/json', 'x-peer-api-key': peer.apiKey };
  const request = { method: 'POST', headers, body: attackEvent(peer, probeId(i)) };
  const response = await fetch(`${url}/api/v1/events`, request);
  // An unread body would keep its connection busy.
  await response.arrayBuffer();
  if (response.status !== 201) throw new Error(`expected an event to be answered with 201, got ${response.status}`);
}

/** Returns the result of `work`, or rejects if it takes too long. */
function within<T>(failure: string, work: Promise<T>): Promise<T> {
  const late = delay(timeoutMs, undefined, { ref: false }).then((): never => {
    throw new Error(failure);
  });
  return Promise.race([work, late]);
}

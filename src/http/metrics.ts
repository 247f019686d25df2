/**
 * What the node counts, and the server of its own on which Prometheus reads it. Labels are route templates, statuses and
 * codes; never an id, which would be a leak and a label set without bound.
 */
import { createServer, type Server } from 'node:http';
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import type { GroupApi, GroupStatus, PeerSignals, PeerView } from '../group/api.js';
import type { GroupObserver } from '../group/ports.js';
import { limits } from '../limits.js';
import type { RequestObserver } from './deps.js';
import { parseTarget } from './head.js';

/** What the gauges are read from. */
export type WatchedGroup = Pick<GroupApi, 'status' | 'peers' | 'signals'>;

export interface Metrics extends GroupObserver, RequestObserver {
  /** The group whose status the gauges show from now on. */
  watch(group: WatchedGroup): void;
  /** Prometheus text, taken now. */
  text(): Promise<string>;
  readonly contentType: string;
}

const secondsBuckets = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5];
const recordsBuckets = [1, 2, 5, 10, 25, 50, 100, 250, 500, 1000, 2500, 5000];

/** Gauges of the group's status, each with how it is read. */
const statusGauges: Readonly<
  Record<string, { readonly help: string; readonly read: (status: GroupStatus) => number }>
> = {
  ptf_ready: {
    help: 'Whether reads and writes are taken (1) or not (0), as /api/v1/ready says.',
    read: ({ ready, writable }) => (ready && writable ? 1 : 0),
  },
  ptf_peers: { help: 'Registered peers, whatever their status.', read: ({ counts }) => counts.peers },
  ptf_players: { help: 'Players with events.', read: ({ counts }) => counts.players },
  ptf_events: {
    help: 'Events ever accepted, withdrawn and erased ones included.',
    read: ({ counts }) => counts.events,
  },
  ptf_pre_trusted_peers: { help: 'Pre-trusted peers.', read: ({ preTrusted }) => preTrusted.length },
  ptf_log_last_seq: { help: 'Newest durable record of the log.', read: ({ lastSeq }) => lastSeq },
  ptf_weights_based_on_seq: {
    help: 'Record of the log that the published peer weights are based on.',
    read: ({ weights }) => weights.basedOnSeq,
  },
  ptf_mailbox_commands: { help: 'Commands waiting for a turn.', read: ({ mailbox }) => mailbox.commands },
  ptf_mailbox_bytes: { help: 'Bytes of the commands waiting for a turn.', read: ({ mailbox }) => mailbox.bytes },
  ptf_pending_erasures: { help: 'Erasures that wait for the operator.', read: (status) => status.pendingErasures },
  ptf_snapshots: { help: 'Complete snapshots on disk.', read: ({ snapshots }) => snapshots.length },
  ptf_snapshot_last_seq: {
    help: 'Record that the newest snapshot holds up to.',
    read: ({ snapshots }) => Math.max(0, ...snapshots),
  },
  ptf_owner_epoch: { help: "This owner's epoch of the data folder.", read: ({ ownerEpoch }) => ownerEpoch },
  ptf_disk_free_bytes: {
    help: 'Free space on the disk of the data folder, at most a second old.',
    read: ({ disk }) => disk?.freeBytes ?? Number.NaN,
  },
  ptf_disk_free_min_bytes: {
    help: 'Free space below which writes are refused; 0 is off.',
    read: ({ disk }) => disk?.minBytes ?? Number.NaN,
  },
  ptf_log_bytes: { help: 'Size of the log on disk.', read: ({ disk }) => disk?.logBytes ?? Number.NaN },
  ptf_snapshots_bytes: {
    help: 'Size of all snapshots on disk.',
    read: ({ disk }) => disk?.snapshotsBytes ?? Number.NaN,
  },
};

/** Gauges of each peer. Peers are few and known; their ids are public. */
const peerFigures: Readonly<
  Record<string, { readonly help: string; readonly read: (peer: PeerView, signals: PeerSignals | undefined) => number }>
> = {
  ptf_peer_weight: { help: 'Published weight of a peer, 0 to 1.', read: ({ weight }) => weight },
  ptf_peer_gate: { help: 'The gate tau of a peer, 0 to 1.', read: ({ tau }) => tau },
  ptf_peer_players: {
    help: 'Players that a peer reported, at the newest computation of weights.',
    read: (_, signals) => signals?.players ?? 0,
  },
  ptf_peer_shared_players: {
    help: 'Players that a peer shares with another; 0 with many players speaks for another salt.',
    read: (_, signals) => signals?.sharedPlayers ?? 0,
  },
  ptf_peer_discounted_pairs: {
    help: 'Peers with which a peer agrees while the group trusts neither fully.',
    read: (_, signals) => signals?.discountedWith.length ?? 0,
  },
};

/** What `make` gave for the same labels before: labels are few, and prom-client hashes them at each call. */
function kept<L extends readonly (string | number)[], C>(make: (...labels: L) => C): (...labels: L) => C {
  const children = new Map<string, C>();
  return (...labels) => {
    const key = labels.join(' ');
    let child = children.get(key);
    if (child === undefined) {
      child = make(...labels);
      children.set(key, child);
    }
    return child;
  };
}

function setPeerGauges(
  gauges: readonly {
    readonly gauge: Gauge<'peer_id'>;
    readonly read: (peer: PeerView, signals: PeerSignals | undefined) => number;
  }[],
  group: WatchedGroup,
): void {
  for (const peer of group.peers(0, limits.metricsPeersMax)) {
    const signals = group.signals(peer);
    for (const { gauge, read } of gauges) gauge.set({ peer_id: peer.peerId }, read(peer, signals));
  }
}

export function createMetrics(): Metrics {
  const registry = new Registry();
  const registers = [registry];
  collectDefaultMetrics({ register: registry });

  const requests = new Counter({
    name: 'ptf_http_requests_total',
    help: 'Answers on the public port.',
    labelNames: ['route', 'method', 'status', 'code'],
    registers,
  });
  const requestSeconds = new Histogram({
    name: 'ptf_http_request_duration_seconds',
    help: 'From the arrival of the head to the answer.',
    labelNames: ['route', 'method'],
    buckets: secondsBuckets,
    registers,
  });
  const decided = new Counter({
    name: 'ptf_events_decided_total',
    help: 'Submitted events by what became of them.',
    labelNames: ['event_type', 'outcome'],
    registers,
  });
  const commitSeconds = new Histogram({
    name: 'ptf_commit_duration_seconds',
    help: 'From handing a turn to the log until it is durable.',
    buckets: secondsBuckets,
    registers,
  });
  const commitRecords = new Histogram({
    name: 'ptf_commit_records',
    help: 'Records in one durable commit.',
    buckets: recordsBuckets,
    registers,
  });
  const commitBytes = new Counter({ name: 'ptf_commit_bytes_total', help: 'Bytes written to the log.', registers });
  const workSeconds = new Histogram({
    name: 'ptf_work_duration_seconds',
    help: 'Work done in the pools.',
    labelNames: ['kind', 'ok'],
    buckets: [0.001, 0.01, 0.1, 1, 10, 100],
    registers,
  });

  const countedOf = kept((route: string, method: string, status: number, code: string) =>
    requests.labels({ route, method, status, code }),
  );
  const timedOf = kept((route: string, method: string) => requestSeconds.labels({ route, method }));
  const decidedOf = kept((event_type: string, outcome: string) => decided.labels({ event_type, outcome }));

  const labelNames = ['peer_id'] as const;
  const peerGauges = Object.entries(peerFigures).map(([name, { help, read }]) => ({
    gauge: new Gauge({ name, help, labelNames, registers }),
    read,
  }));
  let watched: WatchedGroup | undefined;
  const gauges = Object.entries(statusGauges).map(([name, { help, read }]) => ({
    gauge: new Gauge({ name, help, registers }),
    read,
  }));

  return {
    contentType: registry.contentType,
    watch(group) {
      watched = group;
    },
    async text() {
      const status = watched?.status();
      if (status !== undefined) for (const { gauge, read } of gauges) gauge.set(read(status));
      if (watched !== undefined) setPeerGauges(peerGauges, watched);
      return registry.metrics();
    },
    requestAnswered(route, method, status, code, ms) {
      countedOf(route, method, status, code).inc();
      timedOf(route, method).observe(ms / 1000);
    },
    turnCommitted(records, bytes, commitMs) {
      commitRecords.observe(records);
      commitBytes.inc(bytes);
      commitSeconds.observe(commitMs / 1000);
    },
    eventDecided(eventType, outcome) {
      decidedOf(eventType, outcome).inc();
    },
    workDone(kind, ok, ms) {
      workSeconds.observe({ kind, ok: String(ok) }, ms / 1000);
    },
  };
}

/** Serves `GET /metrics` and nothing else. `port` 0 picks a free one. */
export async function startMetricsServer(
  metrics: Pick<Metrics, 'text' | 'contentType'>,
  host: string,
  port: number,
): Promise<{ readonly host: string; readonly port: number; close(): Promise<void> }> {
  const server: Server = createServer(
    {
      maxHeaderSize: limits.parserHeadBytes,
      headersTimeout: limits.headersTimeoutMs,
      requestTimeout: limits.requestTimeoutMs,
      keepAliveTimeout: limits.keepAliveTimeoutMs,
      connectionsCheckingInterval: limits.connectionsCheckingIntervalMs,
    },
    (request, response) => {
      const readable = request.method === 'GET' || request.method === 'HEAD';
      if (parseTarget(request.url ?? '')?.path !== '/metrics') {
        response.writeHead(404).end();
      } else if (!readable) {
        response.writeHead(405, { Allow: 'GET, HEAD' }).end();
      } else {
        metrics.text().then(
          (text) => response.writeHead(200, { 'Content-Type': metrics.contentType }).end(text),
          () => response.writeHead(500).end(),
        );
      }
    },
  );
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, () => {
      server.off('error', reject);
      resolve();
    });
  });
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the metrics server has no address');
  return {
    host: address.address,
    port: address.port,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

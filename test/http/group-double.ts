/** A group that answers as it is told: for the faults that a healthy node never shows, and for the face alone. */
import { hash } from 'node:crypto';
import { refused } from '../../src/errors.js';
import type { GroupNode, PeersApi, PeerView } from '../../src/group/api.js';
import type { RequestObserver } from '../../src/http/deps.js';
import type { WatchedGroup } from '../../src/http/metrics/gauges.js';

export const activeKey = 'ptf_dev_active';
export const suspendedKey = 'ptf_dev_suspended';

const at = Date.UTC(2026, 0, 2, 3, 4, 5, 678);

export function peerView(index: number, more: Partial<PeerView> = {}): PeerView {
  return {
    index,
    peerId: `00000000-0000-4000-8000-${String(index).padStart(12, '0')}`,
    peerName: `Peer ${index}`,
    gameIds: ['arena'],
    status: 'active',
    registeredAt: at,
    publicKey: null,
    eventCount: 7,
    lastEventAt: null,
    contactEmail: null,
    keyDigest: '',
    note: null,
    preTrusted: false,
    weight: 0.5,
    tau: 0.5,
    a: 1,
    b: 1,
    m: 3.4,
    finds: 1,
    ...more,
  };
}

/** Metrics that nobody reads. */
export const unobserved: RequestObserver = {
  requestAnswered() {},
  idRefused() {},
  streamReaders() {},
  streamSynced() {},
  streamEnded() {},
};

/** What the public port and the metrics ask of a group. */
type Double = PeersApi & WatchedGroup;

/** The parts of the double, and of its node, that a test replaces. */
export type Replaced = Partial<Double & Pick<GroupNode, 'cluster'>>;

/** A `submit` that accepts every event once `before` is over. */
export function acceptAfter(before: () => unknown): PeersApi['submit'] {
  return async (_caller, events) => {
    await before();
    return events.map(() => ({ ok: true, value: { receivedAt: 0 } }));
  };
}

/** A node whose group is the double. */
export function nodeDouble({ cluster = null, ...over }: Replaced = {}): GroupNode {
  const group = groupDouble(over);
  const { identity, isReady } = group;
  return { identity, cluster, isReady, health: () => group.health(), group };
}

/** `over` replaces what a test is about; everything else is a quiet group of two peers and no players. */
export function groupDouble(over: Partial<Double> = {}): Double {
  const peers = [peerView(0), peerView(1, { status: 'suspended' })];
  const byDigest = new Map([
    [hash('sha256', activeKey, 'hex'), peers[0]],
    [hash('sha256', suspendedKey, 'hex'), peers[1]],
  ]);
  const health = { ready: true, writable: true, lastSeq: 12, weights: { basedOnSeq: 10, computedAt: at } };
  const identity = { groupId: 'local', identityMode: 'privacy-first', environment: 'dev' } as const;
  return {
    identity,
    health: () => health,
    refresh: async () => true,
    isReady: true,
    counts: () => ({ peers: 2, players: 1234, events: 98_765 }),
    peerByKeyDigest: (digest) => byDigest.get(digest),
    peerById: (peerId) => peers.find((peer) => peer.peerId === peerId),
    peers: (from, limit) => peers.slice(from, from + limit),
    trust: () => undefined,
    admits: () => true,
    hasRoom: () => true,
    overloaded: false,
    noteRefusal: () => undefined,
    isLongRead: () => false,
    trusts: ({ count }, trusts) => {
      while (trusts.length < count) trusts.push(undefined);
    },
    disputedFor: () => [],
    refusedErasures: () => [],
    explain: () => undefined,
    delayedEventCount: ({ eventCount }) => eventCount,
    hasErasedSince: () => false,
    ownErasures: () => ({ total: 0, events: [], next: null }),
    verdicts: { mark: null, erasedAt: 0, listen: () => () => undefined, recent: () => null, walk: async () => null },
    submit: async (_caller, events) => events.map(() => ({ ok: true, value: { receivedAt: at } })),
    register: async ({ peerName, gameIds }) => ({
      ok: true,
      value: { peer: peerView(2, { peerName, gameIds }), apiKey: 'ptf_dev_new' },
    }),
    withdraw: async () => refused('event_not_found'),
    erase: async () => refused('subject_not_found'),
    dispute: async () => refused('subject_not_found'),
    playerEvents: async () => refused('player_not_found'),
    audit: async () => ({ ok: true, value: { entries: [], nextAfter: null } }),
    status: () => ({
      ...health,
      identity,
      counts: { peers: 2, players: 1234, events: 98_765 },
      peersByStatus: { active: 1, suspended: 1, revoked: 0 },
      halfLifeDays: 30,
      sendsReportsOnly: false,
      banHalfLifeDays: 180,
      preTrusted: [],
      newcomers: { registered: 0, reporting: 0 },
      witnesses: { groups: 0, peers: 0 },
      mailbox: { events: 3, bytes: 300 },
      pendingErasures: 0,
      openDisputes: 0,
      snapshots: [9],
      ownerEpoch: 1,
      disk: { freeBytes: 5e9, minBytes: 256e6, logBytes: 4e6, snapshotsBytes: 2e6 },
      cluster: null,
      check: { running: false, checkedSeq: 12, endedAt: null, faults: [] },
    }),
    signals: ({ index }) =>
      index === 0 ? { players: 7, sharedPlayers: 0, discountedWith: [], oneWitnessWith: [] } : undefined,
    sharedErasures: () => 0,
    ...over,
  };
}

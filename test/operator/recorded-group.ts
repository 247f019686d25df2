/** A group that notes what it is asked and answers with fixed values, for tests of the socket alone. */
import type { GroupSettings } from '../../src/core/settings.js';
import { granted } from '../../src/errors.js';
import type {
  AuditEntry,
  DisputeView,
  OperatorApi,
  OriginView,
  PeerView,
  SimulationView,
  SubjectExport,
  TrustExplanation,
  TrustView,
} from '../../src/group/api.js';

const none = { trusted: 0, neutral: 0, suspicious: 0, untrusted: 0 };

/** The values of one player, in the answers of the group. */
export const trust: TrustView = {
  score: 12.5,
  confidence: 0.5,
  verdict: 'untrusted',
  eventCount: 4,
  updatedAt: 0,
  isCoarse: false,
};

export const explanation: TrustExplanation = {
  lowering: 3,
  raising: 1,
  peers: 3,
  preTrusted: true,
  witnesses: 3,
  oneSided: 0.25,
  logOdds: 0.5,
  suspicious: 2.5,
  banned: 0,
  bannedAfterOthers: 0,
  bans: 0,
  halfLifeDays: 30,
  banHalfLifeDays: 180,
  weightsBasedOnSeq: 1,
};

export const settings: GroupSettings = {
  HALF_LIFE_DAYS: 30,
  BAN_HALF_LIFE_DAYS: 180,
  PRIOR_BAD_SHARE: 0.04,
  NEW_PEER_DAYS: 1,
  RETENTION_DAYS: 365,
  PEERS_MAX: 10_000,
  ERASURE_MODE: 'own',
  ERASURE_QUOTA_PER_DAY: 100,
  PRE_TRUSTED_PEERS: 'peer-0',
};

/** One player of three becomes suspicious. */
export const simulation: SimulationView = {
  seq: 9,
  at: 0,
  players: 3,
  verdicts: {
    trusted: none,
    neutral: { ...none, neutral: 2 },
    suspicious: none,
    untrusted: { ...none, suspicious: 1 },
  },
  changed: [
    {
      subject: '5f'.repeat(32),
      before: { ...trust, score: 12.3456789, confidence: 0.6123456, verdict: 'untrusted' },
      after: { ...trust, score: 31.2345678, confidence: 0.4123456, verdict: 'suspicious', isCoarse: true },
    },
  ],
  peers: [{ peerId: 'peer-0', peerName: 'Peer 0', before: 0.7, after: 0 }],
};

export interface RecordedGroup {
  readonly group: OperatorApi;
  /** Method and arguments, in order. */
  readonly calls: readonly (readonly unknown[])[];
}

export function peerView(index: number): PeerView {
  return {
    index,
    peerId: `peer-${index}`,
    peerName: `Peer ${index}`,
    gameIds: ['chess'],
    status: 'active',
    registeredAt: 0,
    publicKey: null,
    eventCount: 2,
    lastEventAt: null,
    contactEmail: null,
    keyDigest: '',
    note: null,
    preTrusted: false,
    weight: 0.5,
    tau: 0.25,
    a: 1,
    b: 3,
    m: 3.4,
    finds: 0.8,
  };
}

/** `peers`: how many it has; `replaced`: methods that answer otherwise. */
export function recordedGroup(peers: number, replaced: Partial<OperatorApi> = {}): RecordedGroup {
  const calls: unknown[][] = [];
  const views = Array.from({ length: peers }, (_, index) => peerView(index));
  const entry: AuditEntry = { seq: 1, at: 0, action: 'a', actor: 'b', target: 'c', prevHash: 'd', hash: 'e' };
  const report = { ok: true, lastSeq: 1, batches: 1, records: 1, auditEntries: 1, snapshots: [], faults: [] };
  const identity = { groupId: 'g', identityMode: 'privacy-first', environment: 'dev' } as const;
  const health = { ready: true, writable: true, lastSeq: 1, weights: { basedOnSeq: 0, computedAt: null } };
  const counts = { peers, players: 0, events: 0 };
  const notAsked = (): never => {
    throw new Error('the operator has no business here');
  };
  const originView: OriginView = {
    name: 'public-list',
    declaredAt: 0,
    isDeclared: true,
    carriers: ['peer-0'],
    weight: 0.4,
    tau: 1,
    a: 1.2,
    b: 0.4,
  };
  const disputeView: DisputeView = {
    id: '00000000-0000-4000-8000-00000000000d',
    openedAt: 0,
    by: { peerId: 'peer-1', peerName: 'Peer 1' },
    subject: '5f'.repeat(32),
    text: 'not him',
    against: null,
    alsoNamed: [],
    status: 'open',
    decidedAt: null,
    voids: [],
    reporters: [{ peerId: 'peer-0', peerName: 'Peer 0', direction: 'lowering', events: 3, lastAt: 0, weight: 0.25 }],
  };
  const subjectExport: SubjectExport = {
    subject: '5f'.repeat(32),
    exportedAt: 0,
    receipt: 'r',
    trust: null,
    sums: [],
    events: [],
    isComplete: true,
    disputes: [disputeView],
    pastDisputes: [],
    pastAllowed: [],
    erasureRequests: [],
    refusedErasures: [],
    allowed: null,
    audit: [entry],
  };
  const answers: OperatorApi = {
    identity,
    health: () => health,
    clusterOperations: null,
    counts: () => counts,
    peerById: (peerId) => views.find((view) => view.peerId === peerId),
    peers: (from, limit) => views.slice(from, from + limit),
    trust: notAsked,
    explain: notAsked,
    register: async () => granted({ peer: peerView(0), apiKey: 'the-key' }),
    playerEvents: notAsked,
    audit: async () => granted({ entries: [entry], nextAfter: null }),
    status: () => ({
      ...health,
      identity,
      counts,
      peersByStatus: { active: peers, suspended: 0, revoked: 0 },
      halfLifeDays: 30,
      sendsReportsOnly: false,
      banHalfLifeDays: 180,
      preTrusted: ['peer-0'],
      newcomers: { registered: 0, reporting: 0 },
      witnesses: { groups: 0, peers: 0 },
      mailbox: { events: 0, bytes: 0 },
      pendingErasures: 0,
      openDisputes: 0,
      snapshots: [1],
      ownerEpoch: 1,
      disk: { freeBytes: 5e9, minBytes: 256e6, logBytes: 4e6, snapshotsBytes: 2e6 },
      cluster: null,
      check: { running: false, checkedSeq: 12, endedAt: null, faults: [] },
    }),
    signals: () => undefined,
    sharedErasures: () => 0,
    tooOld: () => undefined,
    changePeer: async () => granted(peerView(0)),
    rotateKey: async () => granted({ peer: peerView(0), apiKey: 'the-key' }),
    preTrust: async () => granted({ preTrusted: ['peer-0'] }),
    relatePeers: async () => granted(null),
    purgePeers: async () => granted([]),
    playersBy: () => ({ players: [], next: null }),
    verdicts: { mark: null, erasedAt: 0, listen: () => () => undefined, recent: () => null, walk: async () => null },
    allowedPlayers: () => [{ subject: '5f'.repeat(32), entryId: 'entry', until: 60_000, note: 'note' }],
    allowedPlayer: () => undefined,
    allowPlayer: async () => granted({ subject: '5f'.repeat(32), entryId: 'entry', until: 60_000, note: 'note' }),
    disallowPlayer: async () => granted(null),
    pendingErasures: () => [
      { subject: '5f'.repeat(32), requests: [{ requestedAt: 0, peerId: 'peer-0', reason: 'operator_mode' }] },
    ],
    refuseErasure: async () => granted(null),
    origins: () => [originView],
    changeOrigin: async () => granted(originView),
    settings: () => settings,
    changeSetting: async () => granted(null),
    disputeIds: () => [disputeView.id],
    disputes: () => [disputeView],
    decideDispute: async () => granted(disputeView),
    exportSubject: async () => granted(subjectExport),
    confirmErasure: async () => granted({ status: 'erased', reason: null, eventsErased: 3, erasedAt: 0, receipt: 'r' }),
    auditTail: async () => granted({ entries: [entry], nextAfter: null }),
    verdictCounts: notAsked,
    simulate: async ({ rowsMax }) => granted({ ...simulation, changed: simulation.changed.slice(0, rowsMax) }),
    verify: async () => granted(report),
    ...replaced,
  };
  const group = new Proxy(answers, {
    get(target, name: keyof OperatorApi) {
      const member: unknown = target[name];
      if (typeof member !== 'function') return member;
      return (...values: unknown[]) => {
        calls.push([name, ...values]);
        return member(...values);
      };
    },
  });
  return { group, calls };
}

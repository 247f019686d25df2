/** The alerts that a node judges by its own state, against the rules for Prometheus. */
import { readFileSync } from 'node:fs';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { unknownStalenessMs } from '../../src/group/cluster-api.js';
import { DAY_MS, limits } from '../../src/limits.js';
import { alertRules, alertsOf } from '../../src/operations/status-operation.js';
import { recordedGroup } from '../operator/recorded-group.js';

const files = ['deploy/alerts.yml', 'deploy/cluster/alerts.yml'].map((path) =>
  readFileSync(new URL(`../../../${path}`, import.meta.url), 'utf8'),
);
/** The texts of the rules by name, without the node or group that they begin with. */
const published = new Map(
  [...files.join('').matchAll(/- alert: (\w+)[\s\S]*?summary: "(.*)"/g)].map(([, name = '', summary = '']) => [
    name,
    summary.replace(/^\{\{ \$labels\.\w+ \}\}:? /, ''),
  ]),
);

/** These compare states over time, or look at every peer: only a monitoring system can judge them. */
const others = `
  PtfDown PtfRestarting PtfInternalErrors PtfOverloaded PtfSlowAnswers PtfSlowCommits PtfEventLoopBlocked
  PtfDiskFillingUp PtfWorkFailing PtfWeightsStale PtfKeysRefused PtfRegistrations PtfNewPeersReport PtfClocksDiffer
  PtfClusterNodeMissing PtfClusterLagging PtfClusterLeaseShort PtfClusterTakeovers`;
/** The overview names the erasures that wait, from the first minute on; remarks about a peer say the others. */
const remarks = 'PtfErasuresWaiting PtfPeerErasesOthers PtfPeerSharesNoPlayer PtfPeersDiscounted PtfPeerLostWeight';

test('a node judges every published rule that needs its present state alone', () => {
  assert.equal(
    [...published.keys()].sort(),
    [...Object.keys(alertRules), ...`${others} ${remarks}`.trim().split(/\s+/)].sort(),
  );
});

test('an alert of a node has the text of the published rule', () => {
  for (const [name, [text]] of Object.entries(alertRules)) {
    const values = published.get(name)!.replace(/\{\{ \$value.*?\}\}/, '{value}');
    assert.is(text, values, name);
  }
});

const { group } = recordedGroup(3);
const healthy = group.status();
const cluster = {
  role: 'leader',
  hasLeader: true,
  appliedSeq: 12,
  stalenessMs: 0,
  isStale: false,
  reason: null,
  leaseMs: 5_000,
  floorSeq: 0,
  takeovers: 1,
  forwarded: 0,
  etcdBytes: 0,
  etcdQuotaBytes: 2e9,
  isScrubIncomplete: false,
  refusedNodes: 0,
} as const;

test('a healthy node has no alert, alone and in a cluster', () => {
  assert.equal(alertsOf(healthy), []);
  assert.equal(alertsOf({ ...healthy, cluster }), []);
});

const firing = (over: Partial<typeof healthy>) => alertsOf({ ...healthy, ...over }).map(({ alert }) => alert);
const textOf = (over: Partial<typeof healthy>) => alertsOf({ ...healthy, ...over })[0]?.text ?? '';
const counted = (over: object) => ({ counts: { ...healthy.counts, ...over } });
const inCluster = (over: object) => ({ cluster: { ...cluster, ...over } });

test('an alert fires by the condition of its rule, with the value in its text', () => {
  assert.equal(firing({ writable: false }), ['PtfNotReady']);
  assert.match(textOf({ disk: { ...healthy.disk!, freeBytes: 0.4e9 } }), /^has 0\.4 GB of disk left/);
  assert.match(textOf({ check: { ...healthy.check, faults: ['record 7 is damaged'] } }), /found 1 faults/);
  const behind = { lastSeq: 3e6, snapshots: [1e6] };
  assert.is(textOf(behind), 'the newest snapshot is 2000000 records behind the log.');
  assert.match(textOf(inCluster({ stalenessMs: 6_400 })), 'for 6 s');
  assert.match(textOf(inCluster({ stalenessMs: unknownStalenessMs })), 'for an unknown time that');
  const unfit = { hasLeader: false, stalenessMs: 6_000, etcdBytes: 1.4e9, isScrubIncomplete: true, refusedNodes: 2 };
  assert.equal(
    firing(inCluster({ role: 'left', ...unfit })),
    Object.keys(alertRules).filter((name) => name.startsWith('PtfCluster')),
  );
});

test('an alert with a bound fires above the bound, not at it', () => {
  const disk = (freeBytes: number) => ({ disk: { ...healthy.disk!, freeBytes, minBytes: 1e8 } });
  const most = { events: 0.8 * limits.eventIdsMax, players: 0.8 * limits.subjectsMax };
  const mailbox = (events: number) => ({ mailbox: { events, bytes: 1 } });
  for (const [at, above, name] of [
    [mailbox(limits.mailboxEvents / 2), mailbox(limits.mailboxEvents / 2 + 1), 'PtfMailboxFilling'],
    [disk(2e8), disk(2e8 - 1), 'PtfDiskNearlyFull'],
    [{ lastSeq: 1e6, snapshots: [] }, { lastSeq: 1e6 + 1, snapshots: [] }, 'PtfSnapshotBehind'],
    [{ lastSeq: 1.5e6, snapshots: [5e5] }, { lastSeq: 1.5e6 + 1, snapshots: [5e5] }, 'PtfSnapshotBehind'],
    [{ lastSeq: 4e6, snapshots: [2e6, 1e6] }, { lastSeq: 4e6 + 1, snapshots: [1e6, 2e6] }, 'PtfSnapshotBehind'],
    [counted({ events: most.events }), counted({ events: most.events + 1 }), 'PtfNearItsLimits'],
    [counted({ players: most.players }), counted({ players: most.players + 1 }), 'PtfNearItsLimits'],
    [inCluster({ stalenessMs: 5_000 }), inCluster({ stalenessMs: 5_001 }), 'PtfClusterStale'],
    [inCluster({ etcdBytes: 1.3e9 }), inCluster({ etcdBytes: 1.3e9 + 1 }), 'PtfClusterDatabaseLarge'],
  ] as const) {
    assert.equal([firing(at), firing(above)], [[], [name]]);
  }
});

test('a check is overdue two days after the last one ended, and never within two days of a start', () => {
  const [{ now: uptime }, { now: today }] = [performance, Date];
  const fires = (uptimeMs: number, sinceCheckMs: number | null) => {
    performance.now = () => uptimeMs;
    const endedAt = sinceCheckMs === null ? null : Date.now() - sinceCheckMs;
    return firing({ check: { ...healthy.check, endedAt } }).join();
  };
  try {
    Date.now = () => 100 * DAY_MS;
    const two = 2 * DAY_MS;
    assert.equal([fires(two, null), fires(two + 1, two), fires(two + 1, two + 1)], ['', '', 'PtfCheckOverdue']);
    assert.is(fires(two + 1, null), 'PtfCheckOverdue');
  } finally {
    performance.now = uptime;
    Date.now = today;
  }
});

test.run();

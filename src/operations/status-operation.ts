/** The state of the node, and its dashboard. */
import { granted } from '../errors.js';
import type { GroupStatus } from '../group/api.js';
import { unknownStalenessMs } from '../group/cluster-api.js';
import { DAY_MS, limits } from '../limits.js';
import { shape } from '../validation/schema.js';
import { isoTime, operation } from './operation.js';
import { facts, mb } from './text-table.js';

export const statusOperations = {
  'dashboard-unlock': operation({
    request: shape({}),
    answer(_, { unlockDashboard }) {
      unlockDashboard?.();
      return granted({ ok: true });
    },
    ptf: {
      group: 'dashboard',
      command: 'unlock',
      text: 'forget failed sign-ins to the dashboard of this node, so that everybody may try again',
      examples: ['dashboard unlock'],
      show: () => ['Everybody may try again to sign in to the dashboard of this node.'],
    },
  }),

  status: operation({
    request: shape({}),
    dashboard: true,
    answer: (_, { group, version }) => granted(statusValue(group.status(), version)),
    ptf: {
      command: 'status',
      text: 'show what the node serves and its state',
      examples: ['status', 'status --json --data-dir /var/lib/ptf'],
      show: statusLines,
    },
  }),
};

function statusValue(view: GroupStatus, version: string) {
  const { identity, weights, disk, check, ...status } = view;
  return {
    version,
    group_id: identity.groupId,
    identity_mode: identity.identityMode,
    environment: identity.environment,
    ready: status.ready,
    writable: status.writable,
    reason: status.reason ?? null,
    alerts: alertsOf(view),
    last_seq: status.lastSeq,
    weights: {
      based_on_seq: weights.basedOnSeq,
      computed_at: weights.computedAt === null ? null : isoTime(weights.computedAt),
    },
    counts: status.counts,
    new_peers: status.newcomers,
    half_life_days: status.halfLifeDays,
    ban_half_life_days: status.banHalfLifeDays,
    sends_reports_only: status.sendsReportsOnly,
    pre_trusted: status.preTrusted,
    witness_groups: status.witnesses,
    mailbox: status.mailbox,
    snapshots: status.snapshots,
    pending_erasures: status.pendingErasures,
    open_disputes: status.openDisputes,
    owner_epoch: status.ownerEpoch,
    disk:
      disk === null
        ? null
        : { free: disk.freeBytes, free_min: disk.minBytes, log: disk.logBytes, snapshots: disk.snapshotsBytes },
    check: {
      running: check.running,
      checked_seq: check.checkedSeq,
      ended_at: check.endedAt === null ? null : isoTime(check.endedAt),
      faults: check.faults,
    },
  };
}
export interface StatusValue extends ReturnType<typeof statusValue> {}

function statusLines(value: StatusValue, width: number): string[] {
  const { weights, counts, mailbox } = value;
  const { groups, peers } = value.witness_groups;
  const computed = weights.computed_at === null ? 'not computed yet' : `computed ${weights.computed_at}`;
  return facts(width, [
    ['version', value.version],
    ['group', `${value.group_id} (${value.identity_mode}, ${value.environment})`],
    ['ready', readiness(value)],
    ...(value.alerts ?? []).map(({ alert, text }) => ['alert', `${alert}: ${text}`] as const),
    ['last seq', value.last_seq],
    ['weights', `${computed}, based on seq ${weights.based_on_seq}`],
    ['peers', counts.peers],
    ['players', counts.players],
    ['new peers', `${value.new_peers.registered} within a day, ${value.new_peers.reporting} of them report`],
    ['events', counts.events],
    ['half-life', halfLifeText(value.half_life_days)],
    ['half-life of bans', halfLifeText(value.ban_half_life_days)],
    ['mailbox', `${mailbox.events} events, ${mailbox.bytes} bytes`],
    ['snapshots', value.snapshots.join(', ') || 'none'],
    ['pre-trusted', value.pre_trusted.join(', ') || 'none'],
    ['witness groups', groups === 0 ? 'none: every peer is its own witness' : `${groups}, of ${peers} peers`],
    ['pending erasures', value.pending_erasures],
    ['open disputes', value.open_disputes],
    ['owner epoch', value.owner_epoch],
    ['disk', diskLine(value.disk)],
    ['check', checkLine(value)],
  ]);
}

function halfLifeText(days: number): string {
  return days === 0 ? 'off' : `${days} days`;
}

function readiness({ ready, writable, reason }: StatusValue): string {
  if (ready && writable) return 'yes';
  return ready ? `reads only: ${reason}` : `no: ${reason}`;
}

function diskLine(disk: StatusValue['disk']): string {
  if (disk === null) return 'not checked yet';
  return `${mb(disk.free)} free, writes are refused below ${mb(disk.free_min)}; log ${mb(disk.log)}, snapshots ${mb(disk.snapshots)}`;
}

function checkLine({ check, last_seq: lastSeq }: StatusValue): string {
  const { running, checked_seq: checkedSeq, ended_at: endedAt, faults } = check;
  const now = running ? `, one is at record ${checkedSeq} of ${lastSeq}` : '';
  if (endedAt === null) return `no check has finished yet${now}`;
  const found = faults.length === 0 ? 'found log and snapshots intact' : `FOUND DAMAGE: ${faults.join('; ')}`;
  return `the last one ended ${endedAt} and ${found}${now}`;
}

/** Returns what stands for the value in the text; the alert fires unless that is false, 0 or undefined. */
type Condition = (status: GroupStatus) => number | string | boolean | undefined;

const newest = (snapshots: readonly number[]): number => Math.max(0, ...snapshots);
const giga = (bytes: number): string => `${(bytes / 1e9).toFixed(1)} G`;
const seconds = (ms: number): string => (ms === unknownStalenessMs ? 'an unknown time' : `${Math.round(ms / 1000)} s`);

/** The alert rules of `deploy/` that a node can judge by its present state, under their names, with their texts. */
export const alertRules: Readonly<Record<string, readonly [text: string, fires: Condition]>> = {
  PtfNotReady: ['refuses writes, or all requests.', ({ ready, writable }) => !(ready && writable)],
  PtfMailboxFilling: [
    'processes events more slowly than they arrive.',
    ({ mailbox }) => mailbox.events > 0.5 * limits.mailboxEvents,
  ],
  PtfDiskNearlyFull: [
    'has {value}B of disk left, less than twice the threshold below which writes are refused.',
    ({ disk }) => disk !== null && disk.freeBytes < 2 * disk.minBytes && giga(disk.freeBytes),
  ],
  PtfDamageFound: ['the background check found {value} faults in the store.', ({ check }) => check.faults.length],
  PtfCheckOverdue: [
    'no check of the store has ended for two days.',
    ({ check }) => performance.now() > 2 * DAY_MS && Date.now() - (check.endedAt ?? 0) > 2 * DAY_MS,
  ],
  PtfSnapshotBehind: [
    'the newest snapshot is {value} records behind the log.',
    ({ lastSeq, snapshots }) =>
      lastSeq > Math.max(1e6 + newest(snapshots), 2 * newest(snapshots)) && lastSeq - newest(snapshots),
  ],
  PtfNearItsLimits: [
    'holds {value} players or events, over four fifths of the limit of a node.',
    ({ counts: { events, players } }) =>
      (events > 0.8 * limits.eventIdsMax && events) || (players > 0.8 * limits.subjectsMax && players),
  ],
  PtfClusterNoLeader: ['no leader is known; writes may be refused.', ({ cluster }) => cluster?.hasLeader === false],
  PtfClusterNodeLeft: ['has left its group because of its disk or its log.', ({ cluster }) => cluster?.role === 'left'],
  PtfClusterNodeRefused: [
    '{value} nodes may not join: another secret, or the NODE_ID of a living node.',
    ({ cluster }) => cluster?.refusedNodes,
  ],
  PtfClusterStale: [
    'has not known for {value} that it is up to date.',
    ({ cluster }) => cluster !== null && cluster.stalenessMs > 5_000 && seconds(cluster.stalenessMs),
  ],
  PtfClusterDatabaseLarge: [
    'the database of etcd has {value}B; writes are refused from four fifths of its quota on.',
    ({ cluster }) => cluster !== null && cluster.etcdBytes > 0.65 * cluster.etcdQuotaBytes && giga(cluster.etcdBytes),
  ],
  PtfClusterScrubIncomplete: [
    'the last scrub was incomplete; files of etcd may still contain erased data.',
    ({ cluster }) => cluster?.isScrubIncomplete,
  ],
};

export function alertsOf(status: GroupStatus) {
  return Object.entries(alertRules).flatMap(([alert, [text, fires]]) => {
    const value = fires(status);
    return value ? [{ alert, text: text.replace('{value}', String(value)) }] : [];
  });
}

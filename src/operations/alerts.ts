/**
 * The alert rules of `deploy/` that a node can judge by its present state, under their names and with their texts. They
 * fire at once; the other rules compare states over time, or look at every peer.
 */
import type { GroupStatus } from '../group/api.js';
import { DAY_MS, limits } from '../limits.js';

/** Returns what stands for the value in the text; the alert fires unless that is false, 0 or undefined. */
type Condition = (status: GroupStatus) => number | string | boolean | undefined;

const newest = (snapshots: readonly number[]): number => Math.max(0, ...snapshots);
const giga = (bytes: number): string => `${(bytes / 1e9).toFixed(1)} G`;

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
  PtfClusterNoLeader: ['no node leads; writes are refused.', ({ cluster }) => cluster?.hasLeader === false],
  PtfClusterNodeLeft: ['has left its group because of its disk or its log.', ({ cluster }) => cluster?.role === 'left'],
  PtfClusterNodeRefused: [
    '{value} nodes may not join: another secret, or the NODE_ID of a living node.',
    ({ cluster }) => cluster?.refusedNodes,
  ],
  PtfClusterStale: [
    'has not known for {value} s that it is up to date.',
    ({ cluster }) => cluster !== null && cluster.stalenessMs > 5_000 && Math.round(cluster.stalenessMs / 1000),
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

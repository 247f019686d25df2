/**
 * Renders the values of the commands for status, peers, pre-trust, allow list, erasures, audit and verification for a
 * terminal. `--json` prints the value itself. Pure functions.
 */
import { limits } from '../../limits.js';
import { type GroupFacts, groupFactsOf, remarksOf } from '../dashboard/page/remarks.js';
import type { ChainReport } from '../protocol/audit-chain.js';
import type { Values } from '../protocol/protocol.js';
import type {
  AllowedPlayerValue,
  AuditEntryValue,
  ListedPeerValue,
  PeerValue,
  PreTrustValue,
  StatusValue,
  VerifyValue,
} from '../protocol/values.js';
import { facts, printable, table } from './table.js';

function halfLifeText(days: number): string {
  return days === 0 ? 'off' : `${days} days`;
}

/** The result of a command. */
export interface Rendered {
  readonly value: object;
  /** Returns the lines for a terminal of `width` characters. */
  lines(width: number): readonly string[];
  /** Set if the command did its work and found a problem: the exit code is then 1. */
  readonly fault?: { readonly code: string; readonly error: string };
}

export function showStatus(value: StatusValue): Rendered {
  const { weights, counts, mailbox } = value;
  const computed = weights.computed_at === null ? 'not computed yet' : `computed ${weights.computed_at}`;
  const rows: [string, string][] = [
    ['version', value.version],
    ['group', `${value.group_id} (${value.identity_mode}, ${value.environment})`],
    ['ready', readiness(value)],
    ['last seq', String(value.last_seq)],
    ['weights', `${computed}, based on seq ${weights.based_on_seq}`],
    ['peers', String(counts.peers)],
    ['players', String(counts.players)],
    ['new peers', `${value.new_peers.registered} within a day, ${value.new_peers.reporting} of them report`],
    ['events', String(counts.events)],
    ['half-life', halfLifeText(value.half_life_days)],
    ['half-life of bans', halfLifeText(value.ban_half_life_days)],
    ['mailbox', `${mailbox.events} events, ${mailbox.bytes} bytes`],
    ['snapshots', value.snapshots.join(', ') || 'none'],
    ['pre-trusted', value.pre_trusted.join(', ') || 'none'],
    ['witness groups', witnessGroupsLine(value)],
    ['pending erasures', String(value.pending_erasures)],
    ['open disputes', String(value.open_disputes)],
    ['owner epoch', String(value.owner_epoch)],
    ['disk', diskLine(value.disk)],
    ['check', checkLine(value)],
  ];
  return { value, lines: (width) => facts(rows, width) };
}

function readiness({ ready, writable, reason }: StatusValue): string {
  if (ready && writable) return 'yes';
  return ready ? `reads only: ${reason}` : `no: ${reason}`;
}

function diskLine(disk: StatusValue['disk']): string {
  if (disk === null) return 'not checked yet';
  const mb = (bytes: number) => `${(bytes / 1e6).toFixed(1)} MB`;
  return `${mb(disk.free)} free, writes are refused below ${mb(disk.free_min)}; log ${mb(disk.log)}, snapshots ${mb(disk.snapshots)}`;
}

/** Describes the groups of peers that count as one. */
function witnessGroupsLine({ witness_groups: { groups, peers } }: StatusValue): string {
  return groups === 0 ? 'none: every peer is its own witness' : `${groups}, of ${peers} peers`;
}

function checkLine({ check, last_seq: lastSeq }: StatusValue): string {
  const { running, checked_seq: checkedSeq, ended_at: endedAt, faults } = check;
  const now = running ? `, one is at record ${checkedSeq} of ${lastSeq}` : '';
  if (endedAt === null) return `no check has finished yet${now}`;
  const found = faults.length === 0 ? 'found log and snapshots intact' : `FOUND DAMAGE: ${faults.join('; ')}`;
  return `the last one ended ${endedAt} and ${found}${now}`;
}

/** Describes in a few words what an operator should check about a peer. */
function remarkOf(peer: ListedPeerValue, group: GroupFacts): string {
  return remarksOf(peer, group)
    .map(({ text, hint }) => (hint === null ? text : `${text} (${hint})`))
    .join('; ');
}

export function showPeers(data: readonly ListedPeerValue[]): Rendered {
  const heads = ['peer', 'status', 'events', 'weight', 'pre-trusted', 'registered', 'name', 'games', 'remark'];
  const group = groupFactsOf(data);
  const rows = data.map((peer) => [
    peer.peer_id,
    peer.status,
    peer.event_count,
    peer.weight.toFixed(3),
    peer.pre_trusted ? 'yes' : 'no',
    peer.registered_at,
    peer.peer_name,
    peer.game_ids.join(','),
    remarkOf(peer, group),
  ]);
  return {
    value: { data },
    lines: (width) => (rows.length === 0 ? ['no peers'] : table(rows, width, heads, ['peer', 'status', 'remark'])),
  };
}

export function showPeer(peer: PeerValue): Rendered {
  return { value: peer, lines: () => [peerLine(peer)] };
}

export function showAddedPeer(value: Values['peers-add']): Rendered {
  return { value, lines: () => [peerLine(value), ...keyLines(value.api_key)] };
}

export function showRotatedKey(value: Values['peers-rotate-key']): Rendered {
  const old =
    value.overlap_ms === 0
      ? 'The old key no longer works.'
      : `The old key works for ${value.overlap_ms / 1000} s more.`;
  return { value, lines: () => [peerLine(value), old, ...keyLines(value.api_key)] };
}

export function showPublicKey(value: PeerValue): Rendered {
  const told =
    value.public_key === null
      ? 'The peer has no public key: its writes need no signature, unless the node requires one.'
      : `The peer must sign its writes from now on, with the key ${value.public_key}`;
  return { value, lines: () => [peerLine(value), told] };
}

function peerLine(peer: PeerValue): string {
  return printable(`${peer.peer_id}  ${peer.status}  "${peer.peer_name}"  games ${peer.game_ids.join(',')}`);
}

export function showPurged(value: Values['peers-purge']): Rendered {
  const { purged } = value;
  return { value, lines: () => [...purged, `${purged.length} peer${purged.length === 1 ? '' : 's'} revoked`] };
}

export function showRelation(value: Values['peers-relate']): Rendered {
  const { relation, peers } = value;
  const summary =
    relation === 'same'
      ? 'They count as one witness from the next computation of weights on.'
      : 'They never count as one witness, from the next computation of weights on.';
  return { value, lines: () => [...peers.map(peerLine), summary] };
}

/** Never truncated, whatever the width: the key is shown only this once. */
function keyLines(key: string): string[] {
  return [
    '',
    'API KEY, shown only this once and stored nowhere. Store it in the secrets store of the peer now:',
    '',
    key,
    '',
  ];
}

export function showPreTrust(value: PreTrustValue): Rendered {
  const rows = value.pre_trusted.map((peer) => [peer.peer_id, peer.status, peer.peer_name]);
  const many = rows.length > limits.preTrustedWarnAbove;
  const note = `More than ${limits.preTrustedWarnAbove} pre-trusted peers weaken the protection that pre-trust gives.`;
  return {
    value,
    lines: (width) =>
      rows.length === 0
        ? ['no pre-trusted peers']
        : [...table(rows, width, ['peer', 'status', 'name'], ['peer', 'status']), ...(many ? [note] : [])],
  };
}

export function showAllowed(data: readonly AllowedPlayerValue[]): Rendered {
  const rows = data.map((one) => [one.subject_hash, one.until, one.note, one.entry_id]);
  return {
    value: { data },
    lines: (width) =>
      rows.length === 0
        ? ['no player is on the allow list']
        : table(rows, width, ['subject', 'until', 'note', 'entry'], ['subject', 'until']),
  };
}

export function showAllowance(value: AllowedPlayerValue): Rendered {
  return {
    value,
    lines: () => [
      `${value.subject_hash} reads as neutral until ${value.until}`,
      `The audit log names the entry ${value.entry_id}, but neither the player nor the note.`,
    ],
  };
}

export function showAllowanceEnded(value: Values['allow-remove']): Rendered {
  return { value, lines: () => [`${value.subject_hash} was removed from the allow list: its score counts again`] };
}

export function showPendingErasures({ data }: Values['erase-pending']): Rendered {
  const rows = data.map((one) => [one.subject_hash, one.requested_at, one.due_at]);
  return {
    value: { data },
    lines: (width) =>
      rows.length === 0
        ? ['no erasure is waiting']
        : table(rows, width, ['subject', 'requested', 'due'], ['subject', 'due']),
  };
}

export function showErasure(value: Values['erase']): Rendered {
  const rows: [string, string][] = [
    ['subject', value.subject_hash],
    ['status', value.status],
    ['events erased', String(value.events_erased)],
    ['at', value.erased_at],
    ['receipt', value.receipt],
  ];
  // The receipt is proof for the player: on one line, so that it can be copied.
  return { value, lines: () => facts(rows, Number.POSITIVE_INFINITY) };
}

export function showAudit(data: readonly AuditEntryValue[]): Rendered {
  const rows = data.map(({ seq, at, action, actor, target, hash }) => [seq, at, action, actor, target, hash]);
  return {
    value: { data },
    lines: (width) => table(rows, width, ['seq', 'at', 'action', 'actor', 'target', 'hash'], ['at', 'action', 'actor']),
  };
}

export function showChain(value: ChainReport): Rendered {
  const { first_broken: broken } = value;
  const rows: [string, string][] = [
    ['entries', String(value.entries)],
    ['head hash', value.head_hash],
  ];
  const lines = (): string[] => facts(rows, Number.POSITIVE_INFINITY);
  if (broken === null) return { value, lines: () => [...lines(), 'The chain is intact.'] };
  const error = `the audit entry at seq ${broken.seq} ${broken.fault}`;
  return { value, lines, fault: { code: 'audit_broken', error } };
}

/** `checked`: the running node read its own store, or this command read the folder. */
export function showVerification(report: VerifyValue, checked: 'node' | 'folder'): Rendered {
  const value = { ...report, checked };
  const images = report.snapshots.map(({ seq, ok }) => (ok ? String(seq) : `${seq} (damaged)`));
  const rows: [string, string][] = [
    ['checked by', checked === 'node' ? 'the running node' : 'this command; no node runs'],
    ['last seq', String(report.last_seq)],
    ['batches', String(report.batches)],
    ['records', String(report.records)],
    ['audit entries', String(report.audit_entries)],
    ['snapshots', images.join(', ') || 'none'],
  ];
  const lines = (width: number): string[] => facts(rows, width);
  if (report.ok) return { value, lines: (width) => [...lines(width), 'The store is intact.'] };
  return { value, lines, fault: { code: 'store_damaged', error: report.faults.join('; ') } };
}

/**
 * Negotiates the format of records between the nodes of a cluster. During a rolling upgrade its nodes are of two
 * releases, and no record is written that a live node cannot read. Each command declares the format of its records.
 */
import { type AnyPeerChange, peerChanges } from '../core/peers/peer-changes.js';
import { type Refusal, refused } from '../errors.js';
import { type Command, commandFormats } from './actor-commands.js';
import type { NodeView } from './ports/shared-log.js';

const changes = Object.entries<AnyPeerChange>(peerChanges).map(([type, { format = 1 }]) => [type, format] as const);
const formats = new Map<string, number>([...Object.entries(commandFormats), ...changes]);

/** The newest format that this release reads, which is that of its newest command. A new group begins with it. */
export const RECORD_FORMAT = Math.max(...formats.values());

/** Returns the newest format that this release and all `nodes` read. */
export function formatReadByAll(nodes: readonly Pick<NodeView, 'format'>[]): number {
  return Math.min(RECORD_FORMAT, ...nodes.map(({ format }) => format));
}

/** Returns whether the records of a command may be written while `format` is the newest one that every node reads. */
export function mayWrite(type: Command['type'], format: number): boolean {
  return (formats.get(type) ?? 1) <= format;
}

/** Returns why this release cannot follow a log of `format`; null if it can. */
export function refusalOfFormat(format: number): string | null {
  if (format <= RECORD_FORMAT) return null;
  return `the group writes records of format ${format}, and this release reads formats up to ${RECORD_FORMAT}: install a newer release`;
}

export function mixedReleases(): Refusal {
  const text = 'a node of the group runs an older release; this command is accepted once all nodes are upgraded';
  return refused('dependency_unavailable', { text, details: { reason: 'mixed_releases' } });
}

export function isOfMixedReleases({ details }: Refusal): boolean {
  return details !== undefined && 'reason' in details && details.reason === 'mixed_releases';
}

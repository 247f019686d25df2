/** Builds the preconditions that the transactions of the shared log state. */
import type { Fence } from '../../group/ports/shared-log.js';
import type { EtcdKeys } from './etcd-keys.js';
import type { Compare } from './etcd-messages.js';

export function isAbsent(key: Buffer): Compare {
  return { key, result: 'EQUAL', target: 'CREATE', create_revision: '0' };
}

export function hasLease(key: Buffer, lease: string): Compare {
  return { key, result: 'EQUAL', target: 'LEASE', lease };
}

export function holds(keys: EtcdKeys, fence: Fence): Compare {
  return { key: keys.leader, result: 'EQUAL', target: 'CREATE', create_revision: fence.revision };
}

/** Computes the health of a group, and of a node that has not recovered its group yet. */
import type { GroupLoop } from './actor/loop.js';
import type { GroupHealth, WeightsStatus } from './api.js';
import type { ClusterHealth } from './cluster-api.js';

const notReady = { ready: false, writable: false } as const;

export const recoveringHealth: GroupHealth = {
  ...notReady,
  reason: 'recovering',
  lastSeq: 0,
  weights: { basedOnSeq: 0, computedAt: null },
};

/** `isOpen`: calls from outside are admitted. */
export function healthOf(loop: GroupLoop, isOpen: boolean, cluster: ClusterHealth | null): GroupHealth {
  const reached = { lastSeq: loop.actor.durableSeq, weights: weightsStatus(loop) };
  if (loop.failed) return { ...notReady, reason: 'log_failed', ...reached };
  if (!isOpen) return { ...notReady, reason: loop.draining ? 'draining' : 'recovering', ...reached };
  if (cluster?.isStale === true) return { ...notReady, reason: 'stale', ...reached };
  if (loop.clockGuard.clockAhead) return { ready: true, writable: false, reason: 'clock_ahead', ...reached };
  if (loop.disk.low) return { ready: true, writable: false, reason: 'disk_low', ...reached };
  if (loop.logIsFull) return { ready: true, writable: false, reason: 'log_full', ...reached };
  if (loop.stalled) return { ready: true, writable: false, reason: 'log_unreachable', ...reached };
  return { ready: true, writable: true, ...reached };
}

/** Record up to which weights are computed: later ones that do not affect them count as included. */
function weightsStatus({ actor, state, weights }: GroupLoop): WeightsStatus {
  const isCurrent = weights.computedAt !== null && state.evidenceSeq <= weights.basedOnSeq;
  return { basedOnSeq: isCurrent ? actor.durableSeq : weights.basedOnSeq, computedAt: weights.computedAt };
}

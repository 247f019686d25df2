/** Serves health and readiness, with one body for people and for probes. */

import type { HealthBody } from '../../contract/response-bodies.js';
import { refused } from '../../errors.js';
import { timeText } from '../bodies/bodies.js';
import type { HttpDeps } from '../deps.js';
import { cutCount, raisedCount } from '../public-counts.js';
import { ok, refusalReply } from '../request/reply.js';
import type { ApiReply, Handlers } from '../request/request.js';

export function healthHandlers({ node, version }: Pick<HttpDeps, 'node' | 'version'>) {
  // The uptime does not depend on the wall clock, which may be set.
  const startedMs = performance.now();

  function health(): ApiReply {
    const { ready, writable, reason, lastSeq, weights } = node.health();
    const { cluster } = node;
    if (!ready || !writable) {
      // The reason why a node left the cluster says more than the staleness that follows from it.
      const details = cluster === null ? { reason } : { reason: cluster.reason ?? reason, role: cluster.role };
      return refusalReply(refused('dependency_unavailable', { details }));
    }
    // An exact number would reveal when an event came. One is rounded up and the other down, so that a lag still
    // shows.
    const roundedSeq = raisedCount(lastSeq);
    const isCovered = weights.basedOnSeq >= lastSeq;
    return ok({
      status: 'ok',
      service: 'peer-trust-federation',
      version,
      environment: node.identity.environment,
      group_id: node.identity.groupId,
      uptime_s: Math.floor((performance.now() - startedMs) / 1000),
      last_seq: roundedSeq,
      weights: {
        based_on_seq: isCovered ? roundedSeq : cutCount(weights.basedOnSeq),
        computed_at: weights.computedAt === null ? null : timeText(weights.computedAt),
      },
      ...(cluster && {
        cluster: { role: cluster.role, has_leader: cluster.hasLeader, staleness_ms: Math.ceil(cluster.stalenessMs) },
      }),
    } satisfies HealthBody);
  }

  return { getHealth: health, getReadiness: health } satisfies Partial<Handlers>;
}

/** Health and readiness: one body, for people and for probes. */
import { refused } from '../../errors.js';
import { timeText } from '../bodies.js';
import type { HealthBody } from '../contract/response-bodies.js';
import type { FaceDeps } from '../deps.js';
import { ok, refusalReply } from '../reply.js';
import type { ApiReply, Handlers } from '../request.js';

export function healthHandlers({
  group,
  version,
  clock,
}: Pick<FaceDeps, 'group' | 'version' | 'clock'>): Pick<Handlers, 'getHealth' | 'getReadiness'> {
  const startedAt = clock.now();

  function health(): ApiReply {
    const { ready, writable, reason, lastSeq, weights } = group.health();
    if (!ready || !writable) return refusalReply(refused('dependency_unavailable', { details: { reason } }));
    return ok({
      status: 'ok',
      service: 'peer-trust-federation',
      version,
      environment: group.identity.environment,
      group_id: group.identity.groupId,
      uptime_s: Math.max(0, Math.floor((clock.now() - startedAt) / 1000)),
      last_seq: lastSeq,
      weights: {
        based_on_seq: weights.basedOnSeq,
        computed_at: weights.computedAt === null ? null : timeText(weights.computedAt),
      },
    } satisfies HealthBody);
  }

  return { getHealth: health, getReadiness: health };
}

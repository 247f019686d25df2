/** The role of a node, over a shared log that the test answers for. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { ClusterMember } from '../../src/cluster/member.js';
import type { MemberDeps, MemberSite } from '../../src/cluster/member-deps.js';
import type { SharedLog, SharedView } from '../../src/group/ports/shared-log.js';

/** Resolves with the reason for which a node whose last record is `appliedSeq` joins again. */
function rejoinReason(appliedSeq: number, view: Pick<SharedView, 'trimmed' | 'slots'>): Promise<string> {
  return new Promise((resolve, reject) => {
    const log: Partial<SharedLog> = {
      view: async () => ({ leader: null, nodes: [], format: 1, revision: '1', ...view }),
      grantLease: async () => undefined,
      keepAlive: async () => 3,
      putNode: async () => undefined,
    };
    const site: Partial<MemberSite> = {
      ...{ appliedSeq, durableSeq: appliedSeq, snapshotSeq: 0, unfit: null, unfitToLead: null },
      weights: { basedOnSeq: 0, computedAt: null },
      take: () => Promise.reject(new Error('no slot follows the log of this node')),
    };
    const deps: MemberDeps = {
      ...{ log: log as SharedLog, site: site as MemberSite, nodeId: 'n1', url: 'http://127.0.0.1:1', version: '0' },
      ...{ format: 1, leaseS: 3, stalenessMaxMs: 5_000, allowStaleReads: false },
      elapsed: () => performance.now(),
      now: () => 0,
      note: () => undefined,
      onBehind: (reason) => {
        void member.end();
        resolve(reason);
      },
      onFailed: reject,
    };
    const member = new ClusterMember(deps);
    member.start(null);
  });
}

const slotAt = (firstSeq: number) => ({ firstSeq, bytes: new Uint8Array(), redactions: [] });

test('a node joins again if the slots that follow its log were deleted', async () => {
  assert.match(await rejoinReason(9, { trimmed: 20, slots: [slotAt(21)] }), /begins after/);
});

test('a node joins again if no slot follows its log, because its log is not the log of the group', async () => {
  assert.match(await rejoinReason(9, { trimmed: 5, slots: [slotAt(12)] }), /differs from the shared log/);
});

test.run();

/** Bounds that depend on each other fit together. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { limits } from '../src/limits.js';

const relations: readonly (readonly [name: string, holds: boolean])[] = [
  ['headBytes < parserHeadBytes', limits.headBytes < limits.parserHeadBytes],
  ['a change waits for longer than the default lease', limits.leaseSDefault * 1_000 < limits.leaderWaitMs],
  ['commands of callers leave connections for the nodes', limits.linkForwardsMax < limits.linkSocketsMax],
  ['four nodes of one address connect at once', 4 * limits.linkSocketsMax <= limits.linkHandshakesPerAddressMax],
  ['a joining node that hangs makes the call of another one time out', limits.linkSilentMs < limits.copyAnswerMs],
  ['an earlier leader may wait for the other nodes and answer', limits.appliedWaitMs < limits.forwardGraceMs],
  ['a batch fits in one turn', limits.batchEventsMax <= limits.turnEvents],
  ['a turn fits in the mailbox', limits.turnEvents <= limits.mailboxEvents],
  ['a batch body fits in one turn', limits.batchBodyBytes <= limits.turnBytes],
  ['a turn fits in the mailbox in bytes', limits.turnBytes <= limits.mailboxBytes],
  ['a batch never excludes another batch', limits.batchEventsMax <= limits.eventsAheadAlways],
  ['a delayed batch does not time out', limits.pacedWaitMsMax < limits.requestTimeoutMs],
  ['a batch fits in the share that is admitted first', limits.batchEventsMax <= limits.shareFirstEvents],
  ['pipelinedPerConnection is even', limits.pipelinedPerConnection % 2 === 0],
  ['headers time out before the request', limits.headersTimeoutMs <= limits.requestTimeoutMs],
  ['pageDefault <= pageMax', limits.pageDefault <= limits.pageMax],
  ['a turn fits in the free space that a commit requires', limits.commitFreeBytes >= 2 * limits.turnBytes],
  [
    'the batches that a node of a cluster has not stored fit there, too',
    limits.commitFreeBytes >= 2 * (2 * limits.storeWaitingBytes + limits.clusterTurnBytes),
  ],
  [
    'the entries of a scrub fit beside a database that a scrub accepts',
    limits.etcdQuotaBytesMin * (1 - limits.etcdFragmentedPart) > 3 * limits.walCompactBytes,
  ],
  ['accepted commands fit below the watermark', limits.diskFreeMinMbDefault * 1e6 > 2 * limits.mailboxBytes],
  [
    'last answers, connections that end (for all but the time of a snapshot) and the end of the pools fit in the shutdown',
    limits.shutdownAnswersMs + limits.shutdownPoolMs + limits.shutdownLastMs <= limits.shutdownSnapshotMs,
  ],
  [
    'forwarded commands and what is given back to the cluster end within the shutdown',
    limits.shutdownAnswersMs + 2 * limits.clusterEndMs + limits.shutdownPoolMs + limits.shutdownLastMs <=
      limits.shutdownMs,
  ],
  ['reads end before a last snapshot', 2 * limits.readerWaitMs <= limits.shutdownMs - limits.shutdownSnapshotMs],
  ['threads that closed their files have time to end', limits.failedPoolMs < limits.failedExitMs],
  ['a heartbeat of the stream is late by a beat at most', limits.streamBeatMs * 2 <= limits.streamHeartbeatMs],
  ['a frame of rows fits in its bytes', limits.streamFrameRows * 200 <= limits.streamFrameBytes],
  ['a reader may be two frames behind', limits.streamFrameBytes * 2 <= limits.streamUnreadBytes],
  ['an owner is silent only after two missed heartbeats', limits.heartbeatMs * 2 < limits.ownerSilentMs],
];

for (const [name, holds] of relations) {
  test(name, () => assert.ok(holds));
}

test.run();

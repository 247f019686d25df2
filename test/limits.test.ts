/** Bounds that depend on each other fit together. */
import { readFileSync } from 'node:fs';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { limits } from '../src/limits.js';

const forwards = limits.linkForwardsMax + limits.linkFirstForwardsMax;

const relations: readonly (readonly [name: string, holds: boolean])[] = [
  ['headBytes < parserHeadBytes', limits.headBytes < limits.parserHeadBytes],
  ['a change waits for longer than the default lease', limits.leaseSDefault * 1_000 < limits.leaderWaitMs],
  ['commands of callers leave connections for the nodes', 8 * forwards < limits.linkConnectionsMax],
  ['four nodes of one address connect at once', 4 * forwards <= limits.linkHandshakesPerAddressMax],
  ['a joining node that hangs makes the call of another one time out', limits.linkSilentMs < limits.copyAnswerMs],
  ['an earlier leader may wait for the other nodes and answer', limits.appliedWaitMs < limits.forwardGraceMs],
  ['a batch fits in one turn', limits.batchEventsMax <= limits.turnEvents],
  ['a batch fits in the room of a short turn', limits.batchEventsMax <= limits.shortTurnEvents],
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

for (const [name, holds] of relations) test(name, () => assert.ok(holds));

const number = (value: number) => value.toLocaleString('en-US');
const bytes = (value: number) => (value % 2 ** 20 === 0 ? `${number(value / 2 ** 20)} MiB` : `${value / 1_024} KiB`);
const time = (ms: number) => (ms < 500 ? `${ms} ms` : `${ms / 1_000} s`);

/** Rows of the table of bounds: the value, and what else the row says in numbers. */
const bounds: readonly (readonly [value: string, ...further: string[]])[] = [
  [number(limits.connectionsMaxDefault), `${limits.connectionsRefusedAtOnce} more at a time get this answer`],
  [time(limits.keepAliveTimeoutMs)],
  [time(limits.headersTimeoutMs)],
  [time(limits.requestTimeoutMs)],
  [`${time(limits.unreadTimeoutMs)}, and 5 s during a shutdown`],
  [`${time(limits.lingerMs)}, ${bytes(limits.lingerBytes)}; 5 s before that for a body that was refused by its head`],
  ...[limits.pipelinedPerConnection, limits.pipelinedMax].map((places): [string] => [
    `${number(places)}, or ${bytes(places * limits.pipelinedPlaceBytes)} with their bodies`,
  ]),
  [`${limits.workTurnMs} ms of all connections in a turn of the event loop`],
  [`${bytes(limits.answersAheadBytes)} and one answer`],
  [`${bytes(limits.headBytes)}, ${limits.headerCount} fields`],
  [`${bytes(limits.eventBodyBytes)}; ${bytes(limits.batchBodyBytes)} and ${limits.batchEventsMax} events`],
  ['none'],
  [`${number(limits.streamReadersMax)}; ${limits.streamReadersPerPeer}`],
  [bytes(limits.streamUnreadBytes)],
  [`${number(limits.mailboxEvents)}, ${bytes(limits.mailboxBytes)}`],
  [
    `${bytes(limits.refusedBytesPerS)}/s; ${limits.pacedBatchesMax} batches of all peers wait at a time`,
    `up to ${time(limits.pacedWaitMsMax)}`,
  ],
  [number(limits.parsingEventsMax)],
  [
    `${time(limits.burstWorkMs)} of turns; ${time(limits.overloadWorkMs)}, or half of a commit, once events were refused`,
    `beyond ${limits.eventsAheadAlways} |`,
    `no event waits for ${time(limits.overloadRestMs)} or none was refused for ${time(limits.overloadEndsMs)}`,
    `at most ${limits.smallEvents} events of a peer of which at most ${number(limits.eventsOwnAlways)} wait`,
    `less than ${number(limits.shareFirstEvents)} events`,
  ],
  [`${limits.batchesArriving}`, `share of the ${limits.batchesArriving}`],
  [bytes(limits.arrivingBytes)],
  [`${bytes((limits.arrivingBytesPerLook * 1_000) / limits.arrivingLookMs)} a second`],
  [
    `${limits.readersQueueMax} of each, each for ${time(limits.readerWaitMs)}; ` +
      'the caller whose reads took the least time is next',
  ],
  [number(limits.readEntriesAtOnce)],
  [
    `${number(limits.linkHandshakesMax)}; ${limits.linkHandshakesPerAddressMax}`,
    `each for ${time(limits.linkHandshakeMs)}`,
  ],
  [number(limits.linkConnectionsMax)],
  [`${limits.linkForwardsMax}; ${limits.linkFirstForwardsMax}`, `up to ${time(limits.leaderWaitMs)}`],
];

test('the page on scale states the bounds on callers as they are', () => {
  const page = readFileSync(new URL('../../docs/operating/scale.md', import.meta.url), 'utf8');
  const [, table] = page.split('| Bound | Value | Beyond it |\n');
  const rows = table!.slice(0, table!.indexOf('\n\n')).split('\n').slice(1);
  assert.equal(
    rows.map((row) => row.split(' | ')[1]),
    bounds.map(([value]) => value),
  );
  for (const [i, [, ...further]] of bounds.entries()) for (const text of further) assert.match(rows[i]!, text);
});

test.run();

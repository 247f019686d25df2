/**
 * Every bound of the service, with its unit in the name. What only says how bytes lie, or how one file goes about its
 * own work, stands in that file. The relations that other parts rely on are asserted at the end, when the module loads.
 */

const KiB = 1024;
const MiB = 1024 * KiB;
export const HOUR_MS = 3_600_000;
export const DAY_MS = 24 * HOUR_MS;

export const limits = {
  // Requests
  eventBodyBytes: 16 * KiB,
  batchBodyBytes: 1 * MiB,
  batchEventsMax: 500,
  /** No event of a batch is shorter. */
  batchEventBytesMin: 128,
  /** URL, header names and header values of one request together. */
  headBytes: 33 * KiB,
  /**
   * What the HTTP parser accepts: more than `headBytes`, for a clear answer, and less than one read of a socket (64
   * KiB), which shows what was too long.
   */
  parserHeadBytes: 48 * KiB,
  headerCount: 64,
  /** The fast path leaves a longer head to node:http. */
  fastPathHeadBytes: 16 * KiB,
  headersTimeoutMs: 5_000,
  requestTimeoutMs: 8_000,
  keepAliveTimeoutMs: 5_000,
  connectionsCheckingIntervalMs: 500,
  /**
   * How often requests of the public port are looked for that are late: all that one look finds are told of in one
   * turn.
   */
  lateRequestsLookMs: 100,
  /** Connections of late callers that are ended in a millisecond, each in some 100 us; more where thousands wait. */
  connectionsEndedPerMs: 3,
  /** Turns in which most of those that wait are ended, however many they are. */
  connectionsEndedTurns: 1_024,
  /** What a caller still sends behind its last answer is read and dropped for so long, and so much of it. */
  lingerMs: 2_000,
  lingerBytes: 16 * MiB,
  /** What a request that waits behind an answer takes one place for; its body takes more of them. */
  pipelinedPlaceBytes: 2 * KiB,
  /**
   * Places of one connection's requests that wait behind an answer; the connection is not read from while they are
   * taken. Even.
   */
  pipelinedPerConnection: 64,
  /** Places of all connections together; a connection that brings more ends. */
  pipelinedMax: 65_536,
  /** Bytes that Node reads from a connection at a time. */
  readBytes: 64 * KiB,
  /** Answers to requests of one read of a socket that are put together; the rest are made once these have left. */
  answersAheadBytes: 64 * KiB,
  /**
   * A caller that takes nothing of its answers for this long has gone; the largest, a script of the pages, is one piece
   * of 1.5 MB.
   */
  unreadTimeoutMs: 20_000,
  /** At a stop, for connections that the system took before and the node did not. */
  acceptLastMs: 500,
  /** What a process needs to start: loading the service alone opens up to 120 at a time. */
  openFilesMin: 256,
  connectionsMaxDefault: 4_096,
  connectionsMaxCeiling: 1_000_000,
  /** What one address may hold of them. */
  connectionsAddressShare: 0.5,
  /** Connections that are looked at for an idle one when there is no room for a new one. */
  evictionLooks: 1_024,
  /**
   * Looks at an idle connection that it outlives if it asked for something: a caller that asks now and then keeps its
   * connection longer.
   */
  evictionChances: 8,
  /** Connections beyond the bound that are told so at a time; further ones are closed without a word. */
  connectionsRefusedAtOnce: 256,
  /** Kinds that `PLAYER_ID_KINDS` may list. */
  playerIdKindsMax: 16,
  matchIdsMax: 128,
  requestIdLength: 128,
  /** Faults of one body that are told beside the first. */
  furtherFaultsMax: 8,
  /** Faulty events of a batch whose further faults are told; of the rest, the first fault each. */
  batchFaultsExplained: 16,

  // Contract strings, in code points
  playerIdLength: 128,
  eventIdLength: 128,
  gameIdLength: 64,
  gameIdsMax: 64,
  peerIdLength: 64,
  peerNameLength: 200,
  emailLength: 254,
  schemaVersionLength: 64,
  cursorLength: 256,

  // Pages
  /** Hours and days as text that are kept for the next answer, of each so many. */
  timeStringsMax: 1_024,
  pageDefault: 50,
  pageMax: 200,
  /** Newest events of a player that the public summary covers. */
  summaryEventsMax: 1_000,

  // Event rules
  futureMs: DAY_MS,
  severityMin: 0,
  severityMax: 1,
  schemaMajorMax: 1,

  // Peers
  peersMaxDefault: 10_000,
  /**
   * Places beyond `PEERS_MAX` that the operator alone can give out, so that a flood of registrations does not keep the
   * operator's peers out.
   */
  peersReserve: 16,
  /** Peers that one turn revokes for never having sent an event. */
  purgedAtOnce: 1_000,
  purgeIdleMsMax: 3_650 * DAY_MS,
  /** A peer's number takes 16 bits in the event id table. */
  peersMaxCeiling: 65_535,
  preTrustedWarnAbove: 3,
  preTrustedMax: 64,
  /** From which age on a group tells newcomers from its other peers; in ms. */
  establishedMs: 3_600_000,
  newPeerDaysMax: 30,
  priorBadShareMin: 0.005,
  priorBadShareMax: 0.3,
  /** Peers that are listed as one witness with a peer; a flood of clones has thousands. */
  witnessesListedMax: 100,
  /** Peers that have metrics of their own. */
  metricsPeersMax: 1_000,
  keyBytes: 32,
  keyOverlapMsMax: DAY_MS,

  // Allow list
  /** Players that records of the allow list name, those whose entry is over among them. */
  allowedSubjectsMax: 10_000,
  /** Records of one of them. */
  allowedRecordsMax: 1_000,
  /** How far ahead an entry may end. */
  allowedMsMax: 3_650 * DAY_MS,
  allowNoteLength: 200,

  // Signed requests
  /** How far a signature's creation may lie from the node's clock. */
  signatureWindowS: 300,
  /** Signatures that one request may carry, of which one is looked at; a proxy may add its own. */
  signaturesMax: 4,
  signatureComponentsMax: 16,
  /** Characters of `Signature-Input`, `Signature` and `Content-Digest` each. */
  signatureFieldLength: 2_048,
  /** Signatures that are remembered so that none is taken twice, in 16 to 32 bytes each. */
  replaySignaturesMax: 4_194_304,
  /** Public keys that are kept ready. */
  signingKeysKept: 4_096,

  // Erasure
  erasureQuotaPerDay: 100,
  erasureWindowMs: DAY_MS,
  /** Times of erasures that are remembered per peer; a larger quota is no quota. */
  erasureTimesMax: 10_000,
  /** Log records that one piece of an erasure rewrites, between turns. */
  redactionPieceRecords: 4_096,
  redactionPieceBatches: 256,
  redactionPieceBytes: 4 * MiB,
  /** Withdrawn events that one series of pieces takes out of the log. */
  redactionWithdrawals: 1_024,
  /** Erased subjects that it takes out along with them. */
  redactionErasures: 64,
  /** How often a withdrawal or a submission looks into the log again, where what it read has changed meanwhile. */
  rereadTries: 8,
  /** Players whose erasure waits for the operator. */
  pendingErasuresMax: 10_000,
  /** Until when an erasure that waits should be decided: what laws give for one. */
  erasureDueMs: 2_592_000_000,
  /** Erasures of a group in a sliding day, in quotas of one peer: fresh keys bring no more. */
  groupErasuresFactor: 10,
  /** From which age on a peer erases players at once whom it alone reported. */
  erasureAgeMs: 86_400_000,
  /** Free pages that one commit of a scrub claims, in bytes. */
  scrubPieceBytes: 4 * MiB,
  /** On a disk with less room no removal is taken up: a piece with its pages, and as much again. */
  removalFreeBytes: 16 * MiB,
  scrubReaderLookMs: 5,
  /** A reader that stays on old pages for longer, such as a copying tool, puts the scrub off. */
  scrubReaderWaitMs: 8_000,

  // Actor
  mailboxEvents: 8_192,
  mailboxBytes: 64 * MiB,
  turnEvents: 4_096,
  turnBytes: 4 * MiB,
  retryAfterS: 1,

  // Admission of events
  /** While no more events than this wait for a turn, further ones are let in. */
  eventsAheadAlways: 512,
  /** Beyond that, work of turns that may wait before an event; a node that has to refuse one is overloaded. */
  burstWorkMs: 2_000,
  /** The same of a node that is overloaded, or half of a commit where that is longer. */
  overloadWorkMs: 2,
  /** An overload is over once nobody has waited for `overloadRestMs`, or nobody was refused for `overloadEndsMs`. */
  overloadRestMs: 20,
  overloadEndsMs: 1_000,
  /**
   * Batches whose bodies are taken in at a time during an overload; one does not count for longer than `arrivingMs`.
   */
  batchesArriving: 32,
  arrivingMs: 100,
  /** What has arrived of all batches that are on their way in. */
  arrivingBytes: 128 * MiB,
  /**
   * How often bodies of batches are looked at, what must have come since the last look, and after how many looks in
   * vain one ends.
   */
  arrivingLookMs: 1_000,
  arrivingBytesPerLook: 8 * KiB,
  arrivingSlowLooks: 3,
  /** Events that were let in count half after each period, for the share of whoever sent them. */
  sharePeriodMs: 1_000,
  /** Callers that are counted one by one for that; those beyond share a count. */
  sharesMax: 65_536,
  /** A caller below this part of what callers had on average, or below so many events, is let in before others. */
  shareFirst: 0.5,
  shareFirstEvents: 1_000,
  /** Turns of fewer events do not tell what an event takes. */
  eventsTimed: 64,
  /** Share of the newest turn in what turns are taken to need. */
  admissionSmoothing: 0.1,

  // Log and state
  /** Event ids (and so events ever accepted) that one node holds; writes beyond it get 503. */
  eventIdsMax: 200_000_000,
  subjectsMax: 100_000_000,
  /** Sequence numbers take 48 bits in the tables. */
  seqMax: 2 ** 48 - 1,
  halfLifeDaysMax: 3_650,
  retentionDaysMax: 36_500,
  /** How often events are looked for that are too old to stay. */
  retentionLookMs: HOUR_MS,
  /** Moments of records that one look goes through for their age, so that it holds nobody up. */
  retentionLookMoments: 100_000,
  halfLifeDaysDefault: 30,
  /** How far the clock may be ahead of the newest time that was seen before. */
  clockAheadMs: DAY_MS,
  /** How far the clock may be behind the newest evidence when the half-life changes. */
  halfLifeClockBehindMs: HOUR_MS,
  /** The decay epoch moves once newer evidence would be scaled by more than 2^this. */
  epochHalfLivesMax: 256,
  snapshotsMax: 2,
  /** Pause after a snapshot that failed. */
  snapshotRetryMs: 60_000,
  /** Quiet after an erasure before the snapshots that it removed are made up for. */
  snapshotAfterErasureMs: 5_000,
  /** A snapshot that is owed is put off by further erasures for this long, at most. */
  snapshotOwedMs: 60_000,
  snapshotEveryDefault: 100_000,
  /** A block is written by one call, which the kernel does not interrupt: 0.3 ms. */
  snapshotBlockBytes: 256 * KiB,
  /**
   * A snapshot at shutdown is skipped when it would take longer than this, or than what other steps left of
   * `shutdownMs`.
   */
  shutdownSnapshotMs: 5_000,
  /** Whoever waits for an erasure when the node stops is told to come again after this. */
  shutdownAnswersMs: 3_000,
  /** What the pools' workers get to close their files before they are ended. */
  shutdownPoolMs: 1_500,
  /**
   * What workers get to load, where a node is stopped that has hardly started: one that opens its files must not be
   * ended.
   */
  shutdownLoadMs: 5_000,
  /** For the last writes, and what no other figure counts. */
  shutdownLastMs: 500,
  shutdownMs: 10_000,
  /** A signal so soon after the first is its echo, where npm hands on what the terminal sent to the node already. */
  signalEchoMs: 200,
  /**
   * What a node that cannot go on gives its threads to end, before it ends without them, and of that to close their
   * files.
   */
  failedExitMs: 500,
  failedPoolMs: 250,

  // Disk
  /** Free space below which writes are refused, in MB (10^6 bytes), where the operator says nothing. */
  diskFreeMinMbDefault: 256,
  /** Free space that a commit begins with: a turn with its pages, and as much again. */
  commitFreeBytes: 8 * MiB,
  /** Disk space that is kept for the commits of a node whose disk is full. */
  reserveBytes: 2 * MiB,
  /** With less room than this a disk counts as full. */
  diskFullBytes: 1 * MiB,
  diskLookMs: 1_000,
  /** Writes are taken again above this many times the watermark. */
  diskResumeFactor: 1.25,
  /** An operator has to make room first. */
  diskRetryAfterS: 10,

  // Check in the background
  checkFirstMs: 10 * 60_000,
  /** Twice a day, so that every record is read within one, whenever the node was started. */
  checkEveryMs: DAY_MS / 2,
  /** A check rests this many times as long as it works. */
  checkRestFactor: 9,

  // Pools
  replicaQueueMax: 64,
  /** Of each kind of read. */
  readersQueueMax: 256,
  /** A read that has not begun by then is refused: its caller asks again sooner than it would have its turn. */
  readerWaitMs: 2_500,
  /** Pause before work that the pool could not do is asked for again. */
  workRetryMs: 1_000,
  /** A redaction that fails again and again is tried this seldom, at last. */
  redactionRetryMaxMs: 60_000,
  readerThreads: 1,
  /**
   * What one read of the log takes, and what one takes beside who writes: no page that was freed meanwhile can be used
   * again.
   */
  catchUpBatches: 512,
  catchUpBytes: 8 * MiB,
  followBytes: 256 * KiB,
  /** Events that a start sorts before they go into the tables: 82 bytes each. */
  sortedEvents: 2_500_000,
  /**
   * Records one listing reads: own events go on with the next page; in the summary each chain has a share for gone
   * ones.
   */
  walkRecordsMax: 20_000,
  /** Reads of the log, of two such walks each at most, for the events of one submission that may be repeated. */
  repeatReadsMax: 16,
  readerCacheBatches: 32,
  /** Players that one count of verdicts looks at; of more, every n-th. */
  verdictRowsMax: 1_048_576,
  /** Peers that must have contributed before anything is split up by type or side. */
  summaryPeersMin: 3,

  // Weights
  weightsIntervalMsDefault: 2_000,
  weightsIntervalMsMin: 50,
  weightsIntervalMsMax: HOUR_MS,
  /** Weights in force this long are published again, where newer records are behind them. */
  weightsRepublishMs: HOUR_MS,
  /** The next computation starts no sooner than this many times the last one's duration after it. */
  weightsRestFactor: 4,
  /** Weights of peers in one page of their history, and one vector more. */
  weightsPagePeers: 10_000,
  /** A computation that takes longer hangs: its worker is replaced. */
  weightsTimeoutMs: 120_000,

  // Owner of a data folder
  heartbeatMs: 2_000,
  /** An owner that cannot be looked up (another PID namespace or host) is dead after this much silence. */
  ownerSilentMs: 7_000,
  /** `sun_path` of a Unix socket holds 107 bytes and is cut in silence beyond. */
  socketPathBytes: 107,

  // Dashboard
  /** How often the plots are sampled and the open pages told. */
  dashboardBeatMs: 2_000,
  livePagesMax: 32,
  /** What is kept for a page that does not read; beyond it the page is cut off. */
  livePageBytesMax: 256 * KiB,
  /** Proxies close what stays silent for long. */
  liveHeartbeatMs: 15_000,
  /** An hour of beats. */
  paceSamplesMax: 1_800,
  /** Beats that a rate and a percentile are taken over. */
  paceWindowSamples: 6,
  /** A day of samples, or the last hours where weights move all the time. */
  weightSamplesMax: 1_440,
  weightSampleMs: 60_000,
  weightSampleMsMin: 10_000,
  /** Verdicts are counted again no sooner than after this, and than this many times what the last count took. */
  verdictsRestMs: 5_000,
  verdictsRestFactor: 20,
  passwordLengthMin: 12,
  passwordLengthMax: 256,
  operatorNameLength: 64,
  sessionsMax: 64,
  sessionMs: 12 * HOUR_MS,
  /** Failed sign-ins in `signInWindowS`, from one address and from all together. */
  signInFailuresPerAddress: 10,
  signInFailuresTotal: 100,
  signInWindowS: 900,

  // Verdict stream
  streamReadersMax: 2_048,
  streamReadersPerPeer: 1_024,
  /** What moved less than this since it was told stays untold. */
  streamScoreStep: 1,
  streamConfidenceStep: 0.05,
  /** Rows of one frame; some 140 bytes each. */
  streamFrameRows: 500,
  streamFrameBytes: 128 * KiB,
  /** Rows that one task of the pool looks at. */
  streamLookedAtRows: 65_536,
  /** Rows touched since the last piece that are remembered one by one; beyond it all are looked at. */
  streamTouchedRows: 65_536,
  /**
   * Changes kept in memory for readers that were cut off for a moment, and what of them is sent without asking the
   * pool.
   */
  streamRingRows: 32_768,
  streamAtOnceRows: 1_000,
  /** The verdict stream tells changes in intervals in groups of this many active peers or more. */
  streamIntervalPeersMin: 5,
  streamIntervalMsDefault: 1_000,
  streamIntervalMsMax: 60_000,
  /** How often changes are looked for; while there are more, the pause between two pieces. */
  streamTickMs: 250,
  streamPaceMs: 20,
  /** For so long one turn of the event loop writes to readers. */
  streamSliceMs: 4,
  /** What was told is kept for this long without a reader. */
  streamLingerMs: 30_000,
  streamHeartbeatMs: 5_000,
  /** How often readers are looked at: keys that ended, heartbeats. */
  streamBeatMs: 1_000,
  /** What a reader may leave unread; beyond it it is cut off. */
  streamUnreadBytes: 512 * KiB,
  /** A reader that was told to resume gets this long to read that. */
  streamEndMs: 2_000,
  streamRetryMs: 1_000,

  // Rate limits
  rateLimitPerSecondMax: 1_000_000,
  /** Callers that are counted one by one within a second; those beyond share a count. */
  rateLimitCallersMax: 65_536,

  // Cluster
  etcdEndpointsMax: 16,
  etcdPrefixLength: 128,
  clusterSecretBytesMin: 32,
  /** One try of a call to one member of etcd, and a call with its repeats at others. */
  etcdTryMs: 800,
  etcdCallMs: 2_000,
  etcdRetryMs: 50,
  /** A compaction; and a defragmentation, during which the member answers nobody. */
  etcdSlowCallMs: 10_000,
  etcdDefragmentMs: 60_000,
  /** Bytes of one value in etcd, which takes requests of 1.5 MiB by default; a longer batch is cut into parts. */
  slotPartBytes: 1_000_000,
  slotPartsMax: 16,
  /** Slots and bytes of one read. */
  slotsRead: 64,
  noLeaderRetryAfterS: 2,
  /** Turns of a cluster: more events, or more bytes, take longer than a second turn. */
  clusterTurnEvents: 400,
  clusterTurnBytes: 128 * KiB,
  /** Nobody waits longer for an append whose outcome is unknown. */
  appendPatienceMs: 1_500,
  /** Connections between nodes: to one node, and from all of them; how long one may rest. */
  linkSocketsMax: 64,
  linkConnectionsMax: 1_024,
  linkIdleMs: 60_000,
  linkConnectMs: 1_500,
  linkHeadBytes: 4 * KiB,
  linkBodyBytes: 4 * MiB,
  /** What clocks and pauses may take of a lease before others see its end. */
  leaseMarginMs: 500,
  leaseLookMs: 50,
  /** How often a node asks whether it is up to date, and says how far it is. */
  clusterPollMs: 250,
  clusterReportMs: 1_000,
  /** A node that gave leadership up leaves it to others for so long. */
  stepDownMs: 10_000,
  /** How often the leader looks whether slots may go, and after how long or how many bytes they do. */
  trimLookMs: 250,
  trimEveryMs: 2_000,
  trimEveryBytes: 16 * MiB,
  /** Slots that stay although every living node has them: a node that was away for a moment goes on from there. */
  slotsRetained: 1_000,
  slotsRetainedPressed: 100,
  slotsKnownMax: 1_000_000,
  /** Beyond so many bytes in use no node is waited for: half of etcd's default quota is not reached. */
  etcdBytesMax: 512 * MiB,
  /** What another node gets to overwrite what an erasure replaced. */
  scrubNodeMs: 60_000,
  /** How long an operator's change waits until the other nodes have applied it. */
  carriedMs: 1_000,
  /** How long a forwarded command may take, and how long its node waits until it has applied what came of it. */
  forwardMs: 30_000,
  /** A start waits so long for etcd. */
  etcdStartMs: 30_000,
  /** The same of a node that has a log of its own. */
  etcdOwnStartMs: 5_000,
  /** The copy of one node's data for another: what making it, and a piece of it, may take, and how fast it is sent. */
  copyMs: HOUR_MS,
  copyIdleMs: 10 * 60_000,
  copySilentMs: 10_000,
  copyPieceBytes: 256 * KiB,
  copyBytesPerS: 64 * MiB,
  copyTries: 20,
  joinRetryMs: 2_000,
  /** How long a caller with an unknown key waits until the node knows that it is up to date. */
  refreshMs: 2_000,
  nodeIdLength: 63,
  /**
   * What pushes etcd's write-ahead log on: more entries than lie between two of its snapshots (100,000), and more bytes
   * than the files that it keeps (5 of 64 MB).
   */
  walFillEntries: 110_000,
  walFillBytes: 3_600,
  walFillAtOnce: 64,
  scrubMs: HOUR_MS,
  leaseSDefault: 3,
  /** etcd grants no shorter one with its default election timeout. */
  leaseSMin: 2,
  leaseSMax: 60,
  stalenessMaxMsDefault: 5_000,
  stalenessMaxMsMin: 500,
  stalenessMaxMsCeiling: HOUR_MS,

  saltBytesMin: 16,
  sessionSecretBytesMin: 32,
  sessionCookieLength: 4_096,
} as const;

function relation(holds: boolean, name: string): void {
  if (!holds) throw new Error(`limits: ${name} does not hold`);
}

relation(limits.headBytes < limits.parserHeadBytes, 'headBytes < parserHeadBytes');
relation(limits.batchEventsMax <= limits.turnEvents, 'a batch fits in one turn');
relation(limits.turnEvents <= limits.mailboxEvents, 'a turn fits in the mailbox');
relation(limits.batchBodyBytes <= limits.turnBytes, 'a batch body fits in one turn');
relation(limits.turnBytes <= limits.mailboxBytes, 'a turn fits in the mailbox in bytes');
relation(limits.batchEventsMax <= limits.eventsAheadAlways, 'a batch never keeps another one out');
relation(limits.batchEventsMax <= limits.shareFirstEvents, 'a batch fits in what comes before others');
relation(limits.pipelinedPerConnection % 2 === 0, 'pipelinedPerConnection is even');
relation(limits.headersTimeoutMs <= limits.requestTimeoutMs, 'headers time out before the request');
relation(limits.pageDefault <= limits.pageMax, 'pageDefault <= pageMax');
relation(limits.commitFreeBytes >= 2 * limits.turnBytes, 'a turn fits in what a commit begins with');
relation(limits.diskFreeMinMbDefault * 1e6 > 2 * limits.mailboxBytes, 'what is accepted fits below the watermark');
relation(
  limits.shutdownAnswersMs + limits.shutdownPoolMs + limits.shutdownLastMs <= limits.shutdownSnapshotMs,
  'last answers, connections that end (for all but the time of a snapshot) and the end of the pools fit in the shutdown',
);
relation(2 * limits.readerWaitMs <= limits.shutdownMs - limits.shutdownSnapshotMs, 'reads end before a last snapshot');
relation(limits.failedPoolMs < limits.failedExitMs, 'threads that closed their files have time to end');
relation(limits.streamBeatMs * 2 <= limits.streamHeartbeatMs, 'a heartbeat of the stream is late by a beat at most');
relation(limits.streamFrameRows * 200 <= limits.streamFrameBytes, 'a frame of rows fits in its bytes');
relation(limits.streamFrameBytes * 2 <= limits.streamUnreadBytes, 'a reader may be two frames behind');
relation(limits.heartbeatMs * 2 < limits.ownerSilentMs, 'an owner is silent only after two missed heartbeats');

/**
 * Every bound of the service, with its unit in the name. Constants of a byte layout or of one file's own work stay in
 * that file. The relations that other parts rely on are asserted at the end, when the module loads.
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
  /** Minimum size of an event in a batch. */
  batchEventBytesMin: 128,
  /** URL, header names and header values of one request together. */
  headBytes: 33 * KiB,
  /**
   * Bound of the HTTP parser: more than `headBytes`, so that the node can answer, and less than one read of a socket
   * (64 KiB), which shows the part that was too long.
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
   * Interval of the check for late requests on the public port. All late requests of one check are reported in one
   * turn.
   */
  lateRequestsLookMs: 100,
  /** Late connections that are ended in a millisecond, each in about 100 us; more if thousands wait. */
  connectionsEndedPerMs: 3,
  /** Turns in which most late connections are ended, whatever their number. */
  connectionsEndedTurns: 1_024,
  /** Duration and bytes for which input behind the last answer is read and dropped. */
  lingerMs: 2_000,
  lingerBytes: 16 * MiB,
  /** Bytes per place of a request that waits behind an answer; its body takes further places. */
  pipelinedPlaceBytes: 2 * KiB,
  /**
   * Places of one connection's requests that wait behind an answer. The connection is not read while they are full.
   * Must be even.
   */
  pipelinedPerConnection: 64,
  /** Places of all connections together. A connection that exceeds them is ended. */
  pipelinedMax: 65_536,
  /** Bytes that Node reads from a connection at a time. */
  readBytes: 64 * KiB,
  /** Answers to the requests of one read that are combined. Further answers wait until these are sent. */
  answersAheadBytes: 64 * KiB,
  /**
   * A caller that reads nothing of its answers for this long has gone. The largest answer, a script of the pages, is
   * one piece of 1.5 MB.
   */
  unreadTimeoutMs: 20_000,
  /** Time at a shutdown for connections that the system accepted and the node did not. */
  acceptLastMs: 500,
  /** Descriptors that a process needs to start: loading the service alone opens up to 120 at a time. */
  openFilesMin: 256,
  connectionsMaxDefault: 4_096,
  connectionsMaxCeiling: 1_000_000,
  /** Share of the connections that one address may hold. */
  connectionsAddressShare: 0.5,
  /** Connections that are checked for an idle one when there is no room for a new one. */
  evictionLooks: 1_024,
  /**
   * Checks that an idle connection survives if it made a request, so that a caller with occasional requests keeps its
   * connection longer.
   */
  evictionChances: 8,
  /** Refused connections that get an answer at a time; further ones are closed without an answer. */
  connectionsRefusedAtOnce: 256,
  /** Kinds that `PLAYER_ID_KINDS` may list. */
  playerIdKindsMax: 16,
  matchIdsMax: 128,
  requestIdLength: 128,
  /** Faults of one body that are reported besides the first. */
  furtherFaultsMax: 8,
  /** Faulty events of a batch with all their faults; for the rest only the first fault is reported. */
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
  /** Bound of a cursor of own events, which holds a place for each origin that the peer carries. */
  placesCursorLength: 8_192,

  // Pages
  /** Cached texts of hours, and of days. */
  timeStringsMax: 1_024,
  pageDefault: 50,
  pageMax: 200,
  /** Newest events of a player in the public summary. */
  summaryEventsMax: 1_000,

  // Event rules
  futureMs: DAY_MS,
  severityMin: 0,
  severityMax: 1,
  schemaMajorMax: 1,

  // Peers
  peersMaxDefault: 10_000,
  /**
   * Places beyond `PEERS_MAX` that only the operator can use, so that a flood of registrations does not exclude the
   * operator's peers.
   */
  peersReserve: 16,
  /** Peers that one turn revokes because they never sent an event. */
  purgedAtOnce: 1_000,
  purgeIdleMsMax: 3_650 * DAY_MS,
  /** A peer's number has 16 bits in the event id table. */
  peersMaxCeiling: 65_535,
  preTrustedWarnAbove: 3,
  preTrustedMax: 64,
  /** Age in ms from which a group distinguishes new peers from the others. */
  establishedMs: 3_600_000,
  newPeerDaysMax: 30,
  priorBadShareMin: 0.005,
  priorBadShareMax: 0.3,
  /** Listed peers of one witness group; a flood of clones has thousands. */
  witnessesListedMax: 100,
  /** Peers with metrics of their own. */
  metricsPeersMax: 1_000,
  keyBytes: 32,
  keyOverlapMsMax: DAY_MS,

  /** The sliding day of quotas. */
  quotaWindowMs: DAY_MS,
  /** Age up to which a peer's requests do not count towards the group's quota of the older peers. */
  quotaNewPeerMs: DAY_MS,

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
  signingKeysMax: 4_096,

  // Erasure
  erasureQuotaPerDay: 100,
  /** Times of erasures that are stored per peer; a larger quota is no quota. */
  erasureTimesMax: 10_000,
  /** Log records that one piece of an erasure rewrites between turns. */
  redactionPieceRecords: 4_096,
  redactionPieceBatches: 256,
  redactionPieceBytes: 4 * MiB,
  /** Withdrawn events that one series of pieces removes from the log. */
  redactionWithdrawals: 1_024,
  /** Erased subjects that the same series removes. */
  redactionErasures: 64,
  /** Retries of a withdrawal or a submission whose read of the log became outdated meanwhile. */
  rereadTries: 8,
  /** Players whose erasure waits for the operator. */
  pendingErasuresMax: 10_000,
  /** Time within which a pending erasure should be decided, as laws require. */
  erasureDueMs: 2_592_000_000,
  /** Erasures of a group in a sliding day, in quotas of one peer, so that fresh keys do not raise the limit. */
  groupErasuresFactor: 10,
  /** Age from which a peer erases players at once that only this peer reported. */
  erasureAgeMs: 86_400_000,
  /** Free pages that one commit of a scrub claims, in bytes. */
  scrubPieceBytes: 4 * MiB,
  /** Free space below which no removal starts: a piece with its pages, and as much again. */
  removalFreeBytes: 16 * MiB,
  scrubReaderLookMs: 5,
  /** A reader that uses old pages for longer, such as a copying tool, defers the scrub. */
  scrubReaderWaitMs: 8_000,

  // Origins
  originNameLength: 64,
  /** Declared origins, those removed since among them. */
  originsMax: 256,
  /** Peers with an origin that they send events of: each takes a number, as a peer does. */
  carriersMax: 8_192,
  referenceLength: 128,

  // Disputes
  disputeTextLength: 500,
  /** Disputes that wait for the operator, and rejected ones that are still held. */
  disputesOpenMax: 10_000,
  disputesRejectedMax: 10_000,
  /** Disputes of one peer in a sliding day, and those of a group in quotas of one peer. */
  disputeQuotaPerDay: 50,
  groupDisputesFactor: 10,
  /** Peers whose events one decision makes void. */
  disputeVoidsMax: 64,

  /** Records of the log that an export of one player reads, at most; of a player with more it says so. */
  exportRecordsMax: 100_000,

  // Actor
  mailboxEvents: 8_192,
  mailboxBytes: 64 * MiB,
  turnEvents: 2_048,
  turnBytes: 4 * MiB,
  retryAfterS: 1,

  // Admission of events
  /** Events that a holder brings before the next holder has its turn. */
  fairShareEvents: 128,
  /** A command of at most `smallEvents` is admitted while no more of its holder wait, as far as there is room. */
  smallEvents: 256,
  eventsOwnAlways: 1_024,
  /** Further events are admitted while at most this many wait for a turn. */
  eventsAheadAlways: 512,
  /** Work that may wait before an event beyond that. A node that must refuse an event is overloaded. */
  burstWorkMs: 2_000,
  /** The same bound in an overload, or half of a commit if that is longer. */
  overloadWorkMs: 2,
  /** An overload ends once no event has waited for `overloadRestMs`, or none was refused for `overloadEndsMs`. */
  overloadRestMs: 20,
  overloadEndsMs: 1_000,
  /** Batch bodies that are admitted at a time during an overload. A body counts for at most `arrivingMs`. */
  batchesArriving: 32,
  arrivingMs: 100,
  /** Received bytes of all batches in flight. */
  arrivingBytes: 128 * MiB,
  /**
   * Interval of the check of batch bodies, the minimum of new bytes per check, and the failed checks after which a body
   * ends.
   */
  arrivingLookMs: 1_000,
  arrivingBytesPerLook: 8 * KiB,
  arrivingSlowLooks: 3,
  /** Events of batches after which no further batch is parsed in the same turn of the event loop. */
  parsedEventsPerLoop: 256,
  /** After a turn of the loop that took long, so many are parsed for each of its ms, up to a bound. */
  parsedEventsPerMs: 50,
  parsedEventsMax: 4_096,
  /** While connections arrive, batches are parsed only in every fourth of these periods. */
  acceptPeriodMs: 25,
  /** Events of batches that wait to be parsed. Those of one holder are bounded by what is admitted. */
  parsingEventsMax: 32_768,
  /** Rate at which refused batches of one holder are read, and the part of its debt, in ms, that delays nothing. */
  refusedBytesPerS: 8 * MiB,
  refusedDebtMs: 125,
  /** The longest such delay, and the number of batches that are delayed at a time, which holders share. */
  pacedWaitMsMax: 1_500,
  pacedBatchesMax: 256,
  /** The share of an event's sender halves with each period. */
  sharePeriodMs: 1_000,
  /** Callers with a share of their own; callers beyond the bound share one. */
  sharesMax: 65_536,
  /** A caller below this part of the average share, or below so many events, is admitted first. */
  shareFirst: 0.5,
  shareFirstEvents: 1_000,
  /** Turns with fewer events are not used to estimate the time of an event. */
  eventsTimed: 64,
  /** Weight of the newest turn in the estimate of turn durations. */
  admissionSmoothing: 0.1,

  // Log and state
  /** Event ids (so events ever accepted) of one node. Writes beyond the bound get 503. */
  eventIdsMax: 200_000_000,
  subjectsMax: 100_000_000,
  /** Sequence numbers have 48 bits in the tables. */
  seqMax: 2 ** 48 - 1,
  halfLifeDaysMax: 3_650,
  retentionDaysMax: 36_500,
  /** Interval of the check for events beyond the retention age. */
  retentionLookMs: HOUR_MS,
  /** Record times that one check reads, so that it does not block the thread. */
  retentionLookMoments: 100_000,
  halfLifeDaysDefault: 30,
  /** How far the clock may be ahead of the newest time seen before. */
  clockAheadMs: DAY_MS,
  /** How far the clock may be behind the newest evidence when the half-life changes. */
  halfLifeClockBehindMs: HOUR_MS,
  /** The decay epoch moves once newer evidence would be scaled by more than 2^this. */
  epochHalfLivesMax: 256,
  snapshotsMax: 2,
  /** Pause after a failed snapshot. */
  snapshotRetryMs: 60_000,
  /** Quiet time after an erasure before the removed snapshots are replaced. */
  snapshotAfterErasureMs: 5_000,
  /** Longest time by which further erasures delay that snapshot. */
  snapshotOwedMs: 60_000,
  snapshotEveryDefault: 100_000,
  /** A block is written by one call, which the kernel does not interrupt: 0.3 ms. */
  snapshotBlockBytes: 256 * KiB,
  /** A snapshot at shutdown is skipped if it would take longer than this, or than the rest of `shutdownMs`. */
  shutdownSnapshotMs: 5_000,
  /** Time for erasures that are pending at shutdown. Their callers are then asked to retry. */
  shutdownAnswersMs: 3_000,
  /** Time for the pools' workers to close their files before they are terminated. */
  shutdownPoolMs: 1_500,
  /**
   * Time for workers to load if a node is stopped right after its start. A worker that opens its files must not be
   * terminated.
   */
  shutdownLoadMs: 5_000,
  /** Time for the last writes and for everything without a figure of its own. */
  shutdownLastMs: 500,
  shutdownMs: 10_000,
  /**
   * A signal within this time of the first is its echo: npm forwards the signal that the terminal also sent to the
   * node.
   */
  signalEchoMs: 200,
  /** Time for the threads of a failed node to end before the process exits, and the part of it to close their files. */
  failedExitMs: 500,
  failedPoolMs: 250,

  // Disk
  /** Free space below which writes are refused, in MB (10^6 bytes), by default. */
  diskFreeMinMbDefault: 256,
  /** Free space that a commit requires: a turn with its pages, and as much again. */
  commitFreeBytes: 8 * MiB,
  /** Disk space that is reserved for the commits of a node on a full disk. */
  reserveBytes: 2 * MiB,
  /** A disk with less free space counts as full. */
  diskFullBytes: 1 * MiB,
  diskLookMs: 1_000,
  /** Writes are accepted again above this multiple of the watermark. */
  diskResumeFactor: 1.25,
  /** The operator must make room first. */
  diskRetryAfterS: 10,

  // Check in the background
  checkFirstMs: 10 * 60_000,
  /** Twice a day, so that every record is read within a day, whenever the node was started. */
  checkEveryMs: DAY_MS / 2,
  /** A check sleeps this many times as long as it works. */
  checkRestFactor: 9,

  // Pools
  replicaQueueMax: 64,
  /** Per class of reads. */
  readersQueueMax: 256,
  /** A read that has not begun by then is refused: its caller retries sooner than it would have its turn. */
  readerWaitMs: 2_500,
  /** Pause before work that the pool could not do is requested again. */
  workRetryMs: 1_000,
  /** Longest pause between attempts at a redaction that keeps failing. */
  redactionRetryMaxMs: 60_000,
  readerThreads: 1,
  /**
   * Bounds of one read of the log, and of one read in parallel with the writer: freed pages cannot be reused during a
   * read.
   */
  catchUpBatches: 512,
  catchUpBytes: 8 * MiB,
  followBytes: 256 * KiB,
  /** Events that a start sorts before it inserts them into the tables: 82 bytes each. */
  sortedEvents: 2_500_000,
  /**
   * Records that one listing reads. Own events continue with the next page; in the summary each chain has a share for
   * removed events.
   */
  walkRecordsMax: 20_000,
  /** Reads of the log, of at most two such walks each, for the possibly repeated events of one submission. */
  repeatReadsMax: 16,
  readerCacheBatches: 32,
  /** Players that one count of verdicts reads; of more, every n-th. */
  verdictRowsMax: 1_048_576,
  /** Minimum of contributing peers before evidence is split by type or side. */
  summaryPeersMin: 3,

  // Weights
  weightsIntervalMsDefault: 2_000,
  weightsIntervalMsMin: 50,
  weightsIntervalMsMax: HOUR_MS,
  /** Weights that have been in force this long are published again if newer records exist. */
  weightsRepublishMs: HOUR_MS,
  /** The next computation starts at the earliest this many times the last one's duration after it. */
  weightsRestFactor: 4,
  /** Weights of peers in one page of their history, and one more vector. */
  weightsPagePeers: 10_000,
  /** A computation that takes longer is considered hung, and its worker is replaced. */
  weightsTimeoutMs: 120_000,

  // Owner of a data folder
  heartbeatMs: 2_000,
  /** An owner that cannot be identified (another PID namespace or host) counts as dead after this much silence. */
  ownerSilentMs: 7_000,
  /** `sun_path` of a Unix socket has 107 bytes; longer paths are truncated silently. */
  socketPathBytes: 107,

  // Dashboard
  /** Interval at which the plots are sampled and open pages updated. */
  dashboardBeatMs: 2_000,
  livePagesMax: 32,
  /** Unread bytes of a page; beyond the bound the page is disconnected. */
  livePageBytesMax: 256 * KiB,
  /** Proxies close connections that are silent for long. */
  liveHeartbeatMs: 15_000,
  /** One hour of samples. */
  paceSamplesMax: 1_800,
  /** Samples of a rate and a percentile. */
  paceWindowSamples: 6,
  /** A day of samples, or the last hours if weights change all the time. */
  weightSamplesMax: 1_440,
  weightSampleMs: 60_000,
  weightSampleMsMin: 10_000,
  /** Minimum pause between two counts of verdicts, in ms and as a multiple of the duration of the last count. */
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
  /** Smaller changes since the last published value are not published. */
  streamScoreStep: 1,
  /** Records that are read for a reader who comes from another node; beyond them it begins anew. */
  streamResumeRecordsMax: 50_000,
  /** Time that such a reader waits until this node has applied what it heard elsewhere, and the interval of checks. */
  streamBehindMs: 5_000,
  streamBehindLookMs: 50,
  streamConfidenceStep: 0.05,
  /** Rows of one frame, about 140 bytes each. */
  streamFrameRows: 500,
  streamFrameBytes: 128 * KiB,
  /** Rows that one task of the pool reads. */
  streamLookedAtRows: 65_536,
  /** Rows changed since the last piece that are tracked one by one; beyond the bound all rows are read. */
  streamTouchedRows: 65_536,
  /** Changes kept in memory for readers with a short disconnection, and how many of them are sent without the pool. */
  streamRingRows: 32_768,
  streamAtOnceRows: 1_000,
  /** Minimum of active peers for publication of changes in intervals. */
  streamIntervalPeersMin: 5,
  streamIntervalMsDefault: 1_000,
  streamIntervalMsMax: 60_000,
  /** Interval of the check for changes, and the pause between two pieces while there are more. */
  streamTickMs: 250,
  streamPaceMs: 20,
  /** Time in which one turn of the event loop writes to readers. */
  streamSliceMs: 4,
  /** How long the feed is kept without a reader. */
  streamLingerMs: 30_000,
  streamHeartbeatMs: 5_000,
  /** Interval of the check of readers for ended keys and heartbeats. */
  streamBeatMs: 1_000,
  /** Unread bytes of a reader; beyond the bound the reader is disconnected. */
  streamUnreadBytes: 512 * KiB,
  /** Time for a reader to read the request to resume. */
  streamEndMs: 2_000,
  streamRetryMs: 1_000,

  // Rate limits
  rateLimitPerSecondMax: 1_000_000,
  /** Callers with a count of their own within a second; callers beyond the bound share one. */
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
  /** The longest wait of a change for a leader; the default lease is shorter. */
  leaderWaitMs: 4_000,
  /** Changes that wait for a leader. They open as many connections to it at once. */
  leaderWaitingMax: 256,
  /** While changes wait: how often a leader is looked for, and how soon one that was not reached is tried again. */
  leaderLookMs: 50,
  leaderRetryMs: 500,
  /** Turns of a cluster: more events, or more bytes, take longer than a second turn. */
  clusterTurnEvents: 400,
  clusterTurnBytes: 128 * KiB,
  /** The longest wait for an append whose outcome is unknown. */
  appendPatienceMs: 1_500,
  /** Connections between nodes: to one node, and from all of them; how long one may rest. */
  linkSocketsMax: 64,
  linkConnectionsMax: 1_024,
  linkIdleMs: 60_000,
  linkConnectMs: 1_500,
  linkHeadBytes: 4 * KiB,
  linkBodyBytes: 4 * MiB,
  /** Margin of a lease for clocks and pauses: the holder stops before others see its end. */
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
  /** The time that another node has to overwrite what an erasure replaced. */
  scrubNodeMs: 60_000,
  /** Time of a stopping node to give back its lead and its lease; after it, calls to etcd are ended. */
  clusterEndMs: 1_000,
  /** How long an operator's change waits until the other nodes have applied it. */
  appliedWaitMs: 1_000,
  /** How long a forwarded command may take, and how long its node waits until it has applied what came of it. */
  forwardMs: 30_000,
  /** The time that a living node has to answer the commands that it took as the leader before. */
  forwardGraceMs: 1_500,
  /** A start waits so long for etcd. */
  etcdStartMs: 30_000,
  /** The same of a node that has a log of its own. */
  etcdOwnStartMs: 5_000,
  /** The copy of one node's data for another: what making it, and a piece of it, may take, and how fast it is sent. */
  copyMs: HOUR_MS,
  /** How often a joining node asks whether the copy is made, and how long it waits for that answer. */
  copyPollMs: 500,
  copyAnswerMs: 5_000,
  /** An erasure waits so long for a node that joins, since a removal of its copy would have it begin anew. */
  joinHoldMs: 10 * 60_000,
  /** How often a node looks whether replaced bytes wait in its free space, though no leader asked to overwrite them. */
  scrubOwnEveryMs: 60_000,
  /** A node that asks for a copy within this time gets the same one as the node before it. */
  copyFreshMs: 30_000,
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
   * The write-ahead log of etcd by its default settings: entries between two snapshots, files that are kept, and their
   * size. A file is deleted once a snapshot came after it and more files follow than are kept.
   */
  walSnapshotEntries: 100_000,
  walSnapshotEntriesMax: 10_000_000,
  walFiles: 5,
  walFilesMax: 100,
  walFileBytes: 64 * MiB,
  walFillBytesMax: 64 * KiB,
  /** Bytes after which the database is compacted up to the time before, so that its quota is not reached. */
  walCompactBytes: 16 * MiB,
  /** Random bytes that the byte search looks for after a scrub. */
  walMarkerBytes: 32,
  /** etcd deletes old files every 30 s: how long the byte search waits for that, and how often it looks. */
  walPurgeMs: 90_000,
  walSearchEveryMs: 5_000,
  /** The hour (UTC) of the nightly scrub, and how often the leader looks whether it is due. */
  scrubHourUtc: 3,
  scrubLookMs: 60_000,
  walFillBytes: 3_600,
  /**
   * Entries in flight: more or fewer by how long they take, so that leases and turns come through, in ms on average.
   */
  walAtOnceMin: 4,
  walAtOnceFirst: 16,
  walAtOnceMax: 128,
  walFastMs: 25,
  walSlowMs: 100,
  /** Time for one of these entries, which wait for one another. */
  walPutMs: 60_000,
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

/** Bounds of a connection to a server of this process. */
export const serverBounds = {
  maxHeaderSize: limits.parserHeadBytes,
  headersTimeout: limits.headersTimeoutMs,
  requestTimeout: limits.requestTimeoutMs,
  keepAliveTimeout: limits.keepAliveTimeoutMs,
  connectionsCheckingInterval: limits.connectionsCheckingIntervalMs,
} as const;

function relation(holds: boolean, name: string): void {
  if (!holds) throw new Error(`limits: ${name} does not hold`);
}

relation(limits.headBytes < limits.parserHeadBytes, 'headBytes < parserHeadBytes');
relation(limits.leaseSDefault * 1_000 < limits.leaderWaitMs, 'a change waits for longer than the default lease');
relation(limits.appliedWaitMs < limits.forwardGraceMs, 'an earlier leader may wait for the other nodes and answer');
relation(limits.batchEventsMax <= limits.turnEvents, 'a batch fits in one turn');
relation(limits.turnEvents <= limits.mailboxEvents, 'a turn fits in the mailbox');
relation(limits.batchBodyBytes <= limits.turnBytes, 'a batch body fits in one turn');
relation(limits.turnBytes <= limits.mailboxBytes, 'a turn fits in the mailbox in bytes');
relation(limits.batchEventsMax <= limits.eventsAheadAlways, 'a batch never excludes another batch');
relation(limits.pacedWaitMsMax < limits.requestTimeoutMs, 'a delayed batch does not time out');
relation(limits.batchEventsMax <= limits.shareFirstEvents, 'a batch fits in the share that is admitted first');
relation(limits.pipelinedPerConnection % 2 === 0, 'pipelinedPerConnection is even');
relation(limits.headersTimeoutMs <= limits.requestTimeoutMs, 'headers time out before the request');
relation(limits.pageDefault <= limits.pageMax, 'pageDefault <= pageMax');
relation(limits.commitFreeBytes >= 2 * limits.turnBytes, 'a turn fits in the free space that a commit requires');
relation(limits.diskFreeMinMbDefault * 1e6 > 2 * limits.mailboxBytes, 'accepted commands fit below the watermark');
relation(
  limits.shutdownAnswersMs + limits.shutdownPoolMs + limits.shutdownLastMs <= limits.shutdownSnapshotMs,
  'last answers, connections that end (for all but the time of a snapshot) and the end of the pools fit in the shutdown',
);
relation(
  limits.shutdownAnswersMs + 2 * limits.clusterEndMs + limits.shutdownPoolMs + limits.shutdownLastMs <=
    limits.shutdownMs,
  'forwarded commands and what is given back to the cluster end within the shutdown',
);
relation(2 * limits.readerWaitMs <= limits.shutdownMs - limits.shutdownSnapshotMs, 'reads end before a last snapshot');
relation(limits.failedPoolMs < limits.failedExitMs, 'threads that closed their files have time to end');
relation(limits.streamBeatMs * 2 <= limits.streamHeartbeatMs, 'a heartbeat of the stream is late by a beat at most');
relation(limits.streamFrameRows * 200 <= limits.streamFrameBytes, 'a frame of rows fits in its bytes');
relation(limits.streamFrameBytes * 2 <= limits.streamUnreadBytes, 'a reader may be two frames behind');
relation(limits.heartbeatMs * 2 < limits.ownerSilentMs, 'an owner is silent only after two missed heartbeats');

/** Declares every bound of the service. Constants of a byte layout or of one file's own work stay in that file. */

const KiB = 1024;
const MiB = 1024 * KiB;
export const HOUR_MS = 3_600_000;
export const DAY_MS = 24 * HOUR_MS;

export const limits = {
  // Requests
  eventBodyBytes: 16 * KiB,
  batchBodyBytes: 1 * MiB,
  batchEventsMax: 500,
  batchEventBytesMin: 128,
  /** URL, header names and header values of one request together. */
  headBytes: 33 * KiB,
  /** More than `headBytes`, so that the node answers a longer head; less than one read, which shows its fault. */
  parserHeadBytes: 48 * KiB,
  headerCount: 64,
  /** Longest head that the fast path parses; it leaves a longer one to node:http. */
  fastPathHeadBytes: 16 * KiB,
  headersTimeoutMs: 5_000,
  requestTimeoutMs: 8_000,
  keepAliveTimeoutMs: 5_000,
  connectionsCheckingIntervalMs: 500,
  lateRequestsLookMs: 100,
  /** Late connections that are ended per millisecond, each in about 100 us; more if thousands wait. */
  connectionsEndedPerMs: 3,
  /** Turns in which most late connections are ended, whatever their number. */
  connectionsEndedTurns: 1_024,
  /** Duration and bytes for which input behind the last answer is read and dropped. */
  lingerMs: 2_000,
  lingerBytes: 16 * MiB,
  /** Bytes per place of a request that waits behind an answer; its body takes further places. */
  pipelinedPlaceBytes: 2 * KiB,
  /** Places of one connection's waiting requests; it is not read while they are full. Must be even. */
  pipelinedPerConnection: 64,
  /** Places of all connections together. A connection that exceeds them is ended. */
  pipelinedMax: 65_536,
  readBytes: 64 * KiB,
  /** Answers to the requests of one read that are combined. Further answers wait until these are sent. */
  answersAheadBytes: 64 * KiB,
  /** Without reading, a caller counts as gone after this. The largest answer, a script, is one piece of 1.5 MB. */
  unreadTimeoutMs: 20_000,
  acceptLastMs: 500,
  /** Descriptors that a process needs to start: loading the service alone opens up to 120 at a time. */
  openFilesMin: 256,
  connectionsMaxDefault: 4_096,
  connectionsMaxCeiling: 1_000_000,
  connectionsAddressShare: 0.5,
  /** Connections that are checked for an idle one when there is no room for a new one. */
  evictionLooks: 1_024,
  /** Checks that an idle connection with occasional requests survives. */
  evictionChances: 8,
  /** Refused connections that get an answer at a time; further ones are closed without an answer. */
  connectionsRefusedAtOnce: 256,
  playerIdKindsMax: 16,
  matchIdsMax: 128,
  requestIdLength: 128,
  furtherFaultsMax: 8,
  /** Faulty events of a batch for which all faults are reported; for the other events only the first is. */
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
  /** A cursor of own events holds a place for each origin that the peer carries. */
  cursorLength: 8_192,

  // Pages
  timeStringsMax: 1_024,
  pageDefault: 50,
  pageMax: 200,
  summaryEventsMax: 1_000,

  // Event rules
  futureMs: DAY_MS,
  severityMin: 0,
  severityMax: 1,
  schemaMajorMax: 1,

  // Peers
  peersMaxDefault: 10_000,
  /** Places beyond `PEERS_MAX` for the operator, whose peers a flood of registrations must not exclude. */
  peersReserve: 16,
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
  witnessesListedMax: 100,
  metricsPeersMax: 1_000,
  keyBytes: 32,
  keyOverlapMsMax: DAY_MS,

  quotaWindowMs: DAY_MS,
  /** Age up to which a peer's requests do not count towards the group's quota of the older peers. */
  quotaNewPeerMs: DAY_MS,

  // Allow list
  allowedSubjectsMax: 10_000,
  /** Players whose entries ended included: an erasure must find the records that name them. */
  allowedNamedMax: 100_000,
  /** Records of the allow list about one player. */
  allowedRecordsMax: 1_000,
  allowedMsMax: 3_650 * DAY_MS,
  allowNoteLength: 200,

  // Signed requests
  /** Largest distance between a signature's creation and the node's clock. */
  signatureWindowS: 300,
  /** Signatures that one request may carry, because a proxy may add its own; only one is checked. */
  signaturesMax: 4,
  signatureComponentsMax: 16,
  /** Characters of `Signature-Input`, `Signature` and `Content-Digest` each. */
  signatureFieldLength: 2_048,
  /** Signatures that are remembered so that none is accepted twice, in 16 to 32 bytes each. */
  replaySignaturesMax: 4_194_304,
  signingKeysMax: 4_096,
  /** A signature waits for the batch before its own, and for all of its own: 10 ms of verifications. */
  signaturesInBatch: 32,

  // Erasure
  erasureQuotaPerDay: 100,
  /** Times of erasures that are stored per peer; a larger quota counts as this one. */
  erasureTimesMax: 10_000,
  redactionPieceRecords: 4_096,
  redactionPieceBatches: 256,
  redactionPieceBytes: 4 * MiB,
  redactionWithdrawals: 1_024,
  redactionErasures: 64,
  /** Retries of a withdrawal or a submission whose read of the log became outdated meanwhile. */
  rereadTries: 8,
  pendingErasuresMax: 10_000,
  /** Time within which a pending erasure should be decided, as laws require. */
  erasureDueMs: 2_592_000_000,
  /** A multiple of one peer's quota, so that new keys do not raise a group's limit. */
  groupErasuresFactor: 10,
  /** Age from which a peer may erase a player at once, if only this peer reported the player. */
  erasureAgeMs: 86_400_000,
  /** Free pages that one commit of a scrub claims, in bytes. */
  scrubPieceBytes: 4 * MiB,
  /** Free space below which no removal starts: twice the size of a piece with its pages. */
  removalFreeBytes: 16 * MiB,
  scrubReaderLookMs: 5,
  /** Longest wait for a reader of old pages, such as a copying tool, before the scrub is deferred. */
  scrubReaderWaitMs: 8_000,

  // Origins
  originNameLength: 64,
  originsMax: 256,
  /** Carriers of the group: each takes a number, as a peer does. */
  carriersMax: 8_192,
  referenceLength: 128,

  /** How long `ptf doctor` waits for a process that may listen on the node's port. */
  doctorConnectMs: 500,

  // Disputes
  disputeTextLength: 500,
  /** Disputes that wait for the operator, and rejected disputes that are still held. */
  disputesOpenMax: 10_000,
  disputesRejectedMax: 10_000,
  /** Disputes of one peer in a sliding day, and those of a group as a multiple of one peer's quota. */
  disputeQuotaPerDay: 50,
  groupDisputesFactor: 10,
  /** Peers that the view of a dispute lists because its text names them; names need not be unique. */
  disputeNamedMax: 10,
  disputeVoidsMax: 64,

  /** Log records that the export of one player reads at most; with more, the export says that it is incomplete. */
  exportRecordsMax: 100_000,

  // Actor
  mailboxEvents: 8_192,
  mailboxBytes: 64 * MiB,
  turnEvents: 2_048,
  turnBytes: 4 * MiB,
  /** Room for batches in a turn that has commands of few events, or follows one of them alone. */
  shortTurnEvents: 512,
  retryAfterS: 1,

  // Admission of events
  /** Events that are taken from one holder before the next holder has its turn. */
  fairShareEvents: 128,
  /** A command of at most `smallEvents` is admitted while at most `eventsOwnAlways` of its holder wait. */
  smallEvents: 256,
  eventsOwnAlways: 1_024,
  /** Further events are admitted while at most this many wait for a turn. */
  eventsAheadAlways: 512,
  /** Beyond that, the longest work before an event. A node that must refuse an event is overloaded. */
  burstWorkMs: 2_000,
  /** The bound of that work during an overload; half of a commit if that is longer. */
  overloadWorkMs: 2,
  /** An overload ends once no event has waited for `overloadRestMs`, or none was refused for `overloadEndsMs`. */
  overloadRestMs: 20,
  overloadEndsMs: 1_000,
  /** Batch bodies that are admitted at a time during an overload. A body counts for at most `arrivingMs`. */
  batchesArriving: 32,
  arrivingMs: 100,
  arrivingBytes: 128 * MiB,
  /** Interval of the check of batch bodies, least new bytes per check, and failed checks that end a body. */
  arrivingLookMs: 1_000,
  arrivingBytesPerLook: 8 * KiB,
  arrivingSlowLooks: 3,
  /** Time in one turn of the event loop, in ms, after which bodies, long and pipelined reads wait. */
  workTurnMs: 4,
  /** A read with a longer query counts as long, and takes as long as so many small events. */
  shortQueryLength: 512,
  longReadEvents: 32,
  /** Time that a body with valid events may take, in ms, several times the usual, since machines are slow at times. */
  parseUsualMs: 20,
  parseUsualMsPerEvent: 0.1,
  /** A body that takes longer by more than this, in ms, throttles its holder so many times as long, up to a bound. */
  parseExcessMs: 0.25,
  throttleFactor: 4,
  throttleMsMax: 5_000,
  /** Part of the places of waiting bodies that throttled holders share. */
  throttledShare: 0.25,
  /** While connections arrive, batches are parsed only in every fourth period of this length. */
  acceptPeriodMs: 25,
  /** Events in batches that may wait to be parsed before one of a holder; twice as many may wait in all. */
  parsingEventsMax: 32_768,
  /** Rate at which refused batches of a holder are read, and the debt, in ms, that delays nothing. */
  refusedBytesPerS: 8 * MiB,
  refusedDebtMs: 125,
  /** Longest delay of a batch by that debt, and number of batches delayed at a time, which holders share. */
  pacedWaitMsMax: 1_500,
  pacedBatchesMax: 256,
  sharePeriodMs: 1_000,
  /** Callers with a share of their own; all further callers have one share together. */
  sharesMax: 65_536,
  /** A caller below this part of the average share, or with fewer events than this, is admitted first. */
  shareFirst: 0.5,
  shareFirstEvents: 1_000,
  /** Turns with fewer events than this are not used to estimate the time of an event. */
  eventsTimed: 64,
  /** Weight of the newest turn in the estimate of turn durations. */
  admissionSmoothing: 0.1,

  // Log and state
  /** Event ids of one node, which are all events ever accepted. Writes beyond the bound get 503. */
  eventIdsMax: 200_000_000,
  subjectsMax: 100_000_000,
  /** Sequence numbers have 48 bits in the tables. */
  seqMax: 2 ** 48 - 1,
  halfLifeDaysMax: 3_650,
  retentionDaysMax: 36_500,
  retentionLookMs: HOUR_MS,
  /** Record times that one check reads, so that it does not block the thread. */
  retentionLookMoments: 100_000,
  halfLifeDaysDefault: 30,
  banHalfLifeDaysDefault: 180,
  /** Largest step of the clock ahead of the newest time seen before. */
  clockAheadMs: DAY_MS,
  /** Time after which a check of a right clock reads the elapsed time again. */
  elapsedReadMs: 1_000,
  /** Largest lag of the clock behind the newest evidence at which the half-life may change. */
  halfLifeClockBehindMs: HOUR_MS,
  /** The decay epoch moves once newer evidence would be scaled by more than 2^this. */
  epochHalfLivesMax: 256,
  snapshotsMax: 2,
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
  /** Time for workers to load if a node stops right after its start: an opening worker must not be terminated. */
  shutdownLoadMs: 5_000,
  /** Time for the last writes and for everything that has no bound of its own. */
  shutdownLastMs: 500,
  shutdownMs: 10_000,
  /** A signal within this time of the first is its echo, which npm forwards. */
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
  /** Seconds after which a refused caller should retry: the operator must make room first. */
  diskRetryAfterS: 10,

  // Check in the background
  checkFirstMs: 10 * 60_000,
  /** Interval of the check: twice a day, so that every record is read within a day, whenever the node was started. */
  checkEveryMs: DAY_MS / 2,
  /** A check sleeps this many times as long as it works. */
  checkRestFactor: 9,

  // Pools
  replicaQueueMax: 64,
  readersQueueMax: 256,
  /** The start of the signature thread, or its end, beside the batch in progress. */
  signatureQueueMax: 2,
  readerWaitMs: 2_500,
  workRetryMs: 1_000,
  redactionRetryMaxMs: 60_000,
  readerThreads: 1,
  /** Bounds of one read of the log, and of one beside the writer, which cannot reuse freed pages meanwhile. */
  catchUpBatches: 512,
  catchUpBytes: 8 * MiB,
  followBytes: 256 * KiB,
  /** Bound of one read by a thread of low priority, which a busy core may otherwise stop in it for seconds. */
  lowPriorityReadMs: 5,
  /** Events that a start sorts before it inserts them into the tables: 82 bytes each. */
  sortedEvents: 2_500_000,
  /** Records that one listing reads; in the summary each chain has a share for removed events. */
  walkRecordsMax: 20_000,
  /** Records of one read for possibly repeated events, and reads for one submission. */
  repeatPieceRecords: 1_024,
  repeatReadsMax: 320,
  readerCacheBatches: 32,
  /** Players that one count of verdicts reads; of a larger group it reads every n-th player. */
  verdictRowsMax: 1_048_576,
  /** Entries, one per peer and player, that a read visits at once; longer reads take turns, in pieces of as many. */
  readEntriesAtOnce: 1_024,
  /** Minimum of contributing peers before evidence is split by type or side. */
  summaryPeersMin: 3,

  // Weights
  weightsIntervalMsDefault: 2_000,
  weightsIntervalMsMin: 50,
  weightsIntervalMsMax: HOUR_MS,
  /** Weights that have been in force this long are published again if newer records exist. */
  weightsRepublishMs: HOUR_MS,
  /** A group hears that it only reports if it sent nothing else for so long, once it has so many events. */
  reportsOnlyMs: 30 * DAY_MS,
  reportsOnlyEventsMin: 10,
  /** Least pause between two starts if a peer without weights sent evidence, also as a multiple of the duration. */
  weightsQuickMs: 100,
  weightsQuickFactor: 10,
  weightsRestFactor: 4,
  /** A computation that takes longer is considered hung, and its worker is replaced. */
  weightsTimeoutMs: 120_000,

  // Owner of a data folder
  heartbeatMs: 2_000,
  /** An owner that cannot be identified (another PID namespace or host) counts as dead after this much silence. */
  ownerSilentMs: 7_000,
  /** `sun_path` of a Unix socket has 107 bytes; longer paths are truncated silently. */
  socketPathBytes: 107,

  // Dashboard
  dashboardBeatMs: 2_000,
  paceSamplesMax: 1_800,
  paceWindowSamples: 6,
  /** Samples of weights, for a day. */
  weightSamplesMax: 1_440,
  weightSampleMs: 60_000,
  /** Players that one request for those with a verdict reads: a few ms. */
  playersReadMax: 5_000,
  /** Entries of the audit log that one request for those of an actor reads. */
  auditReadMax: 20_000,
  verdictChangesMax: 200,
  /** Minimum pause between two counts of verdicts, in ms and as a multiple of the duration of the last count. */
  verdictsRestMs: 5_000,
  verdictsRestFactor: 20,
  passwordLengthMin: 12,
  passwordLengthMax: 256,
  operatorNameLength: 64,
  sessionsMax: 64,
  dashboardProxyHostsMax: 16,
  sessionMs: 12 * HOUR_MS,
  /** Failed sign-ins within `signInWindowS`, from one address and from all addresses together. */
  signInFailuresPerAddress: 10,
  signInFailuresTotal: 100,
  signInWindowS: 900,

  // Verdict stream
  streamReadersMax: 2_048,
  streamReadersPerPeer: 16,
  /** Smallest change of a score since its last published value that is published. */
  streamScoreStep: 1,
  /** Records that are read for a reader that comes from another node; with more of them the reader begins anew. */
  streamResumeRecordsMax: 50_000,
  /** Time for this node to apply the records that such a reader knows, and interval of checks. */
  streamBehindMs: 5_000,
  streamBehindLookMs: 50,
  streamConfidenceStep: 0.05,
  /** Rows of one frame, about 140 bytes each. */
  streamFrameRows: 500,
  streamFrameBytes: 128 * KiB,
  streamLookedAtRows: 65_536,
  /** Rows changed since the last piece that are tracked one by one; beyond the bound all rows are read. */
  streamTouchedRows: 65_536,
  /** Changes kept in memory for readers with a short disconnection, and how many of them are sent without the pool. */
  streamRingRows: 32_768,
  streamAtOnceRows: 1_000,
  streamIntervalPeersMin: 5,
  streamIntervalMsDefault: 1_000,
  streamIntervalMsMax: 60_000,
  /** Interval of the check for changes, and the pause between two pieces while there are more. */
  streamTickMs: 250,
  streamPaceMs: 20,
  /** Time in which one turn of the event loop writes to readers. */
  streamSliceMs: 4,
  streamLingerMs: 30_000,
  streamHeartbeatMs: 5_000,
  streamBeatMs: 1_000,
  /** Unread bytes of a reader; beyond the bound the reader is disconnected. */
  streamUnreadBytes: 512 * KiB,
  streamEndMs: 2_000,
  streamRetryMs: 1_000,

  // Rate limits
  rateLimitPerSecondMax: 1_000_000,
  /** Callers that are counted separately within a second; all further callers are counted together. */
  rateLimitCallersMax: 65_536,

  // Cluster
  etcdEndpointsMax: 16,
  etcdPrefixLength: 128,
  clusterSecretBytesMin: 32,
  /** Time limits of one attempt of a call at one member of etcd, and of a call with its attempts at other members. */
  etcdTryMs: 800,
  etcdCallMs: 2_000,
  etcdRetryMs: 50,
  /** Time limits of a compaction, and of a defragmentation, during which the member answers no other call. */
  etcdSlowCallMs: 10_000,
  etcdDefragmentMs: 60_000,
  /** Bytes of one value in etcd, which takes requests of 1.5 MiB by default; a longer batch is cut into parts. */
  slotPartBytes: 1_000_000,
  slotPartsMax: 16,
  slotsRead: 64,
  noLeaderRetryAfterS: 2,
  /** Longest time that a change waits for a leader; the default lease is shorter. */
  leaderWaitMs: 4_000,
  /** Changes that may wait for a leader. They all connect to it at once. */
  leaderWaitingMax: 256,
  /** Interval of the look for a leader, and pause before one that was not reached is tried again. */
  leaderLookMs: 50,
  leaderRetryMs: 500,
  /** Events and bytes of one turn in a cluster, and of a request with commands: a larger one takes longer than two. */
  clusterTurnEvents: 400,
  clusterTurnBytes: 128 * KiB,
  appendPatienceMs: 1_500,
  /** Commands of a node's callers in progress at the leader, each of which may take a connection. */
  linkForwardsMax: 96,
  /** Further ones, each the only one of its holder, so that a few holders cannot keep out the next. */
  linkFirstForwardsMax: 24,
  /** Connections from other nodes, and the time for which one may be idle. */
  linkConnectionsMax: 1_024,
  /** Connections whose handshake has not ended: of one address, in all, and the time for which one may take. */
  linkHandshakesPerAddressMax: 512,
  linkHandshakesMax: 1_024,
  linkHandshakeMs: 2_000,
  /** Refused requests for a tunnel, of all callers, that get an answer; the connections of further ones are reset. */
  tunnelsAnsweredPerS: 100,
  /** Proofs of connections that are remembered so that none is accepted twice. */
  linkProofsMax: 65_536,
  linkIdleMs: 60_000,
  /** Time without progress after which an answer that is being sent is given up. */
  linkSilentMs: 5_000,
  /** Bound on the body of an answer other than to commands; it is large only for a list that an operator asked for. */
  linkAnswerBytes: 64 * MiB,
  linkConnectMs: 1_500,
  linkHeadBytes: 4 * KiB,
  linkBodyBytes: 4 * MiB,
  /** Margin of a lease for clocks and pauses: the holder stops before others see its end. */
  leaseMarginMs: 500,
  leaseLookMs: 50,
  /** Interval at which a node asks whether it is up to date, and interval at which it reports how far it is. */
  clusterPollMs: 250,
  clusterReportMs: 1_000,
  /** Time for which a node that gave up leadership leaves it to others. */
  stepDownMs: 10_000,
  /** Interval of the leader's look for slots to delete, and the time or bytes after which it deletes them. */
  trimLookMs: 250,
  trimEveryMs: 2_000,
  trimEveryBytes: 16 * MiB,
  /** Newest slots that stay in any case: a node that was away for a moment resumes from them. */
  slotsRetained: 1_000,
  slotsRetainedPressed: 100,
  slotsKnownMax: 1_000_000,
  etcdQuotaBytes: 2_048 * MiB,
  etcdQuotaBytesMin: 64 * MiB,
  etcdQuotaBytesMax: 8_192 * MiB,
  /** If a larger part of the quota is in use, no node is waited for. */
  etcdPressedPart: 0.5,
  /** If the files take a larger part of the quota although less is in use, the members are defragmented. */
  etcdFragmentedPart: 0.6,
  etcdDefragmentEveryMs: 60_000,
  /** Larger files refuse writes until they are below the second part. At the quota etcd refuses leases too. */
  etcdFullPart: 0.8,
  etcdRoomPart: 0.7,
  /** The nodes' reports accumulate in etcd until it compacts, also while no slot is deleted. */
  etcdCompactEveryMs: 60_000,
  /** Time for another node to overwrite the records that an erasure replaced. */
  scrubNodeMs: 60_000,
  /** Time for a stopping node to hand over its leadership, and again to end its lease; calls to etcd are then ended. */
  clusterEndMs: 1_000,
  /** Longest wait until a forwarded change is applied here, or an operator's change on the other nodes. */
  appliedWaitMs: 1_000,
  forwardMs: 30_000,
  /** Time for an earlier leader that still lives to answer the commands that were forwarded to it. */
  forwardGraceMs: 1_500,
  etcdStartMs: 30_000,
  etcdOwnStartMs: 5_000,
  /** Size and rate of the pieces in which a node sends its data to one that joins, and time limit of each. */
  copyPieceBytes: 512 * KiB,
  copyBytesPerS: 96 * MiB,
  copyAnswerMs: 10_000,
  copySnapshotTries: 3,
  /** Longest time that an erasure waits for a joining node, which needs the slots that the erasure deletes. */
  joinHoldMs: 10 * 60_000,
  /** Interval at which a node looks for replaced bytes in its free space that no leader asked it to overwrite. */
  scrubOwnEveryMs: 60_000,
  /** Time for which a node collects batches for one commit, and the most bytes that it collects. */
  storeDelayMs: 50,
  storeWaitingBytes: 1 * MiB,
  /** Bytes of the batches that may wait until players of an erasure before them are forgotten. */
  storeBehindErasureBytes: 16 * MiB,
  joinRetryMs: 2_000,
  /** Longest time that a caller with an unknown key waits until the node knows that it is up to date. */
  refreshMs: 2_000,
  nodeIdLength: 63,
  /** etcd's defaults: entries between snapshots, files that are kept once a snapshot follows them, their size. */
  walSnapshotEntries: 100_000,
  walSnapshotEntriesMax: 10_000_000,
  walFiles: 5,
  walFilesMax: 100,
  walFileBytes: 64 * MiB,
  walFillBytesMax: 64 * KiB,
  /** Bytes after which the database is compacted to the step before, so that its quota is not reached. */
  walCompactBytes: 8 * MiB,
  walMarkerBytes: 32,
  /** etcd deletes old files every 30 s. */
  walPurgeMs: 90_000,
  walSearchEveryMs: 5_000,
  /** Hour (UTC) of the nightly scrub, and interval at which the leader checks whether it is due. */
  scrubHourUtc: 3,
  scrubLookMs: 60_000,
  walFillBytes: 3_600,
  /** More if an entry takes less than `walFastMs`, fewer above `walSlowMs`, so that leases are not delayed. */
  walAtOnceMin: 4,
  walAtOnceFirst: 16,
  walAtOnceMax: 128,
  walFastMs: 25,
  walSlowMs: 100,
  /** Time limit of writing one of these entries, which wait for one another. */
  walPutMs: 60_000,
  scrubMs: HOUR_MS,
  leaseSDefault: 3,
  /** Shortest lease that etcd grants with its default election timeout. */
  leaseSMin: 2,
  leaseSMax: 60,
  stalenessMaxMsDefault: 5_000,
  stalenessMaxMsMin: 500,
  stalenessMaxMsCeiling: HOUR_MS,

  saltBytesMin: 16,
  sessionSecretBytesMin: 32,
  sessionCookieLength: 4_096,
} as const;

export const serverBounds = {
  maxHeaderSize: limits.parserHeadBytes,
  headersTimeout: limits.headersTimeoutMs,
  requestTimeout: limits.requestTimeoutMs,
  keepAliveTimeout: limits.keepAliveTimeoutMs,
  connectionsCheckingInterval: limits.connectionsCheckingIntervalMs,
} as const;

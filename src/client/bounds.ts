/** Bounds and defaults of the client and `ptf-peer`; those of the service are repeated, and a test compares them. */

const KiB = 1024;
const MiB = 1024 * KiB;
const MINUTE_MS = 60_000;

export const bounds = {
  scoresPerCall: 128,
  eventsPerCall: 500,
  playerIdLength: 128,
  saltBytesMin: 16,
  eventIdLength: 128,

  /** Length of an id that is hashed here, in UTF-16 units: identity tokens are long, but only their hash is sent. */
  hashedIdLength: 8_192,

  /** Bytes of encoded ids in one call; well below the 33 KiB that the node accepts as a request head. */
  idsBytes: 24 * KiB,
  /** The least bytes of ids in one call, after a proxy has refused longer addresses. */
  idsBytesMin: KiB,
  /** Bytes of events in one call; below the 1 MiB that the node accepts as a body. */
  batchBytes: 1_000_000,
  answerBytes: 8 * MiB,
  connections: 16,
  nodes: 16,
  /** Time limit of one attempt at a node while another node remains to be tried. */
  failoverAttemptMs: 2_000,
  /** How long after a read later answers must not be older: twice the default staleness of a node. */
  readFloorMs: 10_000,
  /** Below the 5 s after which the node closes an idle connection. */
  keepAliveMs: 4_000,
  readBudgetMs: 100,
  attemptMs: 5_000,
  deadlineMs: 15_000,
  closeMs: 5_000,
  /** Longest delay of a platform timer, which treats a longer one as 1 ms. */
  timerMsMax: 2 ** 31 - 1,

  backoffBaseMs: 50,
  backoffCapMs: 5_000,
  breakerFailures: 5,
  breakerOpenMs: 500,
  breakerOpenMaxMs: 5_000,

  /** Pause before the node is asked again after a salt mismatch. */
  saltRecheckMs: MINUTE_MS,

  /** How long an event of a spool waits for the node to state the group's kinds of ids. */
  kindsWaitMs: 1_000,

  playersMaxDefault: 100_000,
  /** Age beyond which an answer no longer serves as a fallback. */
  lastKnownMs: 15 * MINUTE_MS,

  streamFrameBytes: 1 * MiB,
  streamIdLength: 128,
  /** Silence after which a stream counts as lost, in heartbeats. */
  streamSilentHeartbeats: 2.5,
  /** Time without news after which a stream counts as lost although it sends comments, in heartbeats. */
  streamIdleHeartbeats: 10,
  streamHeartbeatMsMax: 60_000,
  /** Time limit of connecting and of the wait for the first event. */
  streamOpenMs: 10_000,
  streamBackoffBaseMs: 250,
  streamBackoffCapMs: 30_000,
  /** Pause after a refusal that only an operator can resolve: 401, 403, 404. */
  streamRefusedMs: MINUTE_MS,
  /** Upper bound of a requested pause of the stream, against absurd values and a wrong clock. */
  streamRetryAfterMsMax: MINUTE_MS,

  spoolBytes: 256 * MiB,
  spoolSegmentBytes: 4 * MiB,
  /** Events that share one sync. */
  spoolGroupEvents: 4_096,
  spoolGroupBytes: 4 * MiB,
  spoolEventBytes: 16 * KiB,
  spoolSetAsideBytes: 16 * MiB,
  spoolBackoffBaseMs: 250,
  spoolBackoffCapMs: 30_000,
  spoolRefusedMs: 30_000,
  /** Upper bound of a requested pause of the spool: longer than for the stream, because no caller waits. */
  spoolRetryAfterMsMax: 5 * MINUTE_MS,
  /** How often to retry to acquire a folder whose owner may be about to exit. */
  spoolAcquireTries: 5,
  spoolAcquirePauseMs: 50,
  /** `sun_path` of a Unix socket holds 107 bytes; longer paths are truncated silently. */
  socketPathBytes: 107,

  allowListEntries: 10_000,

  /** Size of a configuration, secret or state file, each of which is read whole. */
  peerFileBytes: 64 * KiB,
  peerCallMs: 4_000,
  peerDeadlineMs: 5_000,
  /** Pages of 200 peers, enough for the largest group. */
  peerPagesMax: 50,
  clockToleranceMs: 60_000,

  /** Size of a list, which is read whole: a million bans in the largest format. */
  importFileBytes: 256 * MiB,
  importSpoolBytes: 8 * MiB,
  /** Events that are added to the spool before the position is saved. */
  importStepEvents: 1_000,
  /** How long the node may accept nothing before the import ends; the next import sends the events that are on disk. */
  importStallMs: 30_000,

  /** Time limit of one read call while a list is exported. */
  exportReadMs: 15_000,
  /** How often a followed list is computed again. */
  followMs: 10_000,

  sidecarBodyBytes: 64 * KiB,
  sidecarHeadBytes: 33 * KiB,
  sidecarConnections: 256,
  sidecarRequestMs: 10_000,
  /** Players in one read, as in one match read of the node. */
  sidecarReadPlayers: 128,
  sidecarTokenLength: 256,
  personIds: 16,
  /** How long a ban lasts that the sidecar answers to a game server, which asks again before. */
  answeredBanS: 86_400,
  allowFileBytes: 16 * MiB,
  allowNoteLength: 500,
  /** How often states are checked for the log. */
  sidecarWatchMs: 1_000,

  /** Characters of a line, a row, an entry or a value of a list. */
  listCell: 256 * KiB,
  /** Values of a row of a dump, and of a block in KeyValues. MySQL allows as many columns. */
  listValues: 4_096,
  /** Levels of nesting of a list in JSON. */
  listDepth: 64,
  /** Names of cells that a watch remembers of a list. */
  listNames: 65_536,

  listBytes: 256 * MiB,
  listPollMs: 250,
  /** How long a list must stay unchanged before a missing ban counts as lifted. */
  listLiftMs: 2_000,
  /** How long a list must not change before a last line without a break, or an empty file, counts as whole. */
  listTailMs: 10_000,
  /** Time limit of one read of a list from an address or a command, and how often such a list is read. */
  sourceMs: 60_000,
  sourcePollMs: 60_000,
  watchStateBytes: 128 * MiB,
  withdrawPauseMs: 5_000,

  relayStateBytes: 256 * MiB,
  /** The journal is rewritten once it has more lines than this and more than two per player. */
  relayJournalLines: 10_000,
  webhookAnswerMs: 15_000,
  webhookBackoffBaseMs: 1_000,
  webhookBackoffCapMs: 5 * MINUTE_MS,
  /** How often a message that the receiver rejects as invalid is sent before it is set aside. */
  webhookTriesMax: 5,
} as const;

/**
 * Every bound and default of the client, with its unit in the name. The client stands aside from the service, so the
 * bounds that both share stand here too, and a test holds the two tables together.
 */

const KiB = 1024;
const MiB = 1024 * KiB;
const MINUTE_MS = 60_000;

export const bounds = {
  // The contract's
  scoresPerCall: 128,
  eventsPerCall: 500,
  playerIdLength: 128,
  saltBytesMin: 16,
  eventIdLength: 128,

  /** Of an id that is hashed here, in UTF-16 units: identity tokens are long, and do not travel. */
  hashedIdLength: 8_192,

  // Calls
  /** Encoded ids in one call, well below the 33 KiB that the node takes as a head. */
  idsBytes: 24 * KiB,
  /** Events in one call, below the 1 MiB that the node takes as a body. */
  batchBytes: 1_000_000,
  answerBytes: 8 * MiB,
  connections: 16,
  /** Nodes that one client may be given. */
  nodes: 16,
  /** One attempt at a node while another is left to ask; and one look whether the preferred node is well again. */
  failoverAttemptMs: 2_000,
  /** How long no answer may be older than what was read before: twice the default staleness of a node. */
  readFloorMs: 10_000,
  /** Below the 5 s after which the node closes a quiet connection. */
  keepAliveMs: 4_000,
  readBudgetMs: 100,
  attemptMs: 5_000,
  deadlineMs: 15_000,
  closeMs: 5_000,
  /** What a timer of the platform holds; it takes anything above for 1 ms. */
  timerMsMax: 2 ** 31 - 1,

  // Retries and the circuit breaker
  backoffBaseMs: 50,
  backoffCapMs: 5_000,
  breakerFailures: 5,
  breakerOpenMs: 500,
  breakerOpenMaxMs: 5_000,

  /** After a salt that is not the group's was found, until the node is asked again. */
  saltRecheckMs: MINUTE_MS,

  /** How long a spool's event waits for the node to say how the group spells ids. */
  kindsWaitMs: 1_000,

  // What is kept of players
  playersMaxDefault: 100_000,
  /** An answer older than this is no fallback any more. */
  lastKnownMs: 15 * MINUTE_MS,

  // The stream
  streamFrameBytes: 1 * MiB,
  streamIdLength: 128,
  /** Silence after which a stream counts as lost, in its heartbeats. */
  streamSilentHeartbeats: 2.5,
  /** The same where it lives, by comments or what this client does not know, and tells nothing. */
  streamIdleHeartbeats: 10,
  streamHeartbeatMsMax: 60_000,
  /** To connect, and until the first event. */
  streamOpenMs: 10_000,
  streamBackoffBaseMs: 250,
  streamBackoffCapMs: 30_000,
  /** How often a feed that reads from another node asks whether the preferred one is ready. */
  streamPreferMs: 15_000,
  /** Pause after a refusal that only an operator can lift: 401, 403, 404. */
  streamRefusedMs: MINUTE_MS,
  /** What a node, or a date read by a clock that is wrong, may have the stream wait; beside what chance adds. */
  streamRetryAfterMsMax: MINUTE_MS,

  // The spool
  spoolBytes: 256 * MiB,
  spoolSegmentBytes: 4 * MiB,
  /** Events that wait for one sync. */
  spoolGroupEvents: 4_096,
  spoolGroupBytes: 4 * MiB,
  spoolEventBytes: 16 * KiB,
  spoolSetAsideBytes: 16 * MiB,
  spoolReadBytes: 1 * MiB,
  spoolBackoffBaseMs: 250,
  spoolBackoffCapMs: 30_000,
  spoolRefusedMs: 30_000,
  /** As `streamRetryAfterMsMax`: the spool has nobody who waits for it. */
  spoolRetryAfterMsMax: 5 * MINUTE_MS,
  /** How often a folder is asked for whose owner may just be going. */
  spoolClaimTries: 5,
  spoolClaimPauseMs: 50,
  /** `sun_path` of a Unix socket holds 107 bytes, and is cut in silence beyond. */
  socketPathBytes: 107,

  // Policy
  allowListEntries: 10_000,

  // The command ptf-peer
  /** Of a configuration, a secret or a state that is read whole. */
  peerFileBytes: 64 * KiB,
  peerCallMs: 4_000,
  peerDeadlineMs: 5_000,
  /** Pages of 200 peers until a group's largest number of peers is through. */
  peerPagesMax: 50,
  clockToleranceMs: 60_000,

  // Imports of ban lists
  /** Of a list, which is read whole: a million bans in the widest format. */
  importFileBytes: 256 * MiB,
  /** Of the spool of an import. */
  importSpoolBytes: 8 * MiB,
  /** Events that are put into the spool before the place is written down. */
  importStepEvents: 1_000,
  /** How long the node may take nothing before the import ends; what is on disk waits for the next one. */
  importStallMs: 30_000,

  /** What a read of one call takes, at most, where a list waits for it. */
  exportReadMs: 15_000,

  // The sidecar
  sidecarBodyBytes: 64 * KiB,
  sidecarHeadBytes: 33 * KiB,
  sidecarConnections: 256,
  sidecarRequestMs: 10_000,
  /** Players in one read, as in one match read of the node. */
  sidecarReadPlayers: 128,
  sidecarTokenLength: 256,
  allowFileBytes: 16 * MiB,
  allowNoteLength: 500,
  /** How often states are looked at for the log. */
  sidecarWatchMs: 1_000,

  // Following a ban list
  listBytes: 256 * MiB,
  listPollMs: 250,
  /** How long a list must lie still before what is missing from it counts as lifted. */
  listLiftMs: 2_000,
  /** The same before a last line without a line break counts as whole, and an empty file as a list. */
  listTailMs: 10_000,
  /** Bans that may be lifted at once; beyond, not more than half of all. */
  listLiftsMin: 5,
  watchStateBytes: 128 * MiB,
  withdrawPauseMs: 5_000,

  // Relaying verdicts
  relayStateBytes: 256 * MiB,
  /** Lines of the journal beyond which, and beyond twice as many as players, it is written anew. */
  relayJournalLines: 10_000,
  webhookAnswerMs: 15_000,
  webhookBackoffBaseMs: 1_000,
  webhookBackoffCapMs: 5 * MINUTE_MS,
  /** How often a message that the receiver finds at fault is sent before it is set aside. */
  webhookTriesMax: 5,
} as const;

/**
 * Re-exports the parts of the client that `ptf-peer` uses beside the public entry, because it is shipped with the
 * client in one version. `peer/` imports no other file of `client/` than the entry and this one.
 */
export { bounds } from './bounds.js';
export { VerdictFeed } from './feed/live-feed.js';
export type { StreamTable } from './feed/stream-frames.js';
export { saltCheckOf } from './ids/salt-check.js';
export { secretText } from './ids/subject.js';
export { isRecord, jsonIn } from './json-text.js';
export { Caller, readText, retryAfterMs } from './transport/caller.js';
export { abortable } from './transport/listeners.js';
export { ReadFloor } from './transport/read-floor.js';
export { AgeClock, fullJitterMs, pause, systemRuntime } from './transport/time.js';
export { answerOf } from './transport/transport.js';
export { isRetryable } from './trust-error.js';
export { acquireFolder, isAnswered } from './write/spool/folder-owner.js';
export { syncFolder } from './write/spool/journal.js';
export { inspectSpool } from './write/spool/spool-record.js';

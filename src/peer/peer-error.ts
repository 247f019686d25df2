/** Declares the only error type of `ptf-peer`. An error never contains a key, a salt or a raw player id. */
import { TrustError } from '../client/entry.js';
import { isRetryable } from '../client/for-peer.js';

/** 0 done, 1 some lines or checks refused, 2 wrong usage, 3 node, peer or disk failed, 4 format unknown. */
export type ExitCode = 0 | 1 | 2 | 3 | 4;

export class PeerError extends Error {
  override readonly name = 'PeerError';

  constructor(
    readonly code: string,
    message: string,
    readonly exitCode: ExitCode = 2,
  ) {
    super(message);
  }
}

export function wrongUsage(message: string): PeerError {
  return new PeerError('wrong_usage', message, 2);
}

/** Runs calls of a command to the node at `url`; converts their errors into errors of the command in plain words. */
export async function talkingTo<T>(url: string, calls: () => Promise<T>): Promise<T> {
  try {
    return await calls();
  } catch (error) {
    if (!(error instanceof TrustError)) throw error;
    throw new PeerError(error.code, plainWords(error, url), endOf(error).exitCode);
  }
}

/** Converts a client's error: codes of what the user gave are wrong usage, any other code has exit code 3. */
export function endOf(error: TrustError): PeerError {
  const { code, message } = error;
  const why = diskFault(error);
  const text = why === undefined ? message : `${message}: ${why}`;
  return new PeerError(code, text, code === 'invalid_argument' || code === 'salt_mismatch' ? 2 : 3);
}

const noPermission = 'make this user the owner of the file and its folder';
const diskWords: Readonly<Record<string, string>> = {
  ENOSPC: 'the disk is full (ENOSPC): free disk space',
  EDQUOT: 'the disk quota of this user is used up (EDQUOT): free disk space',
  EACCES: `this user has no permission (EACCES): ${noPermission}`,
  EPERM: `this user has no permission (EPERM): ${noPermission}`,
  EROFS: 'the disk is read-only (EROFS): mount it for writing, or give another state_dir',
  EIO: 'the disk failed (EIO): check it, and the log of the system',
};

/** Says in plain words why the disk failed; undefined for any other error. `path`: instead of that of the error. */
function diskFault(error: unknown, path?: string): string | undefined {
  const cause = error instanceof TrustError && error.code === 'spool_failed' ? error.cause : error;
  if (!(cause instanceof Error)) return undefined;
  const { code = '', path: own } = cause as NodeJS.ErrnoException;
  const where = path ?? own;
  const text = diskWords[code];
  return text === undefined || where === undefined ? text : `${where}: ${text}`;
}

/** Converts an error of the disk, which has the code of a spool that failed; undefined for any other error. */
export function diskError(error: unknown, path?: string): PeerError | undefined {
  const why = diskFault(error, path);
  return why === undefined ? undefined : new PeerError('spool_failed', why, 3);
}

const words: Readonly<Record<string, string>> = {
  missing_api_key: 'no key was sent: give ptf-peer the key that registration showed',
  invalid_api_key: 'the node does not know this key: give ptf-peer the key that registration showed',
  peer_not_active: "the group's operator has suspended or revoked this peer: ask the operator",
  peer_id_mismatch: 'the key belongs to another peer: peer_id and api_key must come from one registration',
  unknown_peer: 'the group has no peer with this peer_id: register, or correct peer_id',
  game_id_not_registered: 'this peer is not registered for the game: correct game_ids, or register with the game',
  signature_missing: 'this peer must sign its requests: give ptf-peer its signing key',
  signature_invalid: 'the signature is not that of this peer: give ptf-peer the signing key that belongs to it',
  signature_expired: 'the signature is too old for the node: correct the clock of this machine',
  spool_in_use: 'another process uses this folder: stop it, or give this one a state_dir of its own',
  spool_failed: 'the disk failed or is full: free disk space, or make this user the owner of the folder',
};

/** Returns one sentence without a secret. `url`: the node's address. */
export function plainWords(error: TrustError, url: string): string {
  if (error.cause instanceof PeerError) return error.cause.message;
  const known = diskFault(error) ?? words[error.code];
  if (known !== undefined) return known;
  if (error.status === undefined && isRetryable(error)) return `the node at ${url} does not answer: ${error.message}`;
  return error.message;
}

/** Returns one sentence about events that the node stored and that change no score. */
export function uncountedText(count: number): string {
  const events = count === 1 ? '1 event is' : `${count} events are`;
  return `${events} older than 20 half-lives or of severity 0: stored, but no evidence`;
}

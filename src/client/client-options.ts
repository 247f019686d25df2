/** Declares the options of a client, checks them and fills in their defaults. */
import { isKind, kindsExpected } from '../player-ids/kinds.js';
import { bounds } from './bounds.js';
import type { Fallback } from './call-types.js';
import { secretText } from './ids/subject.js';
import { checkFallback } from './read/score-reader.js';
import { poolTransport } from './transport/pool-transport.js';
import { requestSigner } from './transport/request-signer.js';
import { isTime, type Runtime, systemRuntime } from './transport/time.js';
import type { Transport } from './transport/transport.js';
import { invalidArgument } from './trust-error.js';

/** The options of a {@link TrustClient}. @public */
export interface TrustClientOptions {
  /**
   * The node's address, such as `https://trust.example.net`, with a path if the node is behind one; without
   * credentials, query or fragment. For a cluster, the addresses of its nodes: the first is preferred, and the others
   * are tried in order while it fails.
   */
  readonly url: string | readonly string[];
  /** The peer's id; required to submit. */
  readonly peerId?: string | undefined;
  /**
   * The peer's key; required to submit, withdraw, erase and follow the stream, unless the node runs without
   * authentication.
   */
  readonly apiKey?: string | undefined;
  /**
   * The peer's private Ed25519 key as PEM (PKCS #8), if the node knows its public key: every write is signed with it.
   * See {@link generateSigningKey}. A proxy before the node must not change the path that the contract names.
   */
  readonly signingKey?: string | undefined;
  /**
   * The group's salt, at least 16 bytes; one final line break is removed. With the salt, the client hashes every player
   * id, so that no raw id leaves the game server, and the cache can look players up by the ids that the game uses.
   * Without it ids are sent as they are, unless they are subject hashes already.
   */
  readonly groupSalt?: string | undefined;
  /**
   * The kinds of player ids that the group accepts, such as `['steam']`: every id is converted to its canonical form,
   * see {@link normalizePlayerId}. If absent, a client with a salt reads them from the node at the first contact;
   * events that a spool accepts earlier are hashed as written. Null: ids are never changed.
   */
  readonly playerIdKinds?: readonly string[] | null | undefined;
  /** Time budget of a read before it falls back, in ms. Default: 100. */
  readonly readBudgetMs?: number | undefined;
  /** The answer of a read if the node does not answer in time. Default: `last-known`. */
  readonly fallback?: Fallback | undefined;
  /** Time limit of one attempt of any other call that may be sent again, in ms. Default: 5,000. */
  readonly attemptMs?: number | undefined;
  /** Time limit of any other call with all of its attempts, in ms. Default: 15,000. */
  readonly deadlineMs?: number | undefined;
  /** Number of players to remember, for the cache and for fallbacks, at roughly 300 bytes each. Default: 100,000. */
  readonly playersMax?: number | undefined;
  /**
   * How requests are sent. Default: undici's connection pool. Each of several nodes needs a transport of its own: pass
   * a function that makes one from the address, such as {@link poolTransport}.
   */
  readonly transport?: Transport | ((url: string) => Transport) | undefined;
  /** Time and randomness; for tests. Default: those of the system. */
  readonly runtime?: Runtime | undefined;
}

export type Settings = Readonly<ReturnType<typeof settingsOf>>;

/** Throws `invalid_argument` for an invalid option. */
export function settingsOf(options: TrustClientOptions) {
  const urls = urlsOf(options.url);
  const { apiKey, groupSalt, signingKey, runtime = systemRuntime } = options;
  const settings = {
    peerId: options.peerId,
    apiKey: apiKey === undefined ? undefined : secretText('apiKey', apiKey),
    /** Null if writes are not signed. */
    signer: signingKey === undefined ? null : requestSigner(signingKey, options.peerId, runtime),
    groupSalt: groupSalt === undefined ? undefined : secretText('groupSalt', groupSalt),
    /** Undefined: the kinds that the node states. */
    playerIdKinds: options.playerIdKinds,
    readBudgetMs: options.readBudgetMs ?? bounds.readBudgetMs,
    fallback: options.fallback ?? 'last-known',
    attemptMs: options.attemptMs ?? bounds.attemptMs,
    deadlineMs: options.deadlineMs ?? bounds.deadlineMs,
    playersMax: options.playersMax ?? bounds.playersMaxDefault,
    /** One per node, the preferred one first. */
    transports: transportsOf(urls, options.transport),
    runtime,
  };
  for (const name of ['readBudgetMs', 'attemptMs', 'deadlineMs'] as const) {
    if (!(isTime(settings[name]) && settings[name] > 0)) {
      throw invalidArgument(`${name} must be a number above 0 and at most ${bounds.timerMsMax}`);
    }
  }
  checkFallback(settings.fallback);
  const kinds = settings.playerIdKinds ?? null;
  if (kinds !== null && !(Array.isArray(kinds) && kinds.length > 0 && kinds.every(isKind))) {
    throw invalidArgument(`playerIdKinds ${kindsExpected}`);
  }
  if (settings.groupSalt !== undefined && Buffer.byteLength(settings.groupSalt) < bounds.saltBytesMin) {
    throw invalidArgument(`groupSalt must be the group's, at least ${bounds.saltBytesMin} bytes`);
  }
  if (!(settings.playersMax > 0)) throw invalidArgument('playersMax must be above 0');
  // A header cannot carry any other key, and the platform's error would contain it.
  if (settings.apiKey !== undefined && !/^[\x21-\x7e]+$/.test(settings.apiKey)) {
    throw invalidArgument('apiKey must consist of printable characters without blanks');
  }
  return settings;
}

function urlsOf(url: string | readonly string[]): readonly string[] {
  const urls = [url].flat();
  if (urls.length === 0 || urls.length > bounds.nodes)
    throw invalidArgument(`url must be 1 to ${bounds.nodes} addresses`);
  for (const one of urls) {
    if (typeof one !== 'string' || !/^https?:\/\//.test(one) || !URL.canParse(one))
      throw invalidArgument('url must be an http or https address, such as https://trust.example.net');
  }
  if (new Set(urls.map((one) => new URL(one).href)).size < urls.length)
    throw invalidArgument('url must not name the same address twice');
  return urls;
}

function transportsOf(
  urls: readonly string[],
  transport: Transport | ((url: string) => Transport) = poolTransport,
): readonly Transport[] {
  if (typeof transport === 'function') return urls.map((url) => transport(url));
  if (urls.length > 1)
    throw invalidArgument('transport must be a function of the address if url has several addresses');
  return [transport];
}

/** What a client is told when it is made, and how what is left out is filled in. */
import { bounds } from './bounds.js';
import { secretText } from './ids/secret.js';
import { checkFallback, type Fallback } from './read/score-reader.js';
import { poolTransport } from './transport/pool-transport.js';
import { RequestSigner } from './transport/request-signer.js';
import { isTime, type Runtime, systemRuntime } from './transport/runtime.js';
import type { Transport } from './transport/transport.js';
import { TrustError } from './trust-error.js';

/**
 * The options of a {@link TrustClient}.
 * @public
 */
export interface TrustClientOptions {
  /**
   * The node's address, such as `https://trust.example.net`, with a path where it stands behind one; without
   * credentials, query or fragment. Of a cluster the addresses of its nodes: the first is preferred, the others are
   * asked in their order while it fails.
   */
  readonly url: string | readonly string[];
  /** The peer's id; needed to submit. */
  readonly peerId?: string | undefined;
  /**
   * The peer's key; needed to submit, withdraw, erase and follow the stream, unless the node runs without
   * authentication.
   */
  readonly apiKey?: string | undefined;
  /**
   * The peer's private Ed25519 key as PEM (PKCS #8), where the node knows its public key: every write is signed with
   * it. See {@link generateSigningKey}. Behind a proxy the node must see the path that the contract names.
   */
  readonly signingKey?: string | undefined;
  /**
   * The group's salt, at least 16 bytes; one final line break is removed. With it every player id is hashed here, so
   * that none leaves the game server, and the cache can look players up by the ids that the game knows. Without it ids
   * travel as they are, unless they are subject hashes already.
   */
  readonly groupSalt?: string | undefined;
  /**
   * The kinds of player ids that the group takes, such as `['steam']`: every id is brought into its canonical form, see
   * {@link normalizePlayerId}. Where it is left out, a client with a salt takes them from the node at the first
   * contact; events that a spool takes before it are then hashed as they are written. Null: ids are never changed.
   */
  readonly playerIdKinds?: readonly string[] | null | undefined;
  /** The group that the stream must be of; any where it is left out. */
  readonly groupId?: string | undefined;
  /** What a read may take before it falls back, in ms; 100 where it is left out. */
  readonly readBudgetMs?: number | undefined;
  /** What a read answers where the node does not; `last-known` where it is left out. */
  readonly fallback?: Fallback | undefined;
  /** What one attempt of any other call may take, in ms; 5,000 where it is left out. */
  readonly attemptMs?: number | undefined;
  /** What any other call may take with all of its attempts, in ms; 15,000 where it is left out. */
  readonly deadlineMs?: number | undefined;
  /**
   * Players that are remembered, for the cache and for fallbacks; 100,000 where it is left out. Roughly 300 bytes each.
   */
  readonly playersMax?: number | undefined;
  /**
   * How requests travel; undici's pool where it is left out. Of several nodes each needs its own: give what makes it
   * from the address, such as {@link fetchTransport}.
   */
  readonly transport?: Transport | ((url: string) => Transport) | undefined;
  /** Time and chance; the system's where they are left out. For tests. */
  readonly runtime?: Runtime | undefined;
}

/** The options with everything filled in. */
export interface Settings {
  readonly peerId: string | undefined;
  readonly apiKey: string | undefined;
  /** Null where writes are not signed. */
  readonly signer: RequestSigner | null;
  readonly groupSalt: string | undefined;
  /** Undefined: those that the node states. */
  readonly playerIdKinds: readonly string[] | null | undefined;
  readonly groupId: string | undefined;
  readonly readBudgetMs: number;
  readonly fallback: Fallback;
  readonly attemptMs: number;
  readonly deadlineMs: number;
  readonly playersMax: number;
  /** One per node, the preferred one first. */
  readonly transports: readonly Transport[];
  readonly runtime: Runtime;
}

/** Throws `invalid_argument` for an option that cannot be meant. */
export function settingsOf(options: TrustClientOptions): Settings {
  const urls = urlsOf(options.url);
  const { apiKey, groupSalt, signingKey, runtime = systemRuntime } = options;
  const settings: Settings = {
    peerId: options.peerId,
    apiKey: apiKey === undefined ? undefined : secretText('apiKey', apiKey),
    signer: signingKey === undefined ? null : new RequestSigner(signingKey, options.peerId, runtime),
    groupSalt: groupSalt === undefined ? undefined : secretText('groupSalt', groupSalt),
    playerIdKinds: options.playerIdKinds,
    groupId: options.groupId,
    readBudgetMs: options.readBudgetMs ?? bounds.readBudgetMs,
    fallback: options.fallback ?? 'last-known',
    attemptMs: options.attemptMs ?? bounds.attemptMs,
    deadlineMs: options.deadlineMs ?? bounds.deadlineMs,
    playersMax: options.playersMax ?? bounds.playersMaxDefault,
    transports: transportsOf(urls, options.transport),
    runtime,
  };
  for (const name of ['readBudgetMs', 'attemptMs', 'deadlineMs'] as const) {
    if (!(isTime(settings[name]) && settings[name] > 0)) {
      throw invalid(`${name} must be a number above 0 and at most ${bounds.timerMsMax}`);
    }
  }
  checkFallback(settings.fallback);
  if (settings.groupSalt !== undefined && Buffer.byteLength(settings.groupSalt) < bounds.saltBytesMin) {
    throw invalid(`groupSalt must be the group's, at least ${bounds.saltBytesMin} bytes`);
  }
  if (!(settings.playersMax > 0)) throw invalid('playersMax must be above 0');
  // A header cannot carry it, and an error of the platform would show it.
  if (settings.apiKey !== undefined && !/^[\x21-\x7e]+$/.test(settings.apiKey)) {
    throw invalid('apiKey must be printable characters without blanks');
  }
  return settings;
}

function urlsOf(url: string | readonly string[]): readonly string[] {
  const urls = typeof url === 'string' ? [url] : [...url];
  if (urls.length === 0 || urls.length > bounds.nodes) throw invalid(`url must be 1 to ${bounds.nodes} addresses`);
  for (const one of urls) {
    if (!/^https?:\/\//.test(one) || !URL.canParse(one)) throw invalid('url must be an address of http or https');
  }
  if (new Set(urls.map((one) => new URL(one).href)).size < urls.length) throw invalid('url names one address twice');
  return urls;
}

function transportsOf(
  urls: readonly string[],
  transport: Transport | ((url: string) => Transport) = poolTransport,
): readonly Transport[] {
  if (typeof transport === 'function') return urls.map((url) => transport(url));
  if (urls.length > 1) throw invalid('transport must be a function of the address where url has several');
  return [transport];
}

function invalid(text: string): TrustError {
  return new TrustError('invalid_argument', text);
}

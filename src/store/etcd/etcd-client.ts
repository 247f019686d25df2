/** Calls etcd. A call that fails or hangs is repeated at the next member, so every call must be safe to repeat. */
import { setTimeout as delay } from 'node:timers/promises';
import {
  Client,
  type ClientDuplexStream,
  type ClientUnaryCall,
  credentials,
  Metadata,
  type ServiceError,
  status,
} from '@grpc/grpc-js';
import { SharedLogUnavailableError } from '../../group/ports/shared-log.js';
import { limits } from '../../limits.js';
import * as etcd from './etcd-messages.js';

export interface EtcdSettings {
  /** URLs, all http or all https. */
  readonly endpoints: readonly string[];
  /** PEM; null: none. */
  readonly ca: Buffer | null;
  readonly cert: Buffer | null;
  readonly key: Buffer | null;
  readonly username: string | null;
  readonly password: string | null;
}

/** Status codes of failures that may not occur at another member, or in a later attempt. */
const passing: ReadonlySet<status> = new Set([
  status.UNAVAILABLE,
  status.DEADLINE_EXCEEDED,
  status.CANCELLED,
  status.INTERNAL,
  status.UNKNOWN,
  status.ABORTED,
]);

/** Tokens of one call: each of several changes of users in a row ages the one before. */
const tokensMax = 5;
/** Codes of refused tokens: of one that the member does not know, and after any change of etcd's users or roles. */
const ofTokens: ReadonlySet<unknown> = new Set([status.UNAUTHENTICATED, status.INVALID_ARGUMENT]);

export class EtcdClient {
  /** With the password: a private slot is in no log. */
  readonly #settings: EtcdSettings;
  readonly #clients: readonly Client[];
  readonly #first: number;
  /** The endpoint that answered last. */
  #current: number;
  /** The token of the next calls, which share it: etcd takes long to check a password. Null if none is asked for. */
  #token: Promise<Metadata> | null = null;
  readonly #calls = new Set<{ cancel(): void }>();
  isClosed = false;

  /** `first`: any number. Clients with different numbers begin with different members. */
  constructor(settings: EtcdSettings, first = 0) {
    this.#settings = settings;
    const { ca, cert, key } = settings;
    const isSecured = settings.endpoints[0]!.startsWith('https:');
    const secured = isSecured ? credentials.createSsl(ca, key, cert) : credentials.createInsecure();
    this.#clients = settings.endpoints.map((url) => new Client(new URL(url).host, secured, channelOptions));
    this.#first = first % this.#clients.length;
    this.#current = this.#first;
  }

  get endpoints(): readonly string[] {
    return this.#settings.endpoints;
  }

  range(request: etcd.RangeRequest, timeoutMs: number = limits.etcdCallMs): Promise<etcd.RangeResponse> {
    return this.#call('KV.Range', request, timeoutMs);
  }

  put(
    request: etcd.PutRequest,
    timeoutMs: number = limits.etcdCallMs,
    tryMs: number = limits.etcdTryMs,
  ): Promise<object> {
    return written(this.#call('KV.Put', request, timeoutMs, tryMs));
  }

  txn(request: etcd.TxnRequest, timeoutMs: number = limits.etcdCallMs): Promise<etcd.TxnResponse> {
    return written(this.#call('KV.Txn', request, timeoutMs));
  }

  /** Makes the database forget the values that keys had before a revision. */
  async compact(revision: string): Promise<void> {
    const request = { revision, physical: true };
    await this.#call('KV.Compact', request, limits.etcdSlowCallMs, limits.etcdSlowCallMs).catch((error: unknown) => {
      // An attempt whose answer was lost, a trim or a scrub may have compacted up to this revision or further.
      if (codeOf(error) !== status.OUT_OF_RANGE) throw error;
    });
  }

  /** Grants a lease under `id`, which no other caller may use. */
  async grantLease(id: string, ttlS: number): Promise<void> {
    await this.#call('Lease.LeaseGrant', { ID: id, TTL: ttlS }, limits.etcdCallMs).catch((error: unknown) => {
      // An earlier attempt, whose answer was lost, has granted the lease.
      if (codeOf(error) !== status.FAILED_PRECONDITION) throw error;
    });
  }

  async revokeLease(id: string): Promise<void> {
    await written(this.#call('Lease.LeaseRevoke', { ID: id }, limits.etcdCallMs)).catch((error: unknown) => {
      if (codeOf(error) !== status.NOT_FOUND) throw error;
    });
  }

  /** Renews a lease. Resolves to the seconds for which it is valid from now on; 0 if it has ended. */
  async keepAlive(id: string, timeoutMs: number): Promise<number> {
    const answer = await this.#repeated(timeoutMs, limits.etcdTryMs, (client, metadata, deadline) => {
      const { path, requestSerialize, responseDeserialize } = etcd.methodOf('Lease.LeaseKeepAlive');
      const stream = client.makeBidiStreamRequest(path, requestSerialize, responseDeserialize, metadata, { deadline });
      this.#hold(stream);
      return new Promise<{ readonly TTL: string }>((resolve, reject) => {
        stream.on('data', (data: { readonly TTL: string }) => {
          resolve(data);
          stream.cancel();
        });
        stream.on('error', reject);
        stream.on('end', () => reject(new SharedLogUnavailableError('etcd ended the call')));
        stream.write({ ID: id });
      });
    });
    return Number(answer.TTL);
  }

  /** Calls `heard` with each answer, and `ended` once if the watch ends by itself. The returned function ends it. */
  watch(
    { key, rangeEnd, revision }: { readonly key: Buffer; readonly rangeEnd: Buffer; readonly revision: string },
    heard: (response: etcd.WatchResponse) => void,
    ended: (error: unknown) => void,
  ): () => void {
    let stream: ClientDuplexStream<object, object> | null = null;
    let isOver = false;
    const at = this.#current;
    const token = this.#tokenFrom(this.#clients[at]!);
    const end = (error: unknown): void => {
      // A stream that this client cancels fails, too, and that is no failure of the member.
      if (isOver) return;
      isOver = true;
      stream?.cancel();
      this.#forgetsToken(error, token);
      this.#avoid(at);
      ended(error);
    };
    const start = async (): Promise<void> => {
      const metadata = await token;
      if (isOver) return;
      if (this.isClosed) throw closedError();
      const { path, requestSerialize, responseDeserialize } = etcd.methodOf('Watch.Watch');
      stream = this.#clients[at]!.makeBidiStreamRequest(path, requestSerialize, responseDeserialize, metadata);
      this.#hold(stream);
      stream.on('data', (response: etcd.WatchResponse) => {
        if (response.canceled) end(new SharedLogUnavailableError('etcd ended the watch'));
        else if (!isOver) heard(response);
      });
      stream.on('error', end);
      stream.on('end', () => end(new SharedLogUnavailableError('etcd ended the watch')));
      stream.write({ create_request: { key, range_end: rangeEnd, start_revision: revision } });
    };
    start().catch(end);
    return () => {
      isOver = true;
      stream?.cancel();
    };
  }

  status(endpoint: number): Promise<etcd.StatusResponse> {
    return this.#callAt(endpoint, 'Maintenance.Status', {}, limits.etcdCallMs);
  }

  async defragment(endpoint: number): Promise<void> {
    await this.#callAt(endpoint, 'Maintenance.Defragment', {}, limits.etcdDefragmentMs);
  }

  /** Sends the next calls to another member, because the present one seems to hang. */
  rotate(): void {
    this.#avoid(this.#current);
  }

  /** Sends the next calls to this member, or to the first one for null, until one of them fails. */
  prefer(endpoint: number | null): void {
    this.#current = endpoint ?? this.#first;
  }

  pause(ms: number): Promise<void> {
    return delay(ms);
  }

  /** Cancels every call in progress, which then rejects with `SharedLogUnavailableError`, and refuses further calls. */
  close(): void {
    this.isClosed = true;
    for (const call of [...this.#calls]) call.cancel();
    for (const client of this.#clients) client.close();
  }

  #hold(call: ClientUnaryCall | ClientDuplexStream<object, object>): void {
    this.#calls.add(call);
    call.once('status', () => this.#calls.delete(call));
  }

  #avoid(at: number): void {
    if (this.#current === at) this.#current = (at + 1) % this.#clients.length;
  }

  #call<R>(name: etcd.MethodName, request: object, timeoutMs: number, tryMs: number = limits.etcdTryMs): Promise<R> {
    return this.#repeated(timeoutMs, tryMs, (client, metadata, deadline) =>
      this.#unary<R>(client, name, request, metadata, deadline),
    );
  }

  async #callAt<R>(endpoint: number, name: etcd.MethodName, request: object, timeoutMs: number): Promise<R> {
    const client = this.#clients[endpoint]!;
    // All calls share the token, and this member may be silent.
    const token = this.#tokenFrom(this.#clients[this.#current]!);
    try {
      return await this.#unary<R>(client, name, request, await token, Date.now() + timeoutMs);
    } catch (error) {
      // The caller repeats the call.
      if (this.#forgetsToken(error, token)) throw unavailable(error);
      throw isPassing(error) ? unavailable(error) : error;
    }
  }

  /** Repeats a call at one member after another. Rejects with `SharedLogUnavailableError` if none answers in time. */
  async #repeated<R>(
    timeoutMs: number,
    tryMs: number,
    call: (client: Client, metadata: Metadata, deadline: number) => Promise<R>,
  ): Promise<R> {
    const endMs = performance.now() + timeoutMs;
    let tokensLeft = tokensMax;
    for (let tries = 1; ; tries += 1) {
      const at = this.#current;
      const client = this.#clients[at]!;
      const leftMs = Math.max(1, Math.min(tryMs, endMs - performance.now()));
      if (this.isClosed) throw closedError();
      const token = this.#tokenFrom(client);
      try {
        return await call(client, await token, Date.now() + leftMs);
      } catch (error) {
        if (this.isClosed) throw unavailable(error);
        // A member that was restarted knows no earlier token.
        if (this.#forgetsToken(error, token) && --tokensLeft > 0) continue;
        if (!isPassing(error)) throw error;
        this.#avoid(at);
        if (performance.now() >= endMs) throw unavailable(error);
        // If no member runs, all members refuse at once.
        if (tries % this.#clients.length === 0) await this.pause(limits.etcdRetryMs);
        if (performance.now() >= endMs) throw unavailable(error);
      }
    }
  }

  /** Returns whether etcd refused the token. Then the next call asks for another, if no call has asked since. */
  #forgetsToken(error: unknown, token: Promise<Metadata>): boolean {
    if (!ofTokens.has(codeOf(error)) || this.#settings.username === null) return false;
    if (this.#token === token) this.#token = null;
    return true;
  }

  #unary<R>(client: Client, name: etcd.MethodName, request: object, metadata: Metadata, deadline: number): Promise<R> {
    if (this.isClosed) return Promise.reject(closedError());
    const { path, requestSerialize, responseDeserialize } = etcd.methodOf(name);
    return new Promise((resolve, reject) => {
      const end = (error: ServiceError | null, answer?: object) => {
        if (error !== null || answer === undefined) reject(error);
        // The definition of the method types its answer.
        else resolve(answer as R);
      };
      const options = { deadline };
      this.#hold(client.makeUnaryRequest(path, requestSerialize, responseDeserialize, request, metadata, options, end));
    });
  }

  #tokenFrom(client: Client): Promise<Metadata> {
    const { username, password } = this.#settings;
    if (username === null || password === null) return noToken;
    this.#token ??= this.#authenticate(client, { name: username, password }).catch((error: unknown) => {
      this.#token = null;
      throw error;
    });
    return this.#token;
  }

  async #authenticate(client: Client, request: object): Promise<Metadata> {
    const deadline = Date.now() + limits.etcdTryMs;
    type Answer = { readonly token: string };
    const answer = await this.#unary<Answer>(client, 'Auth.Authenticate', request, emptyMetadata, deadline);
    const metadata = new Metadata();
    metadata.set('token', answer.token);
    return metadata;
  }
}

const emptyMetadata = new Metadata();
const noToken = Promise.resolve(emptyMetadata);

const channelOptions = {
  // etcd closes the connection of a client that pings more often.
  'grpc.keepalive_time_ms': 10_000,
  'grpc.keepalive_timeout_ms': 2_000,
  'grpc.initial_reconnect_backoff_ms': 100,
  'grpc.min_reconnect_backoff_ms': 100,
  'grpc.max_reconnect_backoff_ms': 1_000,
  'grpc.max_receive_message_length': -1,
  'grpc.max_send_message_length': -1,
  'grpc.enable_retries': 0,
  // Each client has one connection of its own.
  'grpc.use_local_subchannel_pool': 1,
};

export function codeOf(error: unknown): status | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'number'
    ? (error as ServiceError).code
    : undefined;
}

/** Rejects with `SharedLogUnavailableError` if etcd had no room for a write, because a trim may make room. */
export function written<R>(write: Promise<R>): Promise<R> {
  return write.catch((error: unknown) => {
    throw codeOf(error) === status.RESOURCE_EXHAUSTED
      ? new SharedLogUnavailableError('etcd has no room left (alarm NOSPACE)', { cause: error })
      : error;
  });
}

/** Resolves to null if the lease of the write has ended. The node notices that at its next renewal. */
export async function withLease<T>(write: Promise<T>): Promise<T | null> {
  try {
    return await write;
  } catch (error) {
    if (codeOf(error) !== status.NOT_FOUND) throw error;
    return null;
  }
}

function isPassing(error: unknown): boolean {
  const code = codeOf(error);
  return error instanceof SharedLogUnavailableError || (code !== undefined && passing.has(code));
}

function closedError(): SharedLogUnavailableError {
  return new SharedLogUnavailableError('this node is stopping and no longer calls etcd');
}

function unavailable(error: unknown): SharedLogUnavailableError {
  const what = error instanceof Error ? error.message : String(error);
  return new SharedLogUnavailableError(`etcd does not answer: ${what}`, { cause: error });
}

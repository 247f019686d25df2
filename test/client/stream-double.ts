/**
 * The node's side of the verdict stream in small, for the client's tests: it holds to
 * docs/VERDICT-STREAM.md, cuts connections where it is told to, and counts the calls that a cache
 * should save. Every frame is held against the contract's schema.
 */
import * as assert from 'uvu/assert';
import { subjectHash } from '../../src/client/ids/subject.js';
import type { TrustValues } from '../../src/client/player-trust.js';
import type { Runtime } from '../../src/client/transport/time.js';
import type { Transport, TransportRequest, TransportResponse } from '../../src/client/transport/transport.js';
import * as frames from '../../src/contract/verdict-stream.js';
import type { Schema } from '../../src/validation/schema.js';
import { validatorOf } from '../../src/validation/validator.js';
import type { Random } from '../support/random.js';
import { peersAnswer, responseOf, type Scripted, saltCheckPath } from './scripted-transport.js';

export type PublishedValues = Omit<TrustValues, 'known'>;

export const salt = 'the salt of the group';
export const hashOf = (player: string) => subjectHash(player, salt);
export const bad: PublishedValues = { score: 12.5, confidence: 0.6, verdict: 'untrusted' };
export const good: PublishedValues = { score: 91, confidence: 0.5, verdict: 'trusted' };

interface Change {
  readonly seq: number;
  readonly hash: string;
  readonly published: PublishedValues | null;
}

const validators = new Map(
  Object.entries<Schema>(frames.eventSchemas).map(([name, schema]) => [name, validatorOf(schema)]),
);

/** One frame as it travels. `id` undefined: none; empty: the reader's id is to be emptied. */
export function frame<Name extends keyof frames.StreamEvents>(
  event: Name,
  data: frames.StreamEvents[Name],
  id?: string,
): string {
  const outcome = validators.get(event)!(data);
  assert.ok(outcome.ok, `a ${event} frame against its schema`);
  return `event: ${event}\n${id === undefined ? '' : `id: ${id}\n`}data: ${JSON.stringify(data)}\n\n`;
}

export function rowOf(hash: string, { score, confidence, verdict }: PublishedValues): frames.ChangedPlayer {
  return { subject_hash: hash, score, confidence, verdict };
}

/** A body that is written from outside. */
export class Connection {
  readonly lastEventId: string | undefined;
  readonly #queue: Uint8Array[] = [];
  #wake: () => void = () => undefined;
  #end: Error | 'end' | null = null;

  constructor(lastEventId: string | undefined, signal: AbortSignal) {
    this.lastEventId = lastEventId;
    signal.addEventListener('abort', () => this.break(signal.reason), { once: true });
  }

  get isOpen(): boolean {
    return this.#end === null;
  }

  push(bytes: Uint8Array): void {
    if (this.#end === null) this.#queue.push(bytes);
    this.#wake();
  }

  end(): void {
    this.#end ??= 'end';
    this.#wake();
  }

  break(error: unknown): void {
    this.#end ??= error instanceof Error ? error : new Error(String(error));
    this.#wake();
  }

  async *body(): AsyncGenerator<Uint8Array> {
    for (;;) {
      const next = this.#queue.shift();
      if (next !== undefined) yield next;
      else if (this.#end === 'end') return;
      else if (this.#end !== null) throw this.#end;
      else {
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
        });
      }
    }
  }
}

export interface DoubleOptions {
  readonly runtime: Runtime;
  /** Changes that can be sent again; older ids are reset. */
  readonly kept?: number;
  readonly rowsPerFrame?: number;
  readonly groupId?: string;
  /** The node's clock against the reader's, in ms. */
  readonly aheadMs?: number;
}

export class StreamDouble implements Transport {
  readonly board = new Map<string, PublishedValues>();
  readonly connections: Connection[] = [];
  /** Calls that were not the stream. */
  calls = 0;
  /** Takes the place of the stream's answer where it is set. */
  refuse: (() => Scripted | Error) | null = null;
  /** Takes the place of the answers to calls where it is set. */
  refuseCalls: (() => Error) | null = null;
  /** The answer to an erasure; what the stream tells of it is the test's to say. */
  erasure: (() => Promise<Scripted>) | null = null;
  /** After how many bytes the next connections break; null: they do not. */
  cutAfter: (() => number | null) | null = null;
  /** True if a reader from the start receives a snapshot of the group. */
  snapshots = true;
  /** Cuts what is written into pieces of its own choosing. */
  chop: Random | null = null;
  readonly #options: Required<DoubleOptions>;
  readonly #bytesLeft = new Map<Connection, number>();
  #changes: Change[] = [];
  #seq = 0;

  /** The salt check in the answer of `GET /peers`. That read does not count as a call. */
  saltCheck: string | null = null;

  constructor(options: DoubleOptions) {
    this.#options = { kept: 1_000, rowsPerFrame: 3, groupId: 'local', aheadMs: 0, ...options };
  }

  get seq(): number {
    return this.#seq;
  }

  get connection(): Connection {
    const last = this.connections.at(-1);
    if (last === undefined) throw new Error('nobody has connected');
    return last;
  }

  /** Up to when it says that all is sent: now, unless a test has it lag. */
  asOf(): string {
    return this.#now();
  }

  #now(): string {
    return new Date(this.#options.runtime.now() + this.#options.aheadMs).toISOString();
  }

  /** One record that changed these players; sent in frames of which only the last has an id. */
  change(...published: readonly (readonly [hash: string, values: PublishedValues | null])[]): void {
    this.#seq++;
    for (const [hash, values] of published) {
      if (values === null) this.board.delete(hash);
      else this.board.set(hash, values);
      this.#changes.push({ seq: this.#seq, hash, published: values });
    }
    this.#changes = this.#changes.slice(-this.#options.kept);
    for (const connection of this.connections) if (connection.isOpen) this.#sendRecord(connection, this.#seq);
  }

  heartbeat(): void {
    const text = frame('heartbeat', { as_of: this.asOf() }, this.#id());
    for (const connection of this.connections) if (connection.isOpen) this.write(connection, text);
  }

  write(connection: Connection, text: string): void {
    const bytes = new TextEncoder().encode(text);
    const left = this.#bytesLeft.get(connection) ?? Number.POSITIVE_INFINITY;
    this.#bytesLeft.set(connection, left - bytes.byteLength);
    let rest = bytes.subarray(0, left);
    while (rest.byteLength > 0) {
      const size = this.chop === null ? rest.byteLength : 1 + this.chop.below(rest.byteLength);
      connection.push(rest.slice(0, size));
      rest = rest.subarray(size);
    }
    if (bytes.byteLength >= left) connection.break(new Error('cut'));
  }

  async request(request: TransportRequest): Promise<TransportResponse> {
    if (request.path === saltCheckPath) return responseOf(peersAnswer(this.saltCheck));
    if (!request.path.endsWith('/verdicts/stream')) return this.#call(request);
    const refused = this.refuse?.();
    if (refused instanceof Error) throw refused;
    if (refused !== undefined) return responseOf(refused);
    const connection = new Connection(request.headers['last-event-id'], request.signal);
    this.connections.push(connection);
    const cut = this.cutAfter?.() ?? null;
    if (cut !== null) this.#bytesLeft.set(connection, cut);
    this.#begin(connection);
    const headers = { 'content-type': 'text/event-stream; charset=utf-8' } as Readonly<Record<string, string>>;
    return { status: 200, header: (name) => headers[name], body: connection.body() };
  }

  async close(): Promise<void> {
    for (const connection of this.connections) connection.break(new Error('closed'));
  }

  async #call(request: TransportRequest): Promise<TransportResponse> {
    this.calls++;
    if (this.refuseCalls !== null) throw this.refuseCalls();
    if (request.method === 'DELETE' && this.erasure !== null) return responseOf(await this.erasure());
    const ids = (request.path.split('ids=')[1] ?? '').split(',');
    const data = ids.map((id) => {
      const published = this.board.get(id);
      return published === undefined ? { player_id: id, code: 'player_not_found' } : { player_id: id, ...published };
    });
    return responseOf({ status: 200, body: { data } });
  }

  #id(): string {
    return `${this.#seq}-0`;
  }

  #begin(connection: Connection): void {
    const hello = {
      version: 1,
      group_id: this.#options.groupId,
      identity_mode: 'privacy-first',
      now: this.#now(),
      heartbeat_ms: 5_000,
      score_step: 1,
      confidence_step: 0.05,
    } as const;
    this.write(connection, `retry: 100\n${frame('hello', hello)}`);
    const id = connection.lastEventId;
    if (id === undefined && this.snapshots) this.#snapshot(connection);
    else if (id !== undefined) this.#resume(connection, id);
  }

  #resume(connection: Connection, id: string): void {
    const since = Number(id.split('-')[0]);
    const oldest = this.#changes[0]?.seq ?? this.#seq + 1;
    if (since > this.#seq || since < oldest - 1) {
      this.write(connection, frame('reset', { reason: since > this.#seq ? 'unknown_id' : 'too_old' }, ''));
      this.#snapshot(connection);
      return;
    }
    for (let seq = since + 1; seq <= this.#seq; seq++) this.#sendRecord(connection, seq);
    this.write(connection, frame('heartbeat', { as_of: this.asOf() }, this.#id()));
  }

  #snapshot(connection: Connection): void {
    const rows = [...this.board].map(([hash, published]) => rowOf(hash, published));
    for (const players of this.#framesOf(rows)) {
      this.write(connection, frame('snapshot', { players, last: false, as_of: this.asOf() }));
    }
    this.write(connection, frame('snapshot', { players: [], last: true, as_of: this.asOf() }, this.#id()));
  }

  #sendRecord(connection: Connection, record: number): void {
    const changes = this.#changes.filter(({ seq }) => seq === record);
    const rows = changes.map(({ hash, published }) =>
      published === null ? { subject_hash: hash, gone: true as const } : rowOf(hash, published),
    );
    const frames = this.#framesOf(rows);
    for (const [index, part] of frames.entries()) {
      const id = index === frames.length - 1 ? `${record}-0` : undefined;
      this.write(connection, frame('change', { changes: part, as_of: this.asOf() }, id));
    }
  }

  #framesOf<Row>(rows: readonly Row[]): Row[][] {
    const { rowsPerFrame } = this.#options;
    const count = Math.ceil(rows.length / rowsPerFrame);
    return Array.from({ length: count }, (_, i) => rows.slice(i * rowsPerFrame, (i + 1) * rowsPerFrame));
  }
}

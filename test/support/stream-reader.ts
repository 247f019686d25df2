/**
 * A reader of the verdict stream that knows only its wire form (docs/VERDICT-STREAM.md). Keeps a
 * table of players as the page says, checks every frame against its schema and bounds, and resumes from the last id.
 */
import { createParser, type EventSourceMessage } from 'eventsource-parser';
import { Agent, request } from 'undici';
import * as assert from 'uvu/assert';
import * as wire from '../../src/contract/verdict-stream.js';
import { limits } from '../../src/limits.js';
import type { Schema } from '../../src/validation/schema.js';
import { validatorOf } from '../../src/validation/validator.js';
import { closing } from './closing.js';

const validators = new Map(
  Object.entries<Schema>(wire.eventSchemas).map(([name, schema]) => [name, validatorOf(schema)]),
);

export type PublishedValues = Omit<wire.ChangedPlayer, 'subject_hash'>;

export interface Frame {
  readonly event: string;
  readonly id: string | undefined;
  // biome-ignore lint/suspicious/noExplicitAny: a test reads what it expects, and fails where that is not there.
  readonly data: any;
}

class FormError extends Error {}

export class StreamReader {
  readonly table = new Map<string, PublishedValues>();
  readonly frames: Frame[] = [];
  /** Received frames by kind, over all connections. */
  readonly counts = new Map<string, number>();
  lastEventId = '';
  /** The first frame that violated its form. */
  fault: Error | undefined;
  /** True if frames are kept, for tests that read them. */
  readonly #keepFrames: boolean;
  readonly #key: string;
  readonly #agent = new Agent();
  #named: Set<string> | null = null;
  #abort = new AbortController();
  #reading: Promise<void> = Promise.resolve();
  #waiting: { readonly holds: (frame: Frame) => boolean; readonly resolve: () => void }[] = [];

  constructor(key: string, keepFrames = true) {
    this.#key = key;
    this.#keepFrames = keepFrames;
  }

  /** The log record up to which everything was published. */
  get seq(): number {
    return Number(this.lastEventId.split('-')[0] ?? 0);
  }

  /** Connects. Resolves with the status once the head has arrived. */
  async connect(url: string): Promise<number> {
    this.#abort = new AbortController();
    this.#named = null;
    const { statusCode, headers, body } = await request(`${url}/api/v1/verdicts/stream`, {
      headers: {
        'x-peer-api-key': this.#key,
        ...(this.lastEventId === '' ? {} : { 'last-event-id': this.lastEventId }),
      },
      signal: this.#abort.signal,
      dispatcher: this.#agent,
    });
    if (statusCode !== 200) {
      await body.dump();
      return statusCode;
    }
    assert.is(headers['content-type'], 'text/event-stream; charset=utf-8');
    assert.is(headers['cache-control'], 'private, no-store');
    this.#reading = this.#read(body).catch((error: unknown) => {
      // A connection may break at any byte. A frame must not break its form.
      if (error instanceof FormError || error instanceof assert.Assertion) this.fault = error;
    });
    return 200;
  }

  /** Resolves when the connection is over, whichever side ended it. */
  get over(): Promise<void> {
    return this.#reading;
  }

  /** Disconnects at once, whatever is in progress. */
  async cut(): Promise<void> {
    this.#abort.abort();
    await this.#reading;
  }

  async close(): Promise<void> {
    await this.cut();
    await this.#agent.destroy();
    if (this.fault !== undefined) throw this.fault;
  }

  /** Resolves with the next frame for which `holds` returns true. */
  next(holds: (frame: Frame) => boolean): Promise<void> {
    return new Promise((resolve) => this.#waiting.push({ holds, resolve }));
  }

  async #read(body: AsyncIterable<Uint8Array>): Promise<void> {
    const parser = createParser({ onEvent: (message) => this.#take(message) });
    const decoder = new TextDecoder();
    for await (const chunk of body) parser.feed(decoder.decode(chunk, { stream: true }));
  }

  #take({ event = 'message', data, id }: EventSourceMessage): void {
    assert.ok(Buffer.byteLength(data) <= limits.streamFrameBytes, `a ${event} frame of ${data.length}`);
    const frame: Frame = { event, id, data: JSON.parse(data) };
    const outcome = validators.get(event)?.(frame.data);
    if (outcome?.ok !== true) throw new FormError(`a ${event} frame against its schema: ${data.slice(0, 300)}`);
    if (this.#keepFrames) this.frames.push(frame);
    this.counts.set(event, (this.counts.get(event) ?? 0) + 1);
    this.#apply(frame);
    if (id !== undefined) this.lastEventId = id;
    const seen = this.#waiting.filter(({ holds }) => holds(frame));
    this.#waiting = this.#waiting.filter((one) => !seen.includes(one));
    for (const { resolve } of seen) resolve();
  }

  #apply({ event, data }: Frame): void {
    if (event === 'snapshot') {
      this.#named ??= new Set();
      this.#applyRows(data.players);
      if (!data.last) return;
      for (const hash of this.table.keys()) if (!this.#named.has(hash)) this.table.delete(hash);
      this.#named = null;
    } else if (event === 'change') this.#applyRows(data.changes);
  }

  #applyRows(rows: readonly (wire.ChangedPlayer | wire.RemovedPlayer)[]): void {
    assert.ok(rows.length <= limits.streamFrameRows);
    for (const row of rows) {
      if ('gone' in row) {
        this.table.delete(row.subject_hash);
        continue;
      }
      const { subject_hash, ...values } = row;
      this.table.set(subject_hash, values);
      this.#named?.add(subject_hash);
    }
  }
}

/** A reader that has received everything published so far, and that closes with the block that declares it. */
export async function liveReader(url: string, key: string): Promise<StreamReader & AsyncDisposable> {
  const reader = closing(new StreamReader(key));
  const live = reader.next(({ event }) => event === 'heartbeat');
  assert.is(await reader.connect(url), 200);
  await live;
  return reader;
}

/**
 * Lists the differences between a table and the node's answers: verdicts must be equal, numbers within the step that
 * may stay unpublished.
 */
export async function differences(
  url: string,
  key: string,
  table: ReadonlyMap<string, PublishedValues>,
  hashes: readonly string[],
): Promise<string[]> {
  const found: string[] = [];
  for (let from = 0; from < hashes.length; from += limits.matchIdsMax) {
    const asked = hashes.slice(from, from + limits.matchIdsMax);
    const { body } = await request(`${url}/api/v1/trust-scores?ids=${asked.join(',')}`, {
      headers: { 'x-peer-api-key': key },
    });
    const { data } = (await body.json()) as { data: readonly (PublishedValues & { readonly player_id: string })[] };
    for (const row of data) {
      const values = table.get(row.player_id);
      if (!isNear(values, row)) found.push(`${JSON.stringify(values)} for ${JSON.stringify(row)}`);
    }
  }
  return found;
}

function isNear(values: PublishedValues | undefined, row: Partial<PublishedValues>): boolean {
  if (values === undefined || row.score === undefined || row.confidence === undefined) return values === row.score;
  const { streamScoreStep, streamConfidenceStep } = limits;
  const isScoreNear = Math.abs(values.score - row.score) < streamScoreStep;
  return (
    values.verdict === row.verdict && isScoreNear && Math.abs(values.confidence - row.confidence) < streamConfidenceStep
  );
}

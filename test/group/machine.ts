/**
 * Drives an actor by hand over an in-memory store: every effect is carried out when the test says so, and a crash may
 * come between any two.
 */
import type { GroupBounds } from '../../src/core/commands.js';
import { Batch, BatchWriter, chainStart } from '../../src/core/records/batch.js';
import type { EventAccepted } from '../../src/core/records/records.js';
import { headOfPair } from '../../src/core/rules/decide-removal.js';
import { GroupActor } from '../../src/group/actor/actor.js';
import type { Effect } from '../../src/group/actor/turn.js';
import type { Answer, Command, Located } from '../../src/group/actor-commands.js';
import { RecordReader, readChain, readRepeats } from '../../src/group/listing/listing.js';
import type { RedactionPiece, RedactionWork } from '../../src/group/ports/pool.js';
import { DamagedError, type LogReader, type StoredBatch } from '../../src/group/ports/storage.js';
import { lastSeqOf, recover } from '../../src/group/recovery/recovery.js';
import { redactPiece } from '../../src/group/removal/redaction.js';
import { Replica } from '../../src/group/replica/replica.js';
import { limits } from '../../src/limits.js';
import { blocksIn } from '../support/blocks-in.js';
import { bounds as defaultBounds, formedRecord, salt, t0 } from '../support/given.js';
import { MemoryLog, type MemoryLogWriter } from '../support/memory-log.js';
import { MemorySnapshotStore } from '../support/memory-snapshots.js';
import { register } from './commands.js';

const nonce = Buffer.alloc(16, 5);

/** The process dies here. */
export class Crash extends Error {}

export class Machine {
  readonly log: MemoryLog;
  readonly snapshots = new MemorySnapshotStore();
  readonly bounds: GroupBounds;
  /** Answers as they left, by the token of their command. */
  readonly answers = new Map<string, Answer>();
  /** Types of the effects carried out, in order. */
  readonly trace: string[] = [];
  actor!: GroupActor<string>;
  now = t0;
  /** Records whose batches cannot be read where something leaves the log. */
  readonly damaged = new Set<number>();
  /** Effects to carry out before the crash. */
  life = Number.POSITIVE_INFINITY;
  #writer!: MemoryLogWriter;
  /** Bytes that replaced batches left in the store's free space, until a scrub. */
  readonly #freed: Uint8Array[] = [];
  #waiting: Effect<string>[] = [];

  private constructor(log: MemoryLog, bounds: GroupBounds) {
    this.log = log;
    this.bounds = bounds;
  }

  static async start(
    log = new MemoryLog(),
    bounds: GroupBounds = defaultBounds,
    formed = formedRecord(30),
  ): Promise<Machine> {
    const machine = new Machine(log, bounds);
    const first = new BatchWriter();
    first.add(formed);
    const batch = first.seal(1, t0, nonce, chainStart);
    await log.acquire().append({ firstSeq: 1, bytes: batch.bytes }, []);
    machine.restart();
    return machine;
  }

  /** A node on a log that exists. */
  static on(log: MemoryLog, bounds: GroupBounds = defaultBounds): Machine {
    const machine = new Machine(log, bounds);
    machine.restart();
    return machine;
  }

  /** A group in which the peers `peer-0`, `peer-1`, … registered. */
  static async withPeers(
    count: number,
    bounds = defaultBounds as GroupBounds,
    log = new MemoryLog(),
  ): Promise<Machine> {
    const machine = await Machine.start(log, bounds);
    for (let i = 0; i < count; i++) await machine.ask(`register ${i}`, register(i));
    return machine;
  }

  /** A new owner recovers from what is stored; everything in flight is gone. */
  restart(): void {
    this.#writer = this.log.acquire();
    const { follower } = recover(this.#writer, this.snapshots, salt, lastSeqOf(this.#writer))!;
    this.actor = new GroupActor(follower, this.bounds);
    this.#waiting = this.actor.removal.resume();
  }

  /** Takes out of the log what was received before this moment. */
  async retire(before: number): Promise<void> {
    this.#waiting.push(...this.actor.removal.resume({ before, now: Math.max(before, this.now) }));
    await this.work();
  }

  async locate(eventId: string): Promise<Located> {
    return (await this.ask(`locate ${eventId}`, { type: 'locate', eventId })) as Located;
  }

  /** The withdrawal of a located event, with the chain of its pair as the log has it. */
  withdrawal(caller: number | null, { seq, asOf }: Located): Command {
    const event = new RecordReader(this.log).read(seq).record as EventAccepted;
    const { state } = this.actor;
    const head = headOfPair(state, event.subject, event.peer);
    const query = { holder: null, head, eventSeq: seq, expired: state.retired.seq };
    const chain = readChain(new RecordReader(this.log), query);
    return { type: 'withdraw', caller, eventSeq: seq, event, asOf, chain, chainAsOf: state.lastSeq };
  }

  /** Takes up what may go on again. */
  async resume(): Promise<void> {
    this.#waiting.push(...this.actor.removal.resume());
    await this.work();
  }

  offer(token: string, command: Command, events = 1): boolean {
    return this.actor.offer({ command, token, events, bytes: 100, holder: null });
  }

  /**
   * Offers a command and works until it is answered. Reads, as the group does, which events of a submission repeat
   * others.
   */
  async ask<C extends Command>(token: string, command: C): Promise<Answer> {
    this.offer(token, command);
    await this.work();
    const answer = this.answers.get(token);
    if (answer === undefined && !this.answers.has(token)) throw new Error(`${token} was never answered`);
    if (command.type !== 'submit' || answer === null || typeof answer !== 'object' || !('checks' in answer))
      return answer!;
    this.answers.delete(token);
    const query = { ...answer, from: null, holder: null };
    const { found: checked } = readRepeats(new RecordReader(this.log), query, limits.walkRecordsMax);
    return this.ask(token, { ...command, checked });
  }

  /** Takes turns and carries out effects until nothing is left. */
  async work(): Promise<void> {
    for (;;) {
      const effect = this.#waiting.shift();
      if (effect !== undefined) {
        if (this.life-- <= 0) throw new Crash();
        await this.#carryOut(effect);
      } else if (this.actor.hasTurn) {
        this.#waiting.push(...this.actor.takeTurn(this.now, nonce));
      } else {
        return;
      }
    }
  }

  async snapshot(): Promise<void> {
    await this.#replica.snapshot(this.actor.durableSeq, this.#writer.epoch);
  }

  get #damagedLog(): LogReader {
    return withDamage(this.log, this.damaged);
  }

  get #replica(): Replica {
    return new Replica(this.#damagedLog, this.snapshots, salt);
  }

  async #carryOut(effect: Effect<string>): Promise<void> {
    this.trace.push(effect.type);
    switch (effect.type) {
      case 'answer':
        this.answers.set(effect.token, effect.answer);
        return;
      case 'commit':
        for (const { firstSeq } of effect.rewrites) this.#freed.push(this.log.at(firstSeq)!.bytes);
        await this.#writer.append(effect.batch, effect.rewrites);
        this.#waiting.push(...this.actor.committed());
        return;
      case 'drop_snapshots':
        for (const seq of this.snapshots.list()) await this.snapshots.remove(seq);
        this.actor.removal.snapshotsDropped();
        return;
      case 'redact':
        this.#waiting.push(...this.#redacted(effect.work));
        return;
      case 'scrub':
        this.#freed.length = 0;
        this.actor.removal.scrubbed();
        return;
      case 'decided':
        return;
    }
  }

  #redacted(work: RedactionWork): Effect<string>[] {
    let piece: RedactionPiece;
    try {
      piece = work.type === 'removal' ? redactPiece(this.#damagedLog, work) : this.#replica.retire(work);
    } catch {
      return this.actor.removal.failed();
    }
    return this.actor.removal.redacted(piece);
  }

  /** Tries again what failed. */
  async tryAgain(): Promise<void> {
    this.#waiting.push(...this.actor.removal.again());
    await this.work();
  }

  /** All bytes that are stored, for a search. */
  stored(): Buffer {
    const log = this.log.from(0, Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY).map(({ bytes }) => bytes);
    const blocks = this.snapshots.list().flatMap((seq) => blocksIn(this.snapshots, seq).map(({ bytes }) => bytes));
    return Buffer.concat([...log, ...blocks, ...this.#freed]);
  }
}

function withDamage(log: LogReader, damaged: ReadonlySet<number>): LogReader {
  const read = (stored: StoredBatch): StoredBatch => {
    const batch = new Batch(stored.bytes);
    for (const seq of damaged)
      if (batch.holds(seq)) throw new DamagedError(`log batch at record ${seq}: checksum differs`);
    return stored;
  };
  return {
    last: () => log.last(),
    at: (seq) => read(log.at(seq)!),
    from: (...range) => log.from(...range).map(read),
    borrow: (...range) => log.borrow(...range),
    close: () => log.close(),
  };
}

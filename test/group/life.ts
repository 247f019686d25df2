/** A group that lives at random: events, withdrawals, erasures and requests for one, over a machine of `machine.ts`. */
import type { GroupState } from '../../src/core/state.js';
import type { Command, Located } from '../../src/group/actor-commands.js';
import {
  type CopiedLog,
  type CopyProgress,
  copyFrom,
  type LogSink,
  sourceOf,
} from '../../src/group/backup/copy-store.js';
import { RecordReader } from '../../src/group/listing/listing.js';
import type { LogReader } from '../../src/group/ports/storage.js';
import { lastSeqOf, recover } from '../../src/group/recovery/recovery.js';
import { limits } from '../../src/limits.js';
import { bounds, hourMs, salt, subjectKeyOf, subjectOf } from '../support/given.js';
import { MemoryLog } from '../support/memory-log.js';
import { MemorySnapshotStore } from '../support/memory-snapshots.js';
import type { Random } from '../support/random.js';
import { Machine } from './machine.js';

export const PEERS = 3;
export const PLAYERS = 6;

/** One thing that happens, so that the same can happen to another group. */
export type Act =
  | {
      readonly type: 'event';
      readonly peer: number;
      readonly id: string;
      readonly player: string;
      readonly severity: number;
    }
  | { readonly type: 'withdraw'; readonly id: string }
  | { readonly type: 'erase'; readonly player: string }
  | { readonly type: 'request'; readonly player: string };

export class Life {
  readonly machine: Machine;
  #acts = 0;

  private constructor(machine: Machine) {
    this.machine = machine;
  }

  static async begin(): Promise<Life> {
    const life = new Life(await Machine.start(new MemoryLog(), { ...bounds, erasureQuotaPerDay: 1000 }));
    for (let i = 0; i < PEERS; i++) {
      const peer = { peerId: `peer-${i}`, peerName: 'P', gameIds: ['g1'], keyDigest: `key-${i}`, by: 't' };
      await life.#ask({ type: 'register', ...peer });
    }
    return life;
  }

  /** A life with so many events, as `report` names them. */
  static async reporting(events: number): Promise<Life> {
    const life = await Life.begin();
    await life.report(0, events);
    return life;
  }

  /** Goes on with a log. */
  static on(log: MemoryLog): Life {
    return new Life(Machine.on(log, { ...bounds, erasureQuotaPerDay: 1000 }));
  }

  #ask(command: Command) {
    return this.machine.ask(`${this.#acts++}`, command);
  }

  async act(act: Act): Promise<void> {
    this.machine.now += hourMs;
    switch (act.type) {
      case 'event': {
        const fixed = { schemaVersion: '1.0.0', eventType: 'report_cheating', gameId: 'g1' } as const;
        const subject = subjectKeyOf(act.player);
        const timestamp = this.machine.now;
        const event = {
          ...fixed,
          eventId: act.id,
          peerId: `peer-${act.peer}`,
          subject,
          severity: act.severity,
          timestamp,
        };
        await this.#ask({ type: 'submit', caller: null, events: [event] });
        return;
      }
      case 'withdraw': {
        const located = (await this.#ask({ type: 'locate', eventId: act.id })) as Located;
        const event = located.seq === 0 ? undefined : new RecordReader(this.machine.log).read(located.seq).record;
        if (event?.type === 'event_accepted') await this.#ask(this.machine.withdrawal(null, located));
        return;
      }
      case 'erase':
      case 'request': {
        const caller = act.type === 'erase' ? -2 : 0;
        const subject = subjectOf(act.player);
        await this.#ask({ type: 'erase', caller, subject, commitment: `receipt of ${this.#acts}`, by: 't' });
      }
    }
  }

  /** Reports `id-FROM` up to `id-TO`, without the last, by each peer in turn about the players 0 to 3. */
  async report(from: number, to: number): Promise<void> {
    for (let i = from; i < to; i++)
      await this.act({ type: 'event', peer: i % PEERS, id: `id-${i}`, player: `player ${i % 4}`, severity: 0.5 });
  }

  /** Takes out what was received before this moment, with pieces of one batch, so that there are several. */
  async retireBatchwise(before: number): Promise<void> {
    const bound = limits as { redactionPieceRecords: number };
    const { redactionPieceRecords } = limits;
    bound.redactionPieceRecords = 1;
    try {
      await this.machine.retire(before);
    } finally {
      bound.redactionPieceRecords = redactionPieceRecords;
    }
  }

  /** Sums per (player, peer), of all that hold any. */
  sums(): string[] {
    return sumsOf(this.machine.actor.state);
  }
}

export function sumsOf(state: GroupState): string[] {
  const sums: string[] = [];
  for (let player = 0; player < PLAYERS; player++) {
    const row = state.subjects.find(subjectOf(`player ${player}`));
    if (row < 0) continue;
    const { entries } = state.subjects;
    const first = state.subjects.firstEntry(row);
    for (let entry = first; entry < first + state.subjects.peerCount(row); entry++) {
      if (entries.count(entry) === 0) continue;
      const pair = [player, entries.peer(entry), entries.count(entry), entries.lowering(entry), entries.raising(entry)];
      sums.push(pair.join(' '));
    }
  }
  return sums;
}

/** Draws what happens next; events get the ids `e0`, `e1`, … */
export function drawAct(random: Random, events: number): Act {
  const player = `player ${random.below(PLAYERS)}`;
  const die = random.below(20);
  if (die < 14) return { type: 'event', peer: random.below(PEERS), id: `e${events}-`, player, severity: random.next() };
  if (die < 18) return { type: 'withdraw', id: `e${random.below(Math.max(1, events))}-` };
  return { type: 'erase', player };
}

/** A log that answers in pieces of a few batches, so that what happens meanwhile falls between them. */
export function inPieces(log: LogReader, batches: number): LogReader {
  return {
    ...readerOf(log),
    from: (firstSeq, limit, maxBytes) => log.from(firstSeq, Math.min(limit, batches), maxBytes),
    borrow: (firstSeq, limit, maxBytes, take) => log.borrow(firstSeq, Math.min(limit, batches), maxBytes, take),
  };
}

function readerOf(log: LogReader): LogReader {
  return {
    last: () => log.last(),
    at: (seq) => log.at(seq),
    from: (...range) => log.from(...range),
    borrow: (...range) => log.borrow(...range),
    close: async () => {},
  };
}

export function copyLog(log: LogReader, sink: LogSink, progress: CopyProgress): Promise<CopiedLog> {
  return copyFrom(sourceOf(log), sink, progress);
}

/** A copy to be filled. `between` happens after each transaction. */
export function sinkInto(copy: MemoryLog, between: () => Promise<void> = async () => {}): LogSink {
  const writer = copy.acquire();
  return {
    async add(batches) {
      for (const batch of batches) await writer.append(batch, []);
      await between();
    },
    async replace(batches) {
      await writer.append(null, batches);
    },
  };
}

export async function backupOf(log: LogReader): Promise<MemoryLog> {
  const copy = new MemoryLog();
  await copyLog(log, sinkInto(copy), () => undefined);
  return copy;
}

export function stateOf(log: LogReader, key: Uint8Array = salt): GroupState {
  return recover(log, new MemorySnapshotStore(), key, lastSeqOf(log))!.follower.state;
}

export function everyByte(log: LogReader): Buffer {
  return Buffer.concat(log.from(0, Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY).map(({ bytes }) => bytes));
}

/** A group that lives at random: events, withdrawals, erasures and requests for one, over a machine of `machine.ts`. */
import type { GroupState } from '../../src/core/state.js';
import type { Command } from '../../src/group/actor-commands.js';
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
import { withBounds } from '../sim/profile.js';
import { bounds, hourMs, salt, subjectOf, submissionOf } from '../support/given.js';
import { MemoryLog } from '../support/memory-log.js';
import { MemorySnapshotStore } from '../support/memory-snapshots.js';
import type { Random } from '../support/random.js';
import { erase, submit } from './commands.js';
import { Machine } from './machine.js';

export const PEERS = 3;
export const PLAYERS = 6;
const rules = { ...bounds, erasureQuotaPerDay: 1000 };

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
  | { readonly type: 'erase' | 'request'; readonly player: string };

export const event = (id: string, player: string, peer = 0): Act => ({ type: 'event', peer, id, player, severity: 1 });

export class Life {
  readonly machine: Machine;
  #acts = 0;

  private constructor(machine: Machine) {
    this.machine = machine;
  }

  static async begin(): Promise<Life> {
    return new Life(await Machine.withPeers(PEERS, rules));
  }

  /** A life with so many events, as `report` names them. */
  static async reporting(events: number): Promise<Life> {
    const life = await Life.begin();
    await life.report(0, events);
    return life;
  }

  /** Goes on with a log. */
  static on(log: MemoryLog): Life {
    return new Life(Machine.on(log, rules));
  }

  #ask(command: Command) {
    return this.machine.ask(`${this.#acts++}`, command);
  }

  async act(act: Act): Promise<void> {
    this.machine.now += hourMs;
    switch (act.type) {
      case 'event': {
        const { id, player, peer, severity } = act;
        const more = { peerId: `peer-${peer}`, severity, timestamp: this.machine.now };
        await this.#ask(submit(submissionOf(id, player, more)));
        return;
      }
      case 'withdraw': {
        const located = await this.machine.locate(act.id);
        const found = located.seq === 0 ? undefined : new RecordReader(this.machine.log).read(located.seq).record;
        if (found?.type === 'event_accepted') await this.#ask(this.machine.withdrawal(null, located));
        return;
      }
      case 'erase':
      case 'request': {
        const command = erase(act.player, act.type === 'erase' ? -2 : 0);
        await this.#ask({ ...command, commitment: `receipt of ${this.#acts}` } as Command);
      }
    }
  }

  /** Reports `id-FROM` up to `id-TO`, without the last, by each peer in turn about the players 0 to 3. */
  async report(from: number, to: number): Promise<void> {
    for (let i = from; i < to; i++)
      await this.act({ type: 'event', peer: i % PEERS, id: `id-${i}`, player: `player ${i % 4}`, severity: 0.5 });
  }

  /** Takes out what was received before this moment, with pieces of one batch, so that there are several. */
  retireBatchwise(before: number): Promise<void> {
    return withBounds({ redactionPieceRecords: 1 }, () => this.machine.retire(before));
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

/** Draws what happens, one act after the other; events get the ids `e0-`, `e1-`, … */
export function drawn(random: Random): () => Act {
  let events = 0;
  return () => {
    const player = `player ${random.below(PLAYERS)}`;
    const die = random.below(20);
    if (die < 14) {
      const [peer, severity] = [random.below(PEERS), random.next()];
      return { type: 'event', peer, id: `e${events++}-`, player, severity };
    }
    if (die < 18) return { type: 'withdraw', id: `e${random.below(Math.max(1, events))}-` };
    return { type: 'erase', player };
  };
}

/** A log that answers in pieces of a few batches, so that what happens meanwhile falls between them. */
export function inPieces(log: LogReader, batches: number): LogReader {
  return {
    last: () => log.last(),
    at: (seq) => log.at(seq),
    from: (firstSeq, limit, maxBytes) => log.from(firstSeq, Math.min(limit, batches), maxBytes),
    borrow: (firstSeq, limit, maxBytes, take) => log.borrow(firstSeq, Math.min(limit, batches), maxBytes, take),
    close: async () => undefined,
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

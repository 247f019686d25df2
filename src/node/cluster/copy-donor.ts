/** Sends the log and a snapshot to a node that joins, in pieces and at a bounded rate. Nothing is prepared for it. */
import { statSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { LinkRefusedError } from '../../cluster/link-server.js';
import { hasCode } from '../../errors.js';
import { type Timers, waitOf } from '../../group/ports/clock.js';
import { type GroupPool, PoolBusyError } from '../../group/ports/pool.js';
import { limits } from '../../limits.js';
import { LmdbSnapshotStore, snapshotFileOf } from '../../store/snapshots/lmdb-snapshots.js';

export interface CopyOffer {
  /** The newest record of its files. */
  readonly last_seq: number;
  readonly snapshots: readonly { readonly seq: number; readonly bytes: number }[];
}

export interface DonorDeps {
  readonly dir: string;
  readonly timers: Pick<Timers, 'elapsed' | 'later'>;
  readonly site: () => { readonly durableSeq: number; readonly pool: Pick<GroupPool, 'logPiece'> } | null;
}

export class CopyDonor {
  readonly #snapshots: LmdbSnapshotStore;
  /** Memory of a piece. New memory for each would make the garbage collector pause the answers to callers. */
  readonly #memory = Buffer.alloc(limits.copyPieceBytes);
  #free: Promise<unknown> = Promise.resolve();
  /** The time at which the pieces so far have kept to the rate, by `elapsed`. */
  #paidUntil = 0;

  constructor(private readonly deps: DonorDeps) {
    this.#snapshots = new LmdbSnapshotStore(deps.dir);
  }

  offer(): CopyOffer {
    const { durableSeq } = this.#site;
    const snapshots = this.#snapshots.list().flatMap((seq) => {
      const stat = statSync(snapshotFileOf(this.deps.dir, seq), { throwIfNoEntry: false });
      return stat === undefined ? [] : [{ seq, bytes: stat.size }];
    });
    return { last_seq: durableSeq, snapshots };
  }

  /** Up to `limit` batches from `firstSeq` on, as `writePiece` encodes them: a borrowed view until `sent` settles. */
  logPiece(firstSeq: number, limit: number, sent: Promise<void>): Promise<Uint8Array> {
    return this.#piece(sent, async () => {
      const piece = await this.#site.pool.logPiece({ firstSeq, limit }).catch((error: unknown) => {
        throw error instanceof PoolBusyError ? new LinkRefusedError(error.message) : error;
      });
      if (piece.length > this.#memory.length) return piece;
      // A socket must not read memory that another thread writes.
      this.#memory.set(piece);
      return this.#memory.subarray(0, piece.length);
    });
  }

  /** Resolves to bytes of a snapshot's file from byte `from` on: a borrowed view, valid until `sent` settles. */
  snapshotPiece(seq: number, from: number, sent: Promise<void>): Promise<Uint8Array> {
    return this.#piece(sent, async () => {
      const file = await open(snapshotFileOf(this.deps.dir, seq)).catch((error: unknown) => {
        throw hasCode(error, 'ENOENT') ? new LinkRefusedError(`there is no snapshot ${seq} any more`) : error;
      });
      const { bytesRead } = await file.read(this.#memory, { position: from }).finally(() => file.close());
      return this.#memory.subarray(0, bytesRead);
    });
  }

  get #site() {
    const site = this.deps.site();
    if (site === null) throw new LinkRefusedError('the node is starting');
    return site;
  }

  async #piece(sent: Promise<void>, make: () => Promise<Uint8Array>): Promise<Uint8Array> {
    const made = this.#free.then(make);
    this.#free = made.then(
      () => sent,
      () => undefined,
    );
    const { length } = await made;
    const now = this.deps.timers.elapsed();
    const waitMs = this.#paidUntil - now;
    this.#paidUntil = Math.max(now, this.#paidUntil) + (length / limits.copyBytesPerS) * 1000;
    if (waitMs > 1) await waitOf(this.deps.timers, waitMs).over;
    return made;
  }
}

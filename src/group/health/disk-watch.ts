/** Watches the free disk space: below the watermark the group refuses writes, and still answers reads. */
import { limits } from '../../limits.js';
import { every, type Timers } from '../ports/clock.js';
import type { DiskGauge, DiskUse } from '../ports/storage.js';

export interface DiskWatchDeps {
  readonly gauge: DiskGauge;
  readonly timers: Pick<Timers, 'later'>;
  /** At least `limits.commitFreeBytes`. */
  readonly minBytes: number;
  /** The disk became low or has room again, or room for a removal disappeared or returned. */
  readonly onChange: (low: boolean, use: DiskUse) => void;
  /** Called once until a read succeeds; the last result remains valid. */
  readonly onFailure: (error: unknown) => void;
}

export class DiskWatch {
  readonly minBytes: number;
  /** Null before the first successful read. */
  use: DiskUse | null = null;
  low = false;
  #looking = false;
  #isBlind = false;
  #cancel: () => void = () => undefined;

  constructor(private readonly deps: DiskWatchDeps) {
    this.minBytes = Math.max(deps.minBytes, limits.commitFreeBytes);
  }

  /** True if there is room for a removal from the log, even on a low disk: a failed commit ends the node. */
  get fitsRemoval(): boolean {
    return !this.low || this.use === null || this.use.freeBytes >= limits.removalFreeBytes;
  }

  /** True if a commit would not find its space now, which would end the process: a disk may fill between checks. */
  isFullNow(): boolean {
    if (this.use === null) return false;
    try {
      this.#saw({ ...this.use, freeBytes: this.deps.gauge.freeBytes() });
    } catch {
      // The regular check reports the error.
    }
    return this.use.freeBytes < limits.commitFreeBytes;
  }

  /**
   * True if one more snapshot leaves the disk above the watermark. The next one is due at half as many records again,
   * so twice the newest size is enough; the first one is smaller than the log.
   */
  get fitsSnapshot(): boolean {
    if (this.use === null) return true;
    const { freeBytes, logBytes, newestSnapshotBytes } = this.use;
    const expectedBytes = newestSnapshotBytes === 0 ? logBytes : 2 * newestSnapshotBytes;
    return freeBytes - expectedBytes >= this.minBytes;
  }

  async start(): Promise<void> {
    await this.look();
    this.#cancel = every(this.deps.timers, limits.diskLookMs, () => void this.look());
  }

  stop(): void {
    this.#cancel();
  }

  async look(): Promise<void> {
    if (this.#looking) return;
    this.#looking = true;
    try {
      this.#saw(await this.deps.gauge.look());
      this.#isBlind = false;
    } catch (error) {
      if (!this.#isBlind) this.deps.onFailure(error);
      this.#isBlind = true;
    } finally {
      this.#looking = false;
    }
  }

  /** The disk has room again only well above the watermark, so that writes do not open and close each second. */
  #saw(use: DiskUse): void {
    const wasLow = this.low;
    const fittedRemoval = this.fitsRemoval;
    this.use = use;
    this.low = use.freeBytes < (wasLow ? this.minBytes * limits.diskResumeFactor : this.minBytes);
    if (this.low !== wasLow || this.fitsRemoval !== fittedRemoval) this.deps.onChange(this.low, use);
  }
}

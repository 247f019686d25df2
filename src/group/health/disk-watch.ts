/**
 * The watermark of free disk space: below it the group takes no writes and goes on with reads, until there is room
 * again. It holds the rule and the last look; the space itself comes in through a port.
 */
import { limits } from '../../limits.js';
import type { Timers } from '../ports/clock.js';
import type { DiskGauge, DiskUse } from '../ports/disk.js';

export interface DiskWatchDeps {
  readonly gauge: DiskGauge;
  readonly timers: Pick<Timers, 'later'>;
  /** Free space below which nothing new is written; at least `limits.commitFreeBytes` counts. */
  readonly minBytes: number;
  /** The disk became low, or is no longer, or there is no more, or again, room for a removal. */
  readonly onChange: (low: boolean, use: DiskUse) => void;
  /** The disk could not be looked at; the look before counts on. Told once, until a look succeeds. */
  readonly onFailure: (error: unknown) => void;
}

export class DiskWatch {
  readonly minBytes: number;
  readonly #deps: DiskWatchDeps;
  #use: DiskUse | null = null;
  #low = false;
  #looking = false;
  #isBlind = false;
  #cancel: () => void = () => undefined;

  constructor(deps: DiskWatchDeps) {
    this.#deps = deps;
    this.minBytes = Math.max(deps.minBytes, limits.commitFreeBytes);
  }

  /** Whether there is too little room for anything that a caller wants written. */
  get low(): boolean {
    return this.#low;
  }

  /**
   * Whether there is room for what takes something out of the log, low as the disk may be: a commit that fails ends the
   * node.
   */
  get fitsRemoval(): boolean {
    return !this.#low || this.#use === null || this.#use.freeBytes >= limits.removalFreeBytes;
  }

  /**
   * Looks at the free space before a commit begins. True where it would not find its space, by what callers want
   * written: a disk fills up faster than the regular looks come, and a commit without space ends the process.
   */
  isFullNow(): boolean {
    if (this.#use === null) return false;
    try {
      this.#saw({ ...this.#use, freeBytes: this.#deps.gauge.freeBytes() });
    } catch {
      // The regular look reports what keeps the disk from being looked at.
    }
    return this.#use.freeBytes < limits.commitFreeBytes;
  }

  /** Null before the first look that succeeded. */
  get use(): DiskUse | null {
    return this.#use;
  }

  /**
   * Whether one more snapshot leaves the disk above the watermark. The next one is due at half as many records again as
   * the newest covers, so twice its size is enough; the first one is smaller than the log.
   */
  get fitsSnapshot(): boolean {
    if (this.#use === null) return true;
    const { freeBytes, logBytes, newestSnapshotBytes } = this.#use;
    const expectedBytes = newestSnapshotBytes === 0 ? logBytes : 2 * newestSnapshotBytes;
    return freeBytes - expectedBytes >= this.minBytes;
  }

  /** Looks now, and from now on again and again until `stop`. */
  async start(): Promise<void> {
    await this.look();
    this.#plan();
  }

  stop(): void {
    this.#cancel();
  }

  #plan(): void {
    this.#cancel = this.#deps.timers.later(() => {
      this.#plan();
      void this.look();
    }, limits.diskLookMs);
  }

  /** One look; none where one is under way. */
  async look(): Promise<void> {
    if (this.#looking) return;
    this.#looking = true;
    try {
      this.#saw(await this.#deps.gauge.look());
      this.#isBlind = false;
    } catch (error) {
      if (!this.#isBlind) this.#deps.onFailure(error);
      this.#isBlind = true;
    } finally {
      this.#looking = false;
    }
  }

  /**
   * Room is back only well above the watermark: what hovers at it would open and close the node to writes each second.
   */
  #saw(use: DiskUse): void {
    const wasLow = this.#low;
    const fittedRemoval = this.fitsRemoval;
    this.#use = use;
    this.#low = use.freeBytes < (wasLow ? this.minBytes * limits.diskResumeFactor : this.minBytes);
    if (this.#low !== wasLow || this.fitsRemoval !== fittedRemoval) this.#deps.onChange(this.#low, use);
  }
}

/**
 * Declares the disk under the data folder as a port: its free space, the space that the store takes, and the reserve
 * for commits on a full disk.
 */

/** Free space of the disk under the data folder, and the space that the store takes. All in bytes. */
export interface DiskUse {
  /** Space that this process may still use, which excludes the space reserved for root. */
  readonly freeBytes: number;
  readonly logBytes: number;
  /** All snapshots together, including left-overs. */
  readonly snapshotsBytes: number;
  /** 0 if there is no snapshot. */
  readonly newestSnapshotBytes: number;
}

export interface DiskGauge {
  /** Space that this process may still use, in bytes: one system call, which never waits for the disk. */
  freeBytes(): number;
  look(): Promise<DiskUse>;
}

export interface DiskReserve {
  /** Runs `act`, which can use the reserved space on a full disk. */
  during<T>(act: (isFull: boolean) => Promise<T>): Promise<T>;
}

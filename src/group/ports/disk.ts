/** Declares the disk under the data folder as a port: its free space and the reserve for commits on a full disk. */

/** In bytes. */
export interface DiskUse {
  /** Space that this process may still use, which excludes the space reserved for root. */
  readonly freeBytes: number;
  readonly logBytes: number;
  /** Includes left-overs. */
  readonly snapshotsBytes: number;
  /** 0 if there is no snapshot. */
  readonly newestSnapshotBytes: number;
}

export interface DiskGauge {
  /** One system call, which never waits for the disk. */
  freeBytes(): number;
  look(): Promise<DiskUse>;
}

export interface DiskReserve {
  /** Runs `act`, which can use the reserved space on a full disk. */
  during<T>(act: (isFull: boolean) => Promise<T>): Promise<T>;
}

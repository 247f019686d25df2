/** The disk under the data folder, as a group needs it. */

/** What the disk under the data folder has left, and what the store takes of it. All in bytes. */
export interface DiskUse {
  /** What this process may still take, so without what is reserved for root. */
  readonly freeBytes: number;
  readonly logBytes: number;
  /** All snapshots together, left-overs included. */
  readonly snapshotsBytes: number;
  /** 0 where there is none. */
  readonly newestSnapshotBytes: number;
}

export interface DiskGauge {
  /** What this process may still take, in bytes: one call of the system, which never waits for the disk. */
  freeBytes(): number;
  look(): Promise<DiskUse>;
}

/** Disk space that is kept for commits on a full disk. */
export interface DiskReserve {
  /** Runs `act`, which on a full disk finds the space of the reserve free. */
  during<T>(act: () => Promise<T>): Promise<T>;
}

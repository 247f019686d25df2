/** Failures of the storage that callers tell apart. */

/** Another process owns the data folder now. */
export class OwnerLostError extends Error {
  override readonly name = 'OwnerLostError';
}

/** Stored bytes are not what was written. The message names the file, the block or the record. */
export class DamagedError extends Error {
  override readonly name = 'DamagedError';
}

/** Something else than what is stored kept it from being read. Nothing is said of it. */
export class UnreadError extends Error {
  override readonly name: string = 'UnreadError';
}

/** A disk has no room left, not even for what a reader needs of it. */
export class DiskFullError extends UnreadError {
  override readonly name = 'DiskFullError';
}

/** The scrub could not be carried through now. Nothing was lost: it is to be asked for again. */
export class ScrubDeferredError extends Error {
  override readonly name = 'ScrubDeferredError';
}

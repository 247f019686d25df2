/** Another process owns the data folder now. */
export class OwnerLostError extends Error {
  override readonly name = 'OwnerLostError';
}

/** Stored bytes differ from those that were written. The message names the file, the block or the record. */
export class DamagedError extends Error {
  override readonly name = 'DamagedError';
}

/** The next batch of the group's log does not follow the last one of this node. */
export class DivergedError extends Error {
  override readonly name = 'DivergedError';
}

/** Stored data could not be read for a reason other than damage, so that its state is unknown. */
export class UnreadError extends Error {
  override readonly name: string = 'UnreadError';
}

/** The disk is full; even reads may fail. */
export class DiskFullError extends UnreadError {
  override readonly name = 'DiskFullError';
}

/** The scrub could not be completed now. Nothing was lost: request it again later. */
export class ScrubDeferredError extends Error {
  override readonly name = 'ScrubDeferredError';
}

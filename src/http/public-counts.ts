/** Rounds counters that anybody may read. */

/** Cuts a public counter to two significant digits: one that moves by one would reveal who caused it. */
export function cutCount(count: number): number {
  const unit = unitOf(count);
  return Math.floor(count / unit) * unit;
}

export function raisedCount(count: number): number {
  const unit = unitOf(count);
  return Math.ceil(count / unit) * unit;
}

function unitOf(count: number): number {
  let unit = 1;
  while (count / unit >= 100) unit *= 10;
  return unit;
}

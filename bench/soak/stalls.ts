/** Which stalls of a server's event loop are its own, and not the machine's. */
import type { LoopSample } from '../loop-sample.js';

/** Samples of two event loops within it are of one moment. */
const sameMomentMs = 250;

/** Of the samples above `stallMs`, those in whose moment an idle server was not half as late. Both are in the order of their time. */
export function ownStalls(node: readonly LoopSample[], idle: readonly LoopSample[], stallMs: number): LoopSample[] {
  let first = 0;
  return node.filter(({ at, max }) => {
    if (max <= stallMs) return false;
    while (first < idle.length && idle[first]!.at < at - sameMomentMs) first++;
    for (let i = first; i < idle.length && idle[i]!.at <= at + sameMomentMs; i++) {
      if (idle[i]!.max >= max / 2) return false;
    }
    return true;
  });
}

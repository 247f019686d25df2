/** How a load passes its time without going to sleep: a core that sleeps is slow to come back, and to call it back costs whoever answers. */

/**
 * Loads of a cell between two turns of the event loop: some 2.5 us that leave no garbage. Each turn and each reading of the clock
 * leaves some, and collecting it makes requests late.
 */
const idleLoads = 500;

const nothing = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));

/** Passes a moment. */
export function idle(): void {
  for (let load = 0; load < idleLoads; load++) Atomics.load(nothing, 0);
}

/**
 * Turns through the event loop until it is over. `done` counts what came: in a turn in which something did no time is passed, as more follows most often.
 */
export function stayAwake(done: () => number, isOver: () => boolean): void {
  let before = done();
  const turn = (): void => {
    if (isOver()) return;
    const now = done();
    if (now === before) idle();
    before = now;
    setImmediate(turn);
  };
  turn();
}

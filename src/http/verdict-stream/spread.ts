/**
 * Gives what was told to many readers without holding the thread: a slice of them at a time, between which other
 * requests are answered. Every reader gets everything in order.
 */
import { limits } from '../../limits.js';
import type { ChangeFrames, StreamReader } from './reader.js';

interface Piece {
  readonly frames: ChangeFrames;
  readonly left: Iterator<StreamReader>;
  readonly done: () => void;
}

export class Spread {
  readonly #pieces: Piece[] = [];
  #isScheduled = false;

  /**
   * Resolves once each of the readers has it. Those that join while it lasts are told too; they know what they have.
   */
  send(frames: ChangeFrames, readers: Iterable<StreamReader>): Promise<void> {
    return new Promise((done) => {
      this.#pieces.push({ frames, left: readers[Symbol.iterator](), done });
      this.#schedule();
    });
  }

  /** Tells what waits at once. */
  flush(): void {
    this.#run(Number.POSITIVE_INFINITY);
  }

  #schedule(): void {
    if (this.#isScheduled || this.#pieces.length === 0) return;
    this.#isScheduled = true;
    setImmediate(() => {
      this.#isScheduled = false;
      this.#run(performance.now() + limits.streamSliceMs);
      this.#schedule();
    });
  }

  #run(until: number): void {
    for (let piece = this.#pieces[0]; piece !== undefined; piece = this.#pieces[0]) {
      for (let next = piece.left.next(); !next.done; next = piece.left.next()) {
        next.value.send(piece.frames);
        if (performance.now() > until) return;
      }
      this.#pieces.shift();
      piece.done();
    }
  }
}

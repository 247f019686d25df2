/** Sends frames to a slice of the readers at a time, so that other requests run in between; to each in order. */
import { limits } from '../../limits.js';
import type { ChangeFrames, StreamReader } from './stream-reader.js';

interface Piece {
  readonly frames: ChangeFrames;
  readonly left: Iterator<StreamReader>;
  readonly done: () => void;
}

export class Spread {
  readonly #pieces: Piece[] = [];
  #isScheduled = false;

  /** Resolves once each reader has the frames, readers that join meanwhile included. */
  send(frames: ChangeFrames, readers: Iterable<StreamReader>): Promise<void> {
    return new Promise((done) => {
      this.#pieces.push({ frames, left: readers[Symbol.iterator](), done });
      this.#schedule();
    });
  }

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

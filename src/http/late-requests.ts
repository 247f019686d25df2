/**
 * Ends connections whose request does not arrive in time. Node's parser tells of each once, and of all that are late in one moment: they are
 * looked at a few at a time, and what has changed until then is looked after here.
 */
import type { Duplex } from 'node:stream';
import { limits } from '../limits.js';
import { HeldBack } from './held-back.js';
import { PacedWork } from './paced-work.js';

/** What had arrived on a connection at one moment: its newest request, and whether that was whole then. */
export interface Arrived {
  readonly request: { readonly complete: boolean } | undefined;
  readonly complete: boolean;
}

export class LateRequests {
  readonly #arrivedOn: (socket: Duplex) => Arrived;
  readonly #end: (socket: Duplex) => void;
  readonly #againMs: number;
  readonly #heldBack = new HeldBack();
  readonly #paced = new PacedWork();

  /** `againMs`: what a request gets of which only the head came late. */
  constructor(
    arrivedOn: (socket: Duplex) => Arrived,
    end: (socket: Duplex) => void,
    againMs: number = limits.requestTimeoutMs,
  ) {
    this.#arrivedOn = arrivedOn;
    this.#end = end;
    this.#againMs = againMs;
  }

  /** Watches a connection for as long as it lives. */
  add(socket: Duplex): void {
    this.#heldBack.add(socket);
  }

  /** The parser told of a connection: what it lacks is late. */
  told(socket: Duplex): void {
    this.#later(socket, this.#arrivedOn(socket));
  }

  /** `then`: what had arrived when it was late. */
  #look(socket: Duplex, then: Arrived): void {
    if (socket.destroyed) return;
    const now = this.#arrivedOn(socket);
    if (now.request === then.request && now.complete === then.complete) {
      if (!this.#heldBack.excuses(socket, () => this.#later(socket, then))) this.#end(socket);
    } else if (now.request !== undefined && !now.complete) {
      // The head came while it waited to be ended, and of its body the parser will not tell.
      setTimeout(() => this.#later(socket, now), this.#againMs).unref();
    }
  }

  #later(socket: Duplex, then: Arrived): void {
    this.#paced.add(() => this.#look(socket, then));
  }
}

/**
 * A thread that does nothing but hand the core back. Node has no call by which a thread gives way to another: whoever waits for a partner of its own
 * priority lets everyone go first who is due the core before both, and has it back at once where nobody is, without a timer (decision 210).
 */
import { Worker } from 'node:worker_threads';

/** One field, shared: whose turn it is. */
export type Turn = Int32Array<SharedArrayBuffer>;

export const turns = { loading: 0, owner: 1, partner: 2 } as const;

/** On a core that others want all the time a partner, too, waits for its share: some tenths of a second. */
const GIVE_UP_MS = 2_000;

export class Partner {
  readonly #turn: Turn = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
  readonly #thread: Worker;
  readonly #giveUpMs: number;
  #isThere = true;

  /** Its thread has the priority of the calling one, and ends with it. */
  constructor(giveUpMs = GIVE_UP_MS) {
    this.#giveUpMs = giveUpMs;
    this.#thread = new Worker(new URL('./partner-thread.js', import.meta.url), {
      workerData: this.#turn,
      execArgv: [],
      resourceLimits: { maxYoungGenerationSizeMb: 1, maxOldGenerationSizeMb: 16 },
    });
    this.#thread.unref();
    // Whoever has none can do without.
    this.#thread.on('error', () => {
      this.#isThere = false;
    });
  }

  /** Gives the core to whoever is due it. False while the partner loads, and where it does not answer, from then on at once. */
  handOver(): boolean {
    const turn = this.#turn;
    if (!this.#isThere || Atomics.load(turn, 0) === turns.loading) return false;
    Atomics.store(turn, 0, turns.partner);
    Atomics.notify(turn, 0);
    this.#isThere = Atomics.wait(turn, 0, turns.partner, this.#giveUpMs) !== 'timed-out';
    return this.#isThere;
  }

  async end(): Promise<void> {
    await this.#thread.terminate();
  }
}

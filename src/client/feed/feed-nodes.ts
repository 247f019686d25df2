/**
 * Which node the feed reads from: the first of the list that has not failed since a stream was last current. While that
 * is not the preferred one, asks now and then whether one that stands before it is ready again.
 */
import { bounds } from '../bounds.js';
import { linked, pause, type Runtime } from '../transport/runtime.js';
import { answerOf, type Transport } from '../transport/transport.js';

export class FeedNodes {
  readonly #transports: readonly Transport[];
  readonly #runtime: Runtime;
  readonly #readyPath: string;
  readonly #failed = new Set<number>();
  #current = 0;

  constructor(transports: readonly Transport[], runtime: Runtime, readyPath: string) {
    this.#transports = transports;
    this.#runtime = runtime;
    this.#readyPath = readyPath;
  }

  get count(): number {
    return this.#transports.length;
  }

  /** The place of the present node in the list. */
  get current(): number {
    return this.#current;
  }

  get transport(): Transport {
    return this.#transports[this.#current]!;
  }

  /** The stream of the present node is current. */
  succeeded(): void {
    this.#failed.clear();
  }

  /** Moves on after a failure of the present node. False where each has failed: the next is the preferred one again. */
  moveOn(): boolean {
    this.#failed.add(this.#current);
    const next = this.#transports.findIndex((_, index) => !this.#failed.has(index));
    if (next < 0) this.#failed.clear();
    this.#current = Math.max(0, next);
    return next >= 0;
  }

  /** Moves to a node that was found to be ready. */
  moveTo(index: number): void {
    this.#current = index;
  }

  /** The place of a node that stands before the present one, once it is ready. Rejects once `signal` aborts. */
  async betterNode(signal: AbortSignal): Promise<number> {
    for (;;) {
      // Between half and all of it, so that a fleet of game servers does not come back as one.
      await pause(this.#runtime, bounds.streamPreferMs * (0.5 + this.#runtime.random() / 2), signal);
      for (let index = 0; index < this.#current; index++) {
        if (await this.#isReady(this.#transports[index]!, signal)) return index;
      }
    }
  }

  async #isReady(transport: Transport, outer: AbortSignal): Promise<boolean> {
    const { controller, release } = linked(outer);
    const stop = this.#runtime.after(bounds.failoverAttemptMs, () => controller.abort(new Error('no answer in time')));
    try {
      const request = { method: 'GET', path: this.#readyPath, headers: {}, signal: controller.signal } as const;
      const { status, body } = await answerOf(transport, request);
      for await (const _ of body);
      return status === 200;
    } catch {
      outer.throwIfAborted();
      return false;
    } finally {
      stop();
      release();
      controller.abort();
    }
  }
}

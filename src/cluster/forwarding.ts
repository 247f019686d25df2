/** Sends the commands of callers to the leader: their holders share the room, and those of one turn share a request. */
import { setMaxListeners } from 'node:events';
import { FairQueue } from '../core/fair-queue.js';
import { type Timers, waitOf } from '../group/ports/clock.js';
import { limits } from '../limits.js';
import { type LinkClient, LinkError } from './link-client.js';

/** One line of the answer to commands, which comes once its command is decided. */
export interface CommandAnswer {
  /** The command's line in a request with several. */
  readonly at?: number;
  /** Null if the node does not lead; then nothing was done. */
  readonly value?: unknown;
  /** The newest record that the node had applied by then. */
  readonly seq: number;
  /** Why there is no value; the command may have been executed. */
  readonly error?: string;
}

interface Sent {
  readonly line: string;
  readonly resolve: (answer: CommandAnswer) => void;
  readonly reject: (error: unknown) => void;
}

/** Sends commands to one leader: those of one turn share a connection, and its fate. */
export class Forwarder {
  readonly #aborted = new AbortController();
  /** Those of this turn of the event loop. */
  #next: Sent[] = [];
  #length = 0;

  constructor(
    private readonly link: Pick<LinkClient, 'lines'>,
    private readonly url: string,
    private readonly timers: Pick<Timers, 'soon'>,
  ) {
    // Many calls use one signal.
    setMaxListeners(0, this.#aborted.signal);
  }

  /** Rejects with `LinkError`. */
  send(command: object): Promise<CommandAnswer> {
    const line = JSON.stringify(command);
    if (this.#length + line.length > limits.clusterTurnBytes) this.#flush();
    if (this.#next.length === 0) this.timers.soon(() => this.#flush());
    this.#length += line.length;
    return new Promise((resolve, reject) => this.#next.push({ line, resolve, reject }));
  }

  /** Ends the commands that the leader has not answered. */
  abort(): void {
    this.#aborted.abort();
  }

  #flush(): void {
    const sent = this.#next;
    if (sent.length === 0) return;
    this.#next = [];
    this.#length = 0;
    const { url } = this;
    const { signal } = this.#aborted;
    const body = sent.map(({ line }) => line).join('\n');
    const call = { url, method: 'POST', path: '/commands', body, timeoutMs: limits.forwardMs, signal } as const;
    const fail = (error: unknown): void => {
      for (const { reject } of sent) reject(error);
    };
    const settle = (line: string): void => {
      const { at = 0, ...answer } = JSON.parse(line) as CommandAnswer;
      if (answer.error === undefined) sent[at]!.resolve(answer);
      else sent[at]!.reject(new LinkError(`${url}: ${answer.error}`, false));
    };
    const unanswered = () => fail(new LinkError(`${url}: no answer to a command`, false));
    this.link.lines(call, settle).then(unanswered, fail);
  }
}

interface Waiting {
  readonly holder: string;
  readonly begin: () => boolean;
}

export class ForwardRoom {
  readonly #waiting = new FairQueue<string, Waiting>(1, () => 1);
  readonly #running = new Map<string, number>();
  #runningInAll = 0;

  constructor(private readonly timers: Pick<Timers, 'later'>) {}

  /** Sends a command once its holder has room. Rejects with `LinkError` if that takes longer than `waitMs`. */
  async run<T>(holder: string, waitMs: number, send: () => Promise<T>): Promise<T> {
    // A command that waits already has no room now either.
    if (this.#hasRoom(holder)) this.#count(holder, 1);
    else await this.#turn(holder, waitMs);
    try {
      return await send();
    } finally {
      this.#count(holder, -1);
      this.#waiting.take(
        ({ begin }) => begin(),
        (next) => !this.#hasRoom(next.holder),
      );
    }
  }

  async #turn(holder: string, waitMs: number): Promise<void> {
    const { over, end } = waitOf(this.timers, waitMs);
    let hasBegun = false;
    const begin = (): boolean => {
      hasBegun = true;
      this.#count(holder, 1);
      end();
      return true;
    };
    this.#waiting.push(holder, { holder, begin });
    await over;
    if (hasBegun) return;
    this.#waiting.removeWhere((command) => command.begin === begin);
    throw new LinkError(`no room on the link within ${waitMs} ms`, true);
  }

  /** A holder with many commands in progress leaves room for others. From a reserve, each may have one. */
  #hasRoom(holder: string): boolean {
    const left = limits.linkForwardsMax - this.#runningInAll;
    return left > -limits.linkFirstForwardsMax && (this.#running.get(holder) ?? 0) < Math.max(1, 2 * left);
  }

  #count(holder: string, change: 1 | -1): void {
    const count = (this.#running.get(holder) ?? 0) + change;
    if (count === 0) this.#running.delete(holder);
    else this.#running.set(holder, count);
    this.#runningInAll += change;
  }
}

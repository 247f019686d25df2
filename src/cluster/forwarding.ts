/** Sends the commands of callers to the leader: their holders share the room, and those of one turn share a request. */
import { setMaxListeners } from 'node:events';
import { getOrMake } from '../core/get-or-make.js';
import { limits } from '../limits.js';
import { type LinkClient, LinkError } from './link-client.js';

/** One line of the answer to commands, which comes once its command is decided. */
export interface CommandAnswer {
  /** The command's line in the request. A node before 2026-12 reads one line, and does not say this. */
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

/** Sends commands to one leader. */
export class LeaderLine {
  readonly #aborted = new AbortController();
  /** Those of this turn of the event loop. */
  #next: Sent[] = [];
  #length = 0;
  #takesSeveral = false;

  constructor(
    private readonly link: Pick<LinkClient, 'lines'>,
    private readonly url: string,
  ) {
    // Many calls use one signal.
    setMaxListeners(0, this.#aborted.signal);
  }

  /** Rejects with `LinkError`. */
  send(command: object): Promise<CommandAnswer> {
    const line = JSON.stringify(command);
    if (!this.#takesSeveral || this.#length + line.length > limits.clusterTurnBytes) this.#flush();
    if (this.#next.length === 0) setImmediate(() => this.#flush());
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
    const unanswered = () => fail(new LinkError(`${url}: no answer to a command`, false));
    this.link.lines(call, (line) => this.#settle(sent, JSON.parse(line) as CommandAnswer)).then(unanswered, fail);
  }

  #settle(sent: readonly Sent[], answer: CommandAnswer): void {
    const { at = 0, error } = answer;
    this.#takesSeveral = answer.at !== undefined;
    const { resolve, reject } = sent[at]!;
    if (error === undefined) resolve(answer);
    else reject(new LinkError(error, false));
  }
}

interface Line {
  running: number;
  readonly waiting: Set<() => void>;
}

export class ForwardRoom {
  readonly #lines = new Map<string, Line>();
  #running = 0;

  /** Sends a command once its holder has room. Rejects with `LinkError` if that takes longer than `waitMs`. */
  async run<T>(holder: string, waitMs: number, send: () => Promise<T>): Promise<T> {
    await this.#turn(holder, waitMs);
    try {
      return await send();
    } finally {
      this.#lines.get(holder)!.running -= 1;
      this.#running -= 1;
      this.#forget(holder);
      this.#beginNext();
    }
  }

  #turn(holder: string, waitMs: number): Promise<void> {
    const line = getOrMake(this.#lines, holder, () => ({ running: 0, waiting: new Set<() => void>() }));
    return new Promise((resolve, reject) => {
      const begin = (): void => {
        clearTimeout(late);
        resolve();
      };
      const late = setTimeout(() => {
        line.waiting.delete(begin);
        this.#forget(holder);
        reject(new LinkError(`no room on the link within ${waitMs} ms`, true));
      }, waitMs).unref();
      line.waiting.add(begin);
      this.#beginNext();
    });
  }

  /** Begins the waiting commands that have room, of the holders with the fewest in progress. */
  #beginNext(): void {
    for (;;) {
      const shareMax = 2 * (limits.linkForwardsMax - this.#running);
      let next: [holder: string, line: Line] | undefined;
      for (const [holder, line] of this.#lines) {
        const isNext = line.waiting.size > 0 && line.running < (next?.[1].running ?? shareMax);
        if (isNext) next = [holder, line];
      }
      if (next === undefined) return;
      const [holder, line] = next;
      const [begin] = line.waiting;
      line.waiting.delete(begin!);
      line.running += 1;
      this.#running += 1;
      // The holder is behind the others that have as many commands in progress.
      this.#lines.delete(holder);
      this.#lines.set(holder, line);
      begin!();
    }
  }

  #forget(holder: string): void {
    const { running, waiting } = this.#lines.get(holder)!;
    if (running === 0 && waiting.size === 0) this.#lines.delete(holder);
  }
}

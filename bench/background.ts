/** Watches the background threads of a node through `/proc`, which costs the node nothing. */
import { closeSync, openSync, readSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { namesIn, statOf } from './process-stats.js';

/** Field 19 of a thread's `stat`; the fields are counted from the third. */
const NICE = 16;
/** Short enough that the rehearsals compile this code. */
const pollMs = 2;
/**
 * Polls without work after which a thread counts as idle. A thread sleeps for at most 6 ms (three polls) within its
 * work.
 */
const stillLooks = 5;
/** Share of a core below which a thread counts as idle. A CPU profile wakes each thread a thousand times a second. */
const stillShare = 0.1;
/** Idle polls that end the wait for work that is shorter than expected, or already finished. */
const patientLooks = 250;
const timeoutMs = 300_000;

const space = 0x20;
const zero = 0x30;
/** The last byte of a thread's name in its `stat`, and the state of one that runs or waits for a core. */
const closing = 0x29;
const running = 0x52;

export class Background {
  /**
   * The open `schedstat` and `stat` files of each thread. All are read into the same buffer, so that the load has no
   * garbage to collect.
   */
  readonly #files: readonly number[];
  readonly #states: readonly number[];
  readonly #bytes = Buffer.alloc(64);

  /** Watches the threads of process `pid` whose priority is below its own. Watches none on a system without `/proc`. */
  constructor(pid: number) {
    const folder = `/proc/${pid}/task`;
    const niceOf = (thread: number | string) => Number(statOf(`${folder}/${thread}`)[NICE]);
    const threads = namesIn(folder).filter((thread) => niceOf(thread) > niceOf(pid));
    this.#files = threads.map((thread) => openSync(`${folder}/${thread}/schedstat`, 'r'));
    this.#states = threads.map((thread) => openSync(`${folder}/${thread}/stat`, 'r'));
  }

  get isSeen(): boolean {
    return this.#files.length > 0;
  }

  /** Returns the processor time so far, in ms. */
  cpuMs(): number {
    let ns = 0;
    for (const file of this.#files) ns += this.#firstNumber(file);
    return ns / 1e6;
  }

  async stop(): Promise<void> {
    for (const file of [...this.#files, ...this.#states]) closeSync(file);
  }

  /**
   * Resolves once the threads have used `cpuMs` of processor time and are idle, or have been idle for half a second.
   */
  async still(cpuMs: number): Promise<void> {
    const giveUpMs = performance.now() + timeoutMs;
    let before = this.cpuMs();
    let beforeAtMs = performance.now();
    for (let looks = 0; looks < (before >= cpuMs ? stillLooks : patientLooks); ) {
      if (performance.now() > giveUpMs) throw new Error(`the background threads were still busy after ${timeoutMs} ms`);
      await delay(pollMs);
      const now = this.cpuMs();
      const nowAtMs = performance.now();
      if (now - before > (nowAtMs - beforeAtMs) * stillShare) looks = 0;
      // A thread that waits for a core is not idle.
      else if (!this.#isRunnable()) looks += 1;
      before = now;
      beforeAtMs = nowAtMs;
    }
  }

  #isRunnable(): boolean {
    const bytes = this.#bytes;
    return this.#states.some((file) => {
      const end = readSync(file, bytes, 0, bytes.length, 0);
      return bytes[bytes.lastIndexOf(closing, end - 1) + 2] === running;
    });
  }

  #firstNumber(file: number): number {
    const bytes = this.#bytes;
    const end = readSync(file, bytes, 0, bytes.length, 0);
    let number = 0;
    for (let at = 0; at < end && bytes[at] !== space; at++) number = number * 10 + (bytes[at]! - zero);
    return number;
  }
}

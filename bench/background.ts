/** Watches the background threads of a node through `/proc`, which costs the node nothing. */
import { closeSync, openSync, readSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { namesIn, statOf } from './process-stats.js';

/** Field 19 of a thread's `stat`, counted from the third. */
const NICE = 16;
/** Often enough that the rehearsals compile this code. */
const pollMs = 2;
/** A thread sleeps for 6 ms at most between two pieces of its work: three looks. */
const stillLooks = 5;
/** Share of a core below which a thread is idle: a CPU profile wakes each thread a thousand times a second. */
const stillShare = 0.1;
/** So many quiet looks end the wait for work that is shorter than expected, or over already. */
const patientLooks = 250;
const timeoutMs = 300_000;

const space = 0x20;
const zero = 0x30;

export class Background {
  /**
   * The `schedstat` of each thread, kept open and read into the same bytes, so that the load has no garbage to
   * collect.
   */
  readonly #files: readonly number[];
  readonly #bytes = Buffer.alloc(64);

  /**
   * Watches the threads of the process `pid` whose priority is below the ordinary one; none where the system has no
   * `/proc`.
   */
  constructor(pid: number) {
    const folder = `/proc/${pid}/task`;
    this.#files = namesIn(folder)
      .filter((thread) => Number(statOf(`${folder}/${thread}`)[NICE]) > 0)
      .map((thread) => openSync(`${folder}/${thread}/schedstat`, 'r'));
  }

  get isSeen(): boolean {
    return this.#files.length > 0;
  }

  /** Processor time so far, ms. */
  cpuMs(): number {
    let ns = 0;
    for (const file of this.#files) ns += this.#firstNumber(file);
    return ns / 1e6;
  }

  async stop(): Promise<void> {
    for (const file of this.#files) closeSync(file);
  }

  /** Resolves once the threads have used `cpuMs` of processor time and are idle, or are idle for half a second. */
  async still(cpuMs: number): Promise<void> {
    const giveUpMs = performance.now() + timeoutMs;
    let before = this.cpuMs();
    let beforeAtMs = performance.now();
    for (let looks = 0; looks < (before >= cpuMs ? stillLooks : patientLooks); ) {
      if (performance.now() > giveUpMs) throw new Error('the threads in the background did not come to rest in time');
      await delay(pollMs);
      const now = this.cpuMs();
      const nowAtMs = performance.now();
      looks = now - before <= (nowAtMs - beforeAtMs) * stillShare ? looks + 1 : 0;
      before = now;
      beforeAtMs = nowAtMs;
    }
  }

  #firstNumber(file: number): number {
    const bytes = this.#bytes;
    const end = readSync(file, bytes, 0, bytes.length, 0);
    let number = 0;
    for (let at = 0; at < end && bytes[at] !== space; at++) number = number * 10 + (bytes[at]! - zero);
    return number;
  }
}

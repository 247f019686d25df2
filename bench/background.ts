/** The threads that a node works with in the background, seen from outside: whether they are at work costs the node nothing to tell. */
import { closeSync, openSync, readSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { namesIn, statOf } from './process-stats.js';

/** Field 19 of a thread's `stat`, counted from the third. */
const NICE = 16;
/** So often that some rehearsals compile all that a look takes. */
const pollMs = 2;
/** A thread that sleeps between two pieces of its work does so for 6 ms at most, three looks. */
const stillLooks = 5;
/** Of a core. Less is no work: a profile asks each thread a thousand times a second where it is. */
const stillShare = 0.1;
/** Work that is shorter than expected, or over already, shows in that alone. */
const patientLooks = 250;
const timeoutMs = 300_000;

const space = 0x20;
const zero = 0x30;

export class Background {
  /** Of `schedstat` of each thread. Kept open, and read into the same bytes: whoever makes load beside has nothing to collect for it. */
  readonly #files: readonly number[];
  readonly #bytes = Buffer.alloc(64);

  /** Of the process `pid`, as they are now: those below the priority of an ordinary one. None where the system does not tell. */
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

  /** Resolves once they have worked until `cpuMs`, and are still; or are still for half a second. */
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

/** The threads that a node works with in the background, seen from outside: whether they are at work costs the node nothing to tell. */
import { readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { namesIn, statOf } from './process-stats.js';

/** Field 19 of a thread's `stat`, counted from the third. */
const NICE = 16;
const pollMs = 10;
/** A thread that rests between two pieces of its work does so for some tenths of a millisecond at most. */
const stillLooks = 2;
/** Work that is shorter than expected, or over already, shows in that alone. */
const patientLooks = 50;
const timeoutMs = 300_000;

export class Background {
  readonly #stats: readonly string[];

  /** Of the process `pid`, as they are now: those below the priority of an ordinary one. None where the system does not tell. */
  constructor(pid: number) {
    const folder = `/proc/${pid}/task`;
    this.#stats = namesIn(folder)
      .filter((thread) => Number(statOf(`${folder}/${thread}`)[NICE]) > 0)
      .map((thread) => `${folder}/${thread}/schedstat`);
  }

  get isSeen(): boolean {
    return this.#stats.length > 0;
  }

  /** Processor time so far, ms. */
  cpuMs(): number {
    return this.#stats.reduce((sum, stat) => sum + Number(readFileSync(stat, 'latin1').split(' ')[0]), 0) / 1e6;
  }

  /** Resolves once they have worked until `cpuMs`, and are still; or are still for half a second. */
  async still(cpuMs: number): Promise<void> {
    const giveUpMs = performance.now() + timeoutMs;
    let before = this.cpuMs();
    for (let looks = 0; looks < (before >= cpuMs ? stillLooks : patientLooks); ) {
      if (performance.now() > giveUpMs) throw new Error('the threads in the background did not come to rest in time');
      await delay(pollMs);
      const now = this.cpuMs();
      looks = now === before ? looks + 1 : 0;
      before = now;
    }
  }
}

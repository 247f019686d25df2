/**
 * Watches the group's keys in etcd from the start and records the fence of each slot: the create revision of the
 * leader's key at the time of the slot.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import type { FencedSlot } from './history.js';

/** One change of a key, as etcdctl prints it. `type` is 1 for a deletion and missing for a put. */
interface Change {
  readonly type?: number;
  readonly kv: { readonly key: string; readonly create_revision?: number; readonly mod_revision?: number };
}

interface Answer {
  /** Null in the answer that confirms the watch. */
  readonly Events: readonly Change[] | null;
  readonly CompactRevision?: number;
}

export class SlotWatch {
  readonly slots: FencedSlot[] = [];
  /** Fences in the order of the leaders. */
  readonly fences: number[] = [];
  readonly #child: ChildProcess;
  readonly #closed: Promise<unknown>;
  #fence = 0;

  constructor(endpoints: readonly string[], prefix: string) {
    const args = ['--endpoints', endpoints.join(','), 'watch', '--prefix', prefix, '--rev', '1', '-w', 'json'];
    const env = { PATH: process.env.PATH, ETCDCTL_API: '3' };
    this.#child = spawn('etcdctl', args, { env, stdio: ['ignore', 'pipe', 'ignore'] });
    this.#closed = once(this.#child, 'close');
    const lines = createInterface({ input: this.#child.stdout! });
    lines.on('line', (line) => this.#take(line, prefix));
  }

  async close(): Promise<void> {
    this.#child.kill();
    await this.#closed;
  }

  #take(line: string, prefix: string): void {
    const { Events: changes, CompactRevision: compacted } = JSON.parse(line) as Answer;
    if (compacted !== undefined && compacted > 0)
      throw new Error(`etcd compacted up to ${compacted} before the watch read it`);
    for (const { type, kv } of changes ?? []) {
      const name = Buffer.from(kv.key, 'base64').toString().slice(prefix.length);
      if (type !== undefined) continue;
      if (name === 'leader' && kv.create_revision !== this.#fence) {
        this.#fence = kv.create_revision ?? 0;
        this.fences.push(this.#fence);
      } else if (name.startsWith('log/') && kv.create_revision === kv.mod_revision) {
        this.slots.push({ firstSeq: Number(name.slice('log/'.length)), fence: this.#fence });
      }
    }
  }
}

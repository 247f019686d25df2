/** A watch of a list in this process, beside a node whose answers the test gives, with pauses that end at once. */
import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import * as assert from 'uvu/assert';
import { bounds } from '../../../src/client/bounds.js';
import { systemRuntime } from '../../../src/client/transport/time.js';
import { sourceOf } from '../../../src/peer/sources/source.js';
import { type WatchOptions, watchList } from '../../../src/peer/watch/list-watch.js';
import { WatchState } from '../../../src/peer/watch/watch-state.js';
import { temporaryFolder } from '../../support/process.js';
import { until } from '../../support/until.js';
import { type Asked, type FakeAnswer, type FakeNode, fakeNode, groupAnswer } from '../fake-node.js';

/** Five accounts. */
export const ids = Array.from({ length: 5 }, (_, i) => `${76561202255225729n + BigInt(i)}`);
const text = (...accounts: readonly string[]) => `steam_id\n${accounts.map((id) => `${id}\n`).join('')}`;

export class Watch {
  readonly folder = temporaryFolder();
  readonly path = join(this.folder, 'bans.csv');
  readonly lines: string[] = [];
  readonly reported: string[] = [];
  readonly withdrawn: string[] = [];
  /** Answers a request instead of the usual answer. */
  refuses: (asked: Asked) => FakeAnswer | undefined = () => undefined;
  /** The wall clock of the watch, in ms since 1970. */
  now = Date.UTC(2026, 10, 26);
  #elapsedMs = 0;
  #looks = 0;
  #node: FakeNode | undefined;

  /** Runs the watch while `work` does. Rejects if either fails, or if the watch ends before the work. */
  async run(work: () => Promise<void>, more: Partial<WatchOptions> = {}): Promise<void> {
    const source = await sourceOf([this.path], false, {});
    this.#node ??= await fakeNode((asked) => this.refuses(asked) ?? this.#answer(asked));
    const ending = new AbortController();
    const member = {
      url: this.#node.url,
      peerId: 'peer',
      apiKey: 'key',
      groupSalt: 'a salt of sixteen bytes',
      path: '',
    };
    const after = (ms: number, run: () => void) => {
      if (ms === bounds.listPollMs) this.#looks++;
      return systemRuntime.after(1, run);
    };
    const watching = watchList({
      config: { ...member, gameIds: ['arena'], signingKey: undefined, stateDir: join(this.folder, 'state') },
      source,
      format: 'auto',
      gameId: 'arena',
      timeZone: 'UTC',
      log: (line) => this.lines.push(line),
      signal: ending.signal,
      runtime: { ...systemRuntime, after, now: () => this.now, elapsedMs: () => this.#elapsedMs },
      ...more,
    });
    const endedEarly = watching.then(() => {
      throw new Error('the watch ended before the work');
    });
    try {
      await Promise.race([work(), endedEarly]);
    } finally {
      ending.abort();
      await watching.catch(() => undefined);
    }
    await watching;
  }

  /** Closes the node of all runs. */
  async close(): Promise<void> {
    await this.#node?.close();
  }

  write(...accounts: readonly string[]): void {
    writeFileSync(this.path, text(...accounts));
  }

  /** Waits while the list stays unchanged for long, or `stepMs` pass before each look at the condition. */
  async untilStill(condition: () => boolean, stepMs: number = bounds.listTailMs): Promise<void> {
    await until(() => {
      this.#elapsedMs += stepMs;
      return condition();
    });
  }

  /** Waits until the list was looked at as it is. */
  async untilLooked(): Promise<void> {
    const before = this.#looks;
    await until(() => this.#looks > before + 1);
  }

  /** Waits until the absence of each reported ban counts. */
  async untilPresent(): Promise<void> {
    await until(async () => [...(await this.state()).standing.values()].every(({ mark }) => mark === 'present'));
  }

  /** Reads the state that is on disk. */
  state(): Promise<WatchState> {
    const folder = join(this.folder, 'state', 'watch');
    const [name = ''] = readdirSync(folder);
    assert.match(name, /^bans\.csv-[0-9a-f]{12}\.json$/);
    return WatchState.open(join(folder, name));
  }

  /** Waits for a line of the log, and returns the lines so far. */
  async said(line: string | RegExp): Promise<readonly string[]> {
    await until(() => this.lines.some((one) => (line instanceof RegExp ? line.test(one) : one === line)));
    return this.lines.splice(0);
  }

  #answer({ method, path, text: body }: Asked): FakeAnswer {
    if (path.startsWith('/api/v1/peers')) return groupAnswer({ player_id_kinds: ['steam', 'minecraft'] });
    if (method === 'DELETE') {
      const event_id = path.split('/').at(-1)!;
      this.withdrawn.push(event_id);
      return { body: { event_id } };
    }
    const events: { event_id: string }[] = JSON.parse(body).events;
    this.reported.push(...events.map(({ event_id }) => event_id));
    const results = events.map(({ event_id }) => ({ event_id, status: 201 }));
    return { body: { accepted: results.length, duplicates: 0, rejected: 0, results } };
  }
}

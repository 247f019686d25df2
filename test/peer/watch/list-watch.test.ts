/** A watch of a list in this process, beside a node whose answers the test gives, with pauses that end at once. */
import { copyFileSync, readdirSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { bounds } from '../../../src/client/bounds.js';
import { systemRuntime } from '../../../src/client/transport/time.js';
import { sourceOf } from '../../../src/peer/sources/source.js';
import { type WatchOptions, watchList } from '../../../src/peer/watch/list-watch.js';
import { WatchState } from '../../../src/peer/watch/watch-state.js';
import { temporaryFolder } from '../../support/process.js';
import { until } from '../../support/until.js';
import { type Asked, type FakeAnswer, fakeNode, groupAnswer } from '../fake-node.js';

const ids = Array.from({ length: 5 }, (_, i) => `${76561202255225729n + BigInt(i)}`);
const text = (...accounts: readonly string[]) => `steam_id\n${accounts.map((id) => `${id}\n`).join('')}`;

class Watch {
  readonly folder = temporaryFolder();
  readonly path = join(this.folder, 'bans.csv');
  readonly lines: string[] = [];
  readonly reported: string[] = [];
  readonly withdrawn: string[] = [];
  /** Answers a request instead of the usual answer. */
  refuses: (asked: Asked) => FakeAnswer | undefined = () => undefined;
  #elapsedMs = 0;

  /** Runs the watch while `work` does. Rejects if either fails, or if the watch ends before the work. */
  async run(work: () => Promise<void>, more: Partial<WatchOptions> = {}): Promise<void> {
    const source = await sourceOf([this.path], false, {});
    const node = await fakeNode((asked) => this.refuses(asked) ?? this.#answer(asked));
    const ending = new AbortController();
    const member = { url: node.url, peerId: 'peer', apiKey: 'key', groupSalt: 'a salt of sixteen bytes', path: '' };
    const after = (_: number, run: () => void) => systemRuntime.after(1, run);
    const watching = watchList({
      config: { ...member, gameIds: ['arena'], signingKey: undefined, stateDir: join(this.folder, 'state') },
      source,
      format: 'auto',
      gameId: 'arena',
      timeZone: 'UTC',
      log: (line) => this.lines.push(line),
      signal: ending.signal,
      runtime: { ...systemRuntime, after, elapsedMs: () => this.#elapsedMs },
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
      await node.close();
    }
    await watching;
  }

  write(...accounts: readonly string[]): void {
    writeFileSync(this.path, text(...accounts));
  }

  /** Waits while the list stays unchanged for long. */
  async untilStill(condition: () => boolean): Promise<void> {
    await until(() => {
      this.#elapsedMs += bounds.listTailMs;
      return condition();
    });
  }

  /** Waits until the absence of each reported ban counts. */
  async untilPresent(): Promise<void> {
    const folder = join(this.folder, 'state', 'watch');
    const [name = ''] = readdirSync(folder);
    assert.match(name, /^bans\.csv-[0-9a-f]{12}\.json$/);
    await until(async () => {
      const { standing } = await WatchState.open(join(folder, name));
      return [...standing.values()].every(({ mark }) => mark === 'present');
    });
  }

  /** Waits for a line of the log, and returns the lines so far. */
  async said(line: string): Promise<readonly string[]> {
    await until(() => this.lines.includes(line));
    return this.lines.splice(0);
  }

  #answer({ method, path, text: body }: Asked): FakeAnswer {
    if (path.startsWith('/api/v1/peers')) return groupAnswer({ player_id_kinds: ['steam'] });
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

test('nothing is reported before the node says its kinds of ids, and each of its refusals is said once', async () => {
  const watch = new Watch();
  let asked = 0;
  watch.write(...ids);
  watch.refuses = ({ path }) => {
    if (!path.startsWith('/api/v1/peers')) return undefined;
    asked++;
    return { status: 403, body: { code: 'peer_not_active', error: 'no' } };
  };
  await watch.run(async () => {
    await until(() => asked > 2);
    assert.equal([watch.lines.length, watch.reported], [1, []]);
    assert.match(watch.lines.splice(0)[0]!, /^the group's operator has suspended .* \(peer_not_active\)$/);
    watch.refuses = () => undefined;
    assert.equal(await watch.said('reported 5 bans'), ['works again', 'reported 5 bans']);
    await until(() => watch.reported.length === 5);
  });
});

test('a ban that leaves the list is withdrawn however often that fails, and has a new event when it returns', async () => {
  const watch = new Watch();
  watch.write(...ids);
  await watch.run(async () => {
    await watch.said('reported 5 bans');
    await until(() => watch.reported.length === 5);
    const first = [...watch.reported];
    let tries = 0;
    watch.refuses = ({ method }) => {
      if (method !== 'DELETE') return undefined;
      tries++;
      if (tries < 3) return { status: 403, body: { code: 'peer_not_active', error: 'no' } };
      return { status: 404, body: { code: 'event_not_found', error: 'no' } };
    };
    watch.write(...ids.slice(1));
    await watch.untilStill(() => tries >= 3);
    const [problem, ...lines] = await watch.said('withdrew 1 bans that were lifted');
    assert.match(problem!, /\(peer_not_active\)$/);
    assert.equal(lines, ['works again', 'withdrew 1 bans that were lifted']);
    watch.refuses = () => undefined;
    watch.write(...ids);
    await watch.said('reported 1 bans');
    await until(() => watch.reported.length === 6);
    assert.equal(watch.reported.at(-1), `${first.find((id) => watch.reported[5]!.startsWith(id))}.1`);
    await watch.untilPresent();
    watch.write(...ids.slice(1));
    await watch.untilStill(() => watch.withdrawn.length === 1);
    assert.equal(watch.withdrawn, watch.reported.slice(-1));
  });
});

test('bans of the first start may be taken as known, a rotation lifts none, and many at once only if allowed', async () => {
  const watch = new Watch();
  watch.write(...ids.slice(0, 4), 'nobody');
  await watch.run(
    async () => {
      const unread = '1 lines are not bans of players, the last of them line 6; see ptf-peer import --dry-run';
      assert.equal(await watch.said('4 bans of the list are known'), [unread, '4 bans of the list are known']);
      watch.write(...ids);
      await watch.said('reported 1 bans');
      await until(() => watch.reported.length === 1);
      copyFileSync(watch.path, `${watch.path}.1`);
      truncateSync(watch.path, 0);
      writeFileSync(watch.path, 'steam_id\n');
      await watch.said('the list was rotated: 5 bans that left it stay reported');
      rmSync(`${watch.path}.1`);
      watch.write(...ids);
      await watch.untilPresent();
      watch.write(...ids.slice(0, 2));
      const many = '3 bans are missing at once: nothing is withdrawn; if they are lifted, run with --allow-mass-lift';
      await watch.untilStill(() => watch.lines.includes(many));
      assert.equal([watch.withdrawn, watch.reported.length], [[], 1]);
    },
    { newOnly: true },
  );
  await watch.run(async () => watch.untilStill(() => watch.withdrawn.length === 3), { allowMassLift: true });
});

test('the state of a watch is read as it was saved, and a file that is none is refused', async () => {
  const path = join(temporaryFolder(), 'state.json');
  const state = await WatchState.open(path);
  assert.equal([state.format, state.eventIdOf('a')], [null, 'a']);
  state.format = 'csv';
  for (const ban of ['a', 'b']) state.standing.set(ban, { eventId: ban, expiresAt: 7, person: 'z', mark: 'present' });
  state.mark(['a'], 'rotated');
  for (const ban of ['b', 'b', 'unknown']) state.lift(ban);
  state.standing.set('b', { eventId: state.eventIdOf('b'), expiresAt: null, person: 'b', mark: 'fresh' });
  state.lift('b');
  await Promise.all([state.save(), state.save()]);
  const found = await WatchState.open(path);
  assert.equal([...found.standing], [['a', { eventId: 'a', expiresAt: 7, person: 'z', mark: 'rotated' }]]);
  assert.equal([found.format, [...found.owed], found.eventIdOf('b')], ['csv', ['b', 'b.1'], 'b.2']);
  for (const text of ['{', '{"version":2,"format":null,"standing":[],"lifts":[],"owed":[]}', '{"version":1}']) {
    writeFileSync(path, text);
    const refusal = await WatchState.open(path).then(
      () => 'taken',
      ({ code, message }) => `${code}: ${message}`,
    );
    assert.match(refusal, /^wrong_usage: .* is not a state file of ptf-peer watch; remove the file to begin anew/);
  }
});

test.run();

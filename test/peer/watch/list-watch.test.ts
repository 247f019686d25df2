/** A watch of a list: what it reports and withdraws, and what it says, beside a node whose answers the test gives. */
import { copyFileSync, renameSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { WatchState } from '../../../src/peer/watch/watch-state.js';
import { temporaryFolder } from '../../support/process.js';
import { until } from '../../support/until.js';
import { ids, Watch } from './watch-double.js';

const watches: Watch[] = [];
test.after(async () => {
  for (const watch of watches) await watch.close();
});

function begun(): Watch {
  const watch = new Watch();
  watches.push(watch);
  return watch;
}

test('nothing is reported before the node says its kinds of ids, and each of its refusals is said once', async () => {
  const watch = begun();
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
  const watch = begun();
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

test('a withdrawal that a failed disk loses is stored once the disk works', async () => {
  const watch = begun();
  const [folder, aside] = ['watch', 'aside'].map((name) => join(watch.folder, 'state', name)) as [string, string];
  watch.write(...ids);
  await watch.run(async () => {
    await watch.said('reported 5 bans');
    await watch.untilPresent();
    watch.refuses = ({ method }) => {
      if (method !== 'DELETE') return undefined;
      renameSync(folder, aside);
      writeFileSync(folder, 'in the way');
      watch.refuses = () => undefined;
      return { status: 404, body: { code: 'event_not_found', error: 'no' } };
    };
    watch.write(...ids.slice(1));
    await watch.untilStill(() => watch.lines.length > 0);
    assert.match(watch.lines.splice(0).join(), /^the disk failed or is full: free disk space, .* \(spool_failed\)$/);
    rmSync(folder);
    renameSync(aside, folder);
    const lines = await watch.said('withdrew 1 bans that were lifted');
    assert.equal(lines, ['works again', 'withdrew 1 bans that were lifted']);
    assert.is((await watch.state()).owed.size, 0);
  });
});

test('bans of the first start may be taken as known, a rotation lifts none, and many at once only if allowed', async () => {
  const watch = begun();
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
      await watch.untilLooked();
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

test('a report that the node refuses for good is made again at the next start, and until then once', async () => {
  const watch = begun();
  watch.write(...ids);
  const sent: string[] = [];
  watch.refuses = ({ path, text }) => {
    if (path !== '/api/v1/events/batch') return undefined;
    const batch: readonly string[] = JSON.parse(text).events.map(({ event_id }: { event_id: string }) => event_id);
    sent.push(...batch);
    const refusal = { status: 422, code: 'unknown_origin', error: 'no' };
    return { body: { results: batch.map((event_id) => ({ event_id, ...refusal })) } };
  };
  await watch.run(async () => {
    await until(() => watch.lines.filter((line) => line.endsWith('(unknown_origin)')).length === 5);
    watch.write(...ids, 'nobody');
    await watch.untilStill(() => watch.lines.some((line) => line.includes('1 lines are not bans')));
    await watch.untilLooked();
  });
  assert.equal([sent.length, (await watch.state()).standing.size], [5, 0]);
  watch.refuses = () => undefined;
  watch.lines.length = 0;
  await watch.run(async () => {
    await watch.said('reported 5 bans');
    await until(() => watch.reported.length === 5);
  });
  assert.equal(watch.reported.toSorted(), sent.toSorted());
  assert.is((await watch.state()).standing.size, 5);
});

test('a watch says once how many of its reports are no evidence', async () => {
  const watch = begun();
  watch.write(...ids);
  watch.refuses = ({ path, text }) => {
    if (path !== '/api/v1/events/batch') return undefined;
    const events: { event_id: string; severity: number }[] = JSON.parse(text).events;
    return {
      body: { results: events.map(({ event_id, severity }) => ({ event_id, status: 201, counts: severity > 0 })) },
    };
  };
  await watch.run(async () => void (await watch.said(/^5 events are older than 20 half-lives .* no evidence$/)), {
    severity: 0,
  });
  assert.not.match(watch.lines.join(), 'no evidence');
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

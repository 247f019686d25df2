/** A watch's interpretation of a list: bans that begin, end, are lifted or doubted, and the complete part of a file. */
import { appendFileSync, copyFileSync, renameSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { bounds } from '../../../src/client/bounds.js';
import type { EntryState } from '../../../src/peer/import/plan.js';
import { ListFile, wholeTextOf } from '../../../src/peer/watch/list-file.js';
import { changesOf, type ListedBan, type Look } from '../../../src/peer/watch/list-sync.js';
import { type StandingBan, WatchState } from '../../../src/peer/watch/watch-state.js';
import { temporaryFolder } from '../../support/process.js';

const now = Date.UTC(2026, 10, 26);
const still: Look = { now, stillMs: 60_000, isWhole: true, isRotated: false, allowMassLift: false };

function listed(bans: Readonly<Record<string, EntryState>>): ListedBan[] {
  const entry = {
    player: { id: 'p', kind: 'steam' },
    says: 'ban',
    line: 1,
    row: 1,
    bannedAt: null,
    expiresAt: null,
  } as const;
  const more = { at: null, severity: 1, weight: 1, note: undefined, said: undefined, repeats: { lines: [], count: 0 } };
  return Object.entries(bans).map(([ban, state]) => ({ ban, person: ban, entry: { ...entry, ...more, state } }));
}

function standing(...bans: readonly (string | readonly [string, Partial<StandingBan>])[]): Map<string, StandingBan> {
  return new Map(
    bans.map((one) => {
      const [ban, more] = typeof one === 'string' ? [one, {}] : one;
      return [ban, { eventId: ban, expiresAt: null, person: ban, mark: 'present', ...more }] as const;
    }),
  );
}

test('only entries that are to be sent and are not known begin', () => {
  const list = listed({ a: 'send', b: 'send', c: 'faded', d: 'expired', e: 'lifted' });
  assert.equal(
    changesOf(list, standing('b'), still).begun.map(({ ban }) => ban),
    ['a'],
  );
});

test('a ban marked as lifted is lifted at once, and a missing one once the list is unchanged', () => {
  const look = { ...still, stillMs: 0 };
  const early = changesOf(listed({ a: 'lifted' }), standing('a', 'b'), look);
  assert.equal([early.lifted, early.isUndecided], [['a'], true]);
  assert.equal(changesOf(listed({ a: 'send', c: 'send' }), standing('a', 'b', 'c'), still).lifted, ['b']);
});

test('a ban that expired, or had expired when it left the list, ends and is not lifted', () => {
  const known = standing('a', ['b', { expiresAt: now - 1 }], ['c', { expiresAt: now + 1 }]);
  const { ended, lifted } = changesOf(
    listed({ a: 'expired', d: 'send' }),
    new Map([...known, ...standing('d')]),
    still,
  );
  assert.equal([ended, lifted], [['a', 'b'], ['c']]);
});

test('in an incomplete list, or after a rotation, no ban counts as missing', () => {
  const known = standing('a', ['b', { mark: 'rotated' }], 'd', 'e');
  for (const look of [
    { ...still, isWhole: false },
    { ...still, isRotated: true },
  ]) {
    assert.equal(changesOf([], known, look).lifted, []);
  }
  assert.equal(changesOf([], known, { ...still, isRotated: true }).rotated, ['a', 'd', 'e']);
  assert.equal(changesOf(listed({ d: 'send', e: 'send' }), known, still).lifted, ['a']);
});

test('a ban that is listed again after a rotation counts as missing once it leaves the list', () => {
  const known = standing('a', ['b', { mark: 'rotated' }], 'c', 'd');
  const { returned, lifted } = changesOf(listed({ b: 'send', c: 'send', d: 'send' }), known, still);
  assert.equal([returned, lifted], [['b'], ['a']]);
  assert.equal(changesOf(listed({ a: 'send', c: 'send' }), standing('a', 'b', 'c'), still).lifted, ['b']);
});

test('the loss of half of a list, and an empty list, withdraw nothing at any size, unless that is allowed', () => {
  for (const size of [1, 2, 4, 12]) {
    const names = Array.from({ length: size }, (_, n) => `ban-${n}`);
    const left = (count: number) => listed(Object.fromEntries(names.slice(0, count).map((name) => [name, 'send'])));
    const known = standing(...names);
    const lost = changesOf([], known, still);
    assert.equal([lost.lifted.length, lost.doubted.length], [0, size]);
    assert.is(changesOf([], known, { ...still, allowMassLift: true }).lifted.length, size);
    if (size === 1) continue;
    assert.is(changesOf(left(size / 2), known, still).doubted.length, size / 2);
    assert.is(changesOf(left(size / 2 + 1), known, still).lifted.length, size / 2 - 1);
  }
});

test('bans that are reported after the loss of half of a list do not make it believed, nor does a restart', async () => {
  const folder = temporaryFolder();
  const names = Array.from({ length: 100 }, (_, n) => `ban-${n}`);
  const left = Object.fromEntries(names.slice(50).map((name) => [name, 'send' as const]));
  const path = join(folder, 'state.json');
  let state = await WatchState.open(path);
  const look = async (bans: Readonly<Record<string, EntryState>>, more: Partial<Look> = {}) => {
    const changes = changesOf(listed(bans), state.standing, { ...still, ...more });
    const mark = changes.isAccepted ? 'present' : 'fresh';
    for (const { ban, person } of changes.begun) {
      state.standing.set(ban, { eventId: ban, expiresAt: null, person, mark });
    }
    state.mark(changes.doubted, 'doubted');
    state.mark(changes.returned, mark);
    for (const ban of changes.lifted) state.lift(ban);
    await state.save();
    state = await WatchState.open(path);
    return [changes.lifted.length, changes.doubts];
  };
  assert.equal(await look(Object.fromEntries(names.map((name) => [name, 'send' as const]))), [0, 0]);
  assert.equal(await look({ ...left, early: 'send' }, { stillMs: 0 }), [0, 0]);
  assert.equal(await look({ ...left, early: 'send' }), [0, 50], 'a ban reported before the decision');
  assert.equal(await look({ ...left, early: 'send', one: 'send' }), [0, 50], 'and one after it');
  assert.equal(await look({ ...left, one: 'send' }), [1, 50], 'one that is missing since counts');
  assert.equal(await look({ ...left, 'ban-0': 'send' }), [1, 49]);
  assert.equal(await look(left), [1, 49], 'a ban that returned counts again');
  assert.equal(await look(left, { allowMassLift: true }), [49, 0]);
});

test('missing bans are judged once the list is unchanged, doubted ones withdrawn only from a whole list', () => {
  const judged = (changes: ReturnType<typeof changesOf>) => {
    const { lifted, doubted, doubts, isUndecided, isAccepted } = changes;
    return [lifted, doubted, doubts, isUndecided, isAccepted];
  };
  for (const [stillMs, allowMassLift, outcome] of [
    [bounds.listLiftMs - 1, false, [[], [], 0, true, false]],
    [bounds.listLiftMs - 1, true, [[], [], 0, true, false]],
    [bounds.listLiftMs, false, [[], ['a', 'b'], 2, false, true]],
    [bounds.listLiftMs, true, [['a', 'b'], [], 0, false, true]],
  ] as const) {
    assert.equal(judged(changesOf([], standing('a', 'b'), { ...still, stillMs, allowMassLift })), outcome);
  }
  const list = listed({ b: 'send', c: 'send' });
  const known = standing(['a', { mark: 'doubted' }], 'b', ['c', { mark: 'fresh' }]);
  for (const [more, outcome] of [
    [{}, [[], [], 1, false, true]],
    [{ allowMassLift: true }, [['a'], [], 0, false, true]],
    [{ allowMassLift: true, isRotated: true }, [[], [], 1, false, true]],
    [{ allowMassLift: true, isWhole: false }, [[], [], 1, false, false]],
  ] as const) {
    const changes = changesOf(list, known, { ...still, ...more });
    assert.equal([judged(changes), changes.returned], [outcome, changes.isAccepted ? ['c'] : []]);
  }
});

test('bans that are over count in the list a loss is compared with only if the list still has them', () => {
  const known = standing('a', 'b', ['c', { expiresAt: now }]);
  const without = changesOf(listed({ b: 'send' }), known, still);
  assert.equal([without.doubted, without.ended], [['a'], ['c']], 'one of two');
  const beside = changesOf(listed({ b: 'send', c: 'expired' }), known, still);
  assert.equal([beside.lifted, beside.ended], [['a'], ['c']], 'one of three');
});

test('a list loses persons, whatever the number of their accounts', () => {
  const known = standing(
    ['a', { person: 'a' }],
    ['a2', { person: 'a' }],
    ['b', { person: 'b' }],
    ['b2', { person: 'b' }],
    ['b3', { person: 'b' }],
  );
  const two = changesOf(listed({ b: 'send', b2: 'send', b3: 'send' }), known, still);
  assert.equal([two.lifted, two.doubted], [[], ['a', 'a2']]);
  const three = new Map([...known, ...standing('c')]);
  assert.equal(changesOf(listed({ a: 'send', a2: 'send', c: 'send' }), three, still).lifted, ['b', 'b2', 'b3']);
});

test('a last line without a line break is read only once the file has been still for long', () => {
  assert.equal(wholeTextOf('a\nb', false), { text: 'a\n', isWhole: false });
  assert.equal(wholeTextOf('a\nb', true), { text: 'a\nb', isWhole: true });
  assert.equal(wholeTextOf('a\n', false), { text: 'a\n', isWhole: true });
  assert.is(wholeTextOf('', false), null);
  assert.equal(wholeTextOf('', true), { text: '', isWhole: true });
});

test('a file that has more text than its size is being written, and one too large is never read', async () => {
  const look = (path: string) => new ListFile(path, () => 0).look();
  // A file of the kernel has the size 0.
  assert.is(await look('/proc/version'), null);
  const folder = temporaryFolder();
  const path = join(folder, 'large.cfg');
  const failure = (work: Promise<unknown>): Promise<string> =>
    work.then(
      () => 'read',
      ({ code, message }) => `${code} ${message}`,
    );
  assert.is(await failure(look(folder)), `source_unreachable ${folder} cannot be read: EISDIR`);
  writeFileSync(path, '');
  truncateSync(path, bounds.listBytes + 1);
  assert.is(await failure(look(path)), `wrong_usage ${path} is larger than ${bounds.listBytes} bytes`);
});

test('a list is still from the time at which it was first read as it is', async () => {
  const folder = temporaryFolder();
  const path = join(folder, 'bans.cfg');
  let now = 5_000;
  const file = new ListFile(path, () => now);
  const stillMs = async () => (await file.look())?.stillMs;
  writeFileSync(path, 'one\n');
  assert.is(await stillMs(), 0);
  now += 1_500;
  assert.is(await stillMs(), 1_500);
  appendFileSync(path, 'two\n');
  assert.is(await stillMs(), 0);
});

test('a rotation is reported until the list after it was accepted, in either way', async () => {
  const folder = temporaryFolder();
  const path = join(folder, 'bans.cfg');
  const file = new ListFile(path, () => 0);
  const look = async () => {
    const found = await file.look();
    return [found?.bytes.toString(), found?.isRotated];
  };
  assert.is(await file.look(), null);
  writeFileSync(path, 'one\n');
  assert.equal(await look(), ['one\n', false]);
  file.accept();
  appendFileSync(path, 'two\n');
  assert.equal(await look(), ['one\ntwo\n', false], 'an append is none');
  file.accept();
  copyFileSync(path, `${path}.bak`);
  appendFileSync(path, 'more\n');
  assert.equal(await look(), ['one\ntwo\nmore\n', false], 'nor is one after a copy');
  file.accept();
  renameSync(path, `${path}.1`);
  writeFileSync(path, '');
  assert.equal(await look(), ['', true], 'moved away');
  appendFileSync(path, 'three\n');
  assert.equal(await look(), ['three\n', true], 'the empty list was never accepted');
  file.accept();
  copyFileSync(path, `${path}.2`);
  truncateSync(path, 0);
  appendFileSync(path, 'fours\n');
  assert.equal(await look(), ['fours\n', true], 'copied, emptied and as long as before');
  file.accept();
  writeFileSync(path, 'x\n');
  assert.equal(await look(), ['x\n', false], 'written anew');
});

test('reports that the node has refused since the last save are saved, and the caller waits for it', async () => {
  const folder = temporaryFolder();
  const path = join(folder, 'state.json');
  const state = await WatchState.open(path);
  state.standing.set('ban', { eventId: 'ban', expiresAt: null, person: 'ban', mark: 'present' });
  await state.save();
  await state.saveRefused();
  assert.is((await WatchState.open(path)).standing.size, 1);
  state.refused.add('ban');
  await state.saveRefused();
  assert.is((await WatchState.open(path)).standing.size, 0);
});

test.run();

/** A watch's interpretation of a list: bans that begin, end, are lifted or doubted, and the complete part of a file. */
import { appendFileSync, copyFileSync, mkdtempSync, renameSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { EntryState } from '../../src/peer/import/plan.js';
import { ListFile } from '../../src/peer/watch/list-file.js';
import { changesOf, type ListedBan, type Look } from '../../src/peer/watch/list-sync.js';
import type { StandingBan } from '../../src/peer/watch/watch-state.js';
import { wholeTextOf } from '../../src/peer/watch/whole-text.js';

const now = Date.UTC(2026, 10, 26);
const still: Look = { now, stillMs: 60_000, isWhole: true, isRotated: false, allowMassLift: false };

function listed(bans: Readonly<Record<string, EntryState>>): ListedBan[] {
  const entry = { playerId: 'p', kind: 'steam', says: 'ban', line: 1, bannedAt: null, expiresAt: null } as const;
  const more = { at: null, severity: 1, weight: 1, note: undefined, said: undefined, repeats: [] };
  return Object.entries(bans).map(([ban, state]) => ({ ban, entry: { ...entry, ...more, state } }));
}

function standing(...bans: readonly (string | readonly [string, Partial<StandingBan>])[]): Map<string, StandingBan> {
  return new Map(
    bans.map((one) => {
      const [ban, more] = typeof one === 'string' ? [one, {}] : one;
      return [ban, { eventId: ban, expiresAt: null, rotated: false, ...more }] as const;
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
  assert.equal(changesOf(listed({ a: 'send' }), standing('a', 'b'), still).lifted, ['b']);
});

test('a ban that expired, or had expired when it left the list, ends and is not lifted', () => {
  const known = standing('a', ['b', { expiresAt: now - 1 }], ['c', { expiresAt: now + 1 }]);
  const { ended, lifted } = changesOf(listed({ a: 'expired' }), known, still);
  assert.equal([ended, lifted], [['a', 'b'], ['c']]);
});

test('in an incomplete list, or after a rotation, no ban counts as missing', () => {
  const known = standing('a', ['b', { rotated: true }]);
  for (const look of [
    { ...still, isWhole: false },
    { ...still, isRotated: true },
  ]) {
    assert.equal(changesOf([], known, look).lifted, []);
  }
  assert.equal(changesOf([], known, { ...still, isRotated: true }).rotated, ['a']);
  assert.equal(changesOf(listed({ c: 'send' }), known, still).lifted, ['a']);
});

test('a ban that is listed again after a rotation counts as missing once it leaves the list', () => {
  const { returned, lifted } = changesOf(listed({ b: 'send' }), standing('a', ['b', { rotated: true }]), still);
  assert.equal([returned, lifted], [['b'], ['a']]);
  assert.equal(changesOf(listed({ a: 'send' }), standing('a', ['b', { rotated: false }]), still).lifted, ['b']);
});

test('the loss of half of a list, and an empty list, withdraw nothing at any size, unless that is allowed', () => {
  for (const size of [1, 2, 4, 12]) {
    const names = Array.from({ length: size }, (_, n) => `ban-${n}`);
    const left = (count: number) => listed(Object.fromEntries(names.slice(0, count).map((name) => [name, 'send'])));
    const known = standing(...names);
    const lost = changesOf([], known, still);
    assert.equal([lost.lifted.length, lost.doubted], [0, size]);
    assert.is(changesOf([], known, { ...still, allowMassLift: true }).lifted.length, size);
    if (size > 2) {
      assert.is(changesOf(left(size / 2), known, still).doubted, size / 2);
      assert.is(changesOf(left(size / 2 + 1), known, still).lifted.length, size / 2 - 1);
    }
  }
  const two = changesOf(listed({ a: 'send' }), standing('a', 'b'), still);
  assert.equal([two.lifted, two.doubted], [['b'], 0], 'a single ban that leaves another behind is lifted');
});

test('a last line without a line break is read only once the file has been still for long', () => {
  assert.equal(wholeTextOf('a\nb', { shape: 'lines' }, false), { text: 'a\n', isWhole: false });
  assert.equal(wholeTextOf('a\nb', { shape: 'lines' }, true), { text: 'a\nb', isWhole: true });
  assert.equal(wholeTextOf('a\n', { shape: 'lines' }, false), { text: 'a\n', isWhole: true });
  assert.is(wholeTextOf('', { shape: 'lines' }, false), null);
  assert.equal(wholeTextOf('', { shape: 'lines' }, true), { text: '', isWhole: true });
});

test('a document is read only if it is complete, however long it has been unchanged', () => {
  assert.is(wholeTextOf('[{"uuid":"', { shape: 'json' }, true), null);
  assert.equal(wholeTextOf('[]', { shape: 'json' }, false), { text: '[]', isWhole: true });
});

test('a rotation is reported until the list after it was accepted, in either way', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'ptf-list-'));
  const path = join(folder, 'bans.cfg');
  try {
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
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

test.run();

/** A relay's journal on disk: what it reads again, what it counts, and when it is rewritten. */
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { bounds } from '../../../src/client/bounds.js';
import type { TrustError } from '../../../src/client/trust-error.js';
import { RelayJournal } from '../../../src/peer/relay/relay-journal.js';
import { closing } from '../../support/closing.js';
import { temporaryFolder } from '../../support/process.js';

const [A, B] = ['a'.repeat(64), 'b'.repeat(64)];
const text = (...lines: readonly object[]) => lines.map((line) => `${JSON.stringify(line)}\n`).join('');
const newPath = () => join(temporaryFolder(), 'journal.ndjson');

test('a last line that a kill tore is cut off, and a journal with another damaged line is refused as it is', async () => {
  const intact = text({ id: 'é' }, { s: A, v: 'untrusted' }, { s: B, v: 'trusted' }, { s: B, v: null });
  const path = newPath();
  for (const torn of ['', '{"id":"to', '{"id":"torn"}']) {
    writeFileSync(path, intact + torn);
    const journal = await RelayJournal.open(path);
    assert.equal([journal.lastEventId, ...journal.verdicts], ['é', [A, 'untrusted']], torn);
    assert.equal([journal.deliveredSinceId(A), journal.deliveredSinceId(B)], [1, 2]);
    assert.is(readFileSync(path, 'utf8'), intact);
  }
  for (const line of ['{"id":"to', '{"id":7}', `{"s":"${A}"}`, `{"s":"${A}","v":"bad"}`, '{"s":"a","v":null}', '']) {
    const damaged = `${intact}${line}\n${text({ id: 'later' })}`;
    writeFileSync(path, damaged);
    const refused = await RelayJournal.open(path).then(
      () => 'opened',
      ({ code, message }) => `${code}: ${message}`,
    );
    assert.match(refused, `wrong_usage: ${path} is damaged in line 5: restore it, or remove it and start with --all`);
    assert.is(readFileSync(path, 'utf8'), damaged);
  }
});

test('deliveries count from the last id on, each is on disk at once, and an id is written once', async () => {
  const path = newPath();
  await using journal = closing(await RelayJournal.open(path));
  assert.equal([journal.lastEventId, journal.deliveredSinceId(A)], ['', 0]);
  await journal.delivered(A, 'suspicious');
  await journal.delivered(A, 'untrusted');
  await journal.delivered(B, null);
  assert.equal([journal.deliveredSinceId(A), journal.deliveredSinceId(B)], [2, 1]);
  assert.is((await RelayJournal.open(path)).deliveredSinceId(A), 2);
  await journal.reached('id-1');
  await journal.reached('id-1');
  assert.is(journal.deliveredSinceId(A), 0);
  const lines = [{ s: A, v: 'suspicious' }, { s: A, v: 'untrusted' }, { s: B, v: null }, { id: 'id-1' }];
  assert.is(readFileSync(path, 'utf8'), text(...lines));
  assert.is(statSync(path).mode & 0o777, 0o600);
});

test('a journal begins with all verdicts, and is rewritten as those once it is long', async () => {
  const path = newPath();
  const first = await RelayJournal.open(path);
  first.verdicts.set(A, 'untrusted');
  await first.reached('id-1', true);
  assert.is(readFileSync(path, 'utf8'), text({ s: A, v: 'untrusted' }, { id: 'id-1' }));

  const size = () => readFileSync(path, 'utf8').split('\n').length - 1;
  const most = bounds.relayJournalLines;
  const one = [{ s: A, v: 'untrusted' }, ...Array.from({ length: most - 2 }, (_, i) => ({ id: `${i}` }))];
  const players = Array.from({ length: most / 2 + 1 }, (_, i) => ({ s: `${i}`.padStart(64, '0'), v: 'trusted' }));
  const many = [...players, ...Array.from({ length: most / 2 }, (_, i) => ({ id: `${i}` }))];
  for (const [lines, verdicts] of [
    [one, 1],
    [many, players.length],
  ] as const) {
    writeFileSync(path, text(...lines));
    await using journal = closing(await RelayJournal.open(path));
    await journal.reached('full');
    assert.is(size(), lines.length + 1);
    await journal.reached('too long');
    assert.is(size(), verdicts + 1);
    await journal.delivered(B, null);
    await journal.reached('next');
    assert.is(size(), verdicts + 3, 'the journal grows again');
  }
  assert.is((await RelayJournal.open(path)).verdicts.size, players.length);
});

type Handles = Pick<FileHandle, 'appendFile' | 'datasync' | 'sync'>;

/** Runs `work`, which is to fail, while all file handles have these methods. */
async function onFullDisk(broken: (whole: Handles) => Partial<Handles>, work: () => Promise<void>): Promise<void> {
  const probe = await open(newPath(), 'a');
  await probe.close();
  const handles: Handles = Object.getPrototypeOf(probe);
  const { appendFile, datasync, sync } = handles;
  Object.assign(handles, broken({ appendFile, datasync, sync }));
  try {
    await work();
    assert.unreachable();
  } catch (error) {
    assert.is((error as TrustError).code, 'spool_failed');
  } finally {
    Object.assign(handles, { appendFile, datasync, sync });
  }
}

const full = () => Promise.reject(new Error('ENOSPC'));

/** A disk that takes this many bytes of a line, and cannot sync a whole one. */
const roomFor =
  (bytes: number) =>
  ({ appendFile }: Handles): Partial<Handles> => ({
    datasync: full,
    async appendFile(this: FileHandle, line) {
      await appendFile.call(this, String(line).slice(0, bytes));
      if (bytes < String(line).length) await full();
    },
  });

test('a line that a full disk cut is neither joined with the next one nor counted', async () => {
  const path = newPath();
  await using journal = closing(await RelayJournal.open(path));
  await journal.delivered(A, 'untrusted');
  for (const bytes of [0, 1, 70, 1_000]) {
    await onFullDisk(roomFor(bytes), () => journal.delivered(B, 'trusted'));
    await onFullDisk(roomFor(bytes), () => journal.reached('id-1'));
    assert.equal([journal.lastEventId, journal.deliveredSinceId(A), journal.deliveredSinceId(B)], ['', 1, 0]);
  }
  await journal.delivered(B, 'trusted');
  await journal.reached('id-1');
  assert.is(readFileSync(path, 'utf8'), text({ s: A, v: 'untrusted' }, { s: B, v: 'trusted' }, { id: 'id-1' }));
});

test('a rewrite that failed leaves whole lines, in the old file and in the new one', async () => {
  for (const remains of ['old', 'new'] as const) {
    const path = newPath();
    await using journal = closing(await RelayJournal.open(path));
    await journal.delivered(A, 'suspicious');
    await journal.delivered(A, 'untrusted');
    journal.verdicts.set(A, 'untrusted');
    await onFullDisk(roomFor(9), () => journal.delivered(B, 'trusted'));
    // The new file is synced first, then its folder.
    let left = remains === 'old' ? 0 : 1;
    const broken = ({ sync }: Handles): Partial<Handles> => ({
      async sync(this: FileHandle) {
        await (left-- > 0 ? sync.call(this) : full());
      },
    });
    await onFullDisk(broken, () => journal.reached('id-1', true));
    await journal.delivered(B, 'trusted');
    const before = remains === 'old' ? [{ s: A, v: 'suspicious' }] : [];
    const id = remains === 'old' ? [] : [{ id: 'id-1' }];
    assert.is(readFileSync(path, 'utf8'), text(...before, { s: A, v: 'untrusted' }, ...id, { s: B, v: 'trusted' }));
  }
});

test.run();

/**
 * The files of a spool: what was appended is read back in order, what a crash tore is cut, at every byte, and what is
 * damaged is stepped over.
 */
import {
  copyFileSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { type FileHandle, open as openFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { bounds } from '../../../../src/client/bounds.js';
import { setAside } from '../../../../src/client/write/spool/delivery.js';
import { Journal } from '../../../../src/client/write/spool/journal.js';
import {
  encodeRecord,
  inspectSpool,
  piecesOf,
  RECORD_EXTRA_BYTES,
} from '../../../../src/client/write/spool/spool-record.js';
import { closing } from '../../../support/closing.js';
import { temporaryFolder } from '../../../support/process.js';
import { Random } from '../../../support/random.js';

let folder = '';
test.before.each(() => {
  folder = temporaryFolder();
});

const open = (where = folder) => Journal.open(where);
const payloads = (...texts: string[]) => texts.map((text) => Buffer.from(text));
const files = (where = folder) =>
  readdirSync(where)
    .filter((name) => name.includes('.events'))
    .sort();

/** Changes the bytes of the first file. */
function spoil(change: (bytes: Buffer) => void): void {
  const path = join(folder, files()[0]!);
  const bytes = readFileSync(path);
  change(bytes);
  writeFileSync(path, bytes);
}

/** Returns a new folder with these bytes as the first file of the spool. */
function folderWith(bytes: Uint8Array): string {
  const where = temporaryFolder();
  writeFileSync(join(where, files()[0]!), bytes);
  return where;
}

/** Writes a spool of these records, and returns the bytes of its file. */
async function written(...payload: readonly string[]): Promise<Buffer> {
  const journal = await open();
  await journal.append(payloads(...payload));
  await journal.close();
  return readFileSync(join(folder, files()[0]!));
}

async function texts(journal: Journal, from = 1): Promise<string[]> {
  const all: string[] = [];
  for (let seq = from; ; ) {
    const { entries, damage } = await journal.read(seq, 100, 1_000_000);
    const last = damage ?? entries.at(-1);
    if (last === undefined) return all;
    all.push(...entries.map(({ payload }) => payload.toString()), ...Array(damage?.count ?? 0).fill('damaged'));
    seq = last.seq + 1;
  }
}

test('records come back in order, with their numbers, before and after a restart', async () => {
  const journal = await open();
  assert.is(await journal.append(payloads('a', 'b')), 1);
  assert.is(await journal.append(payloads('c')), 3);
  assert.equal(
    (await journal.read(2, 10, 1_000)).entries.map(({ seq, payload }) => [seq, payload.toString()]),
    [
      [2, 'b'],
      [3, 'c'],
    ],
  );
  await journal.close();
  await using again = closing(await open());
  assert.equal(again.cuts, []);
  assert.is(await again.append(payloads('d')), 4);
  assert.equal(await texts(again), ['a', 'b', 'c', 'd']);
  assert.is(files().length, 1);
});

test('a read is bounded in count and in bytes, but gives at least one record', async () => {
  await using journal = closing(await open());
  await journal.append(payloads('x'.repeat(100), 'y'.repeat(100), 'z'));
  assert.is((await journal.read(1, 2, 1_000)).entries.length, 2);
  assert.is((await journal.read(1, 9, 150)).entries.length, 1);
  assert.is((await journal.read(1, 9, 1)).entries.length, 1);
  assert.is((await journal.read(4, 9, 1_000)).entries.length, 0);
});

/** Returns the prototype of all file handles. */
async function handlesOf(path: string): Promise<Pick<FileHandle, 'read' | 'datasync'>> {
  const probe = await openFile(path, 'r');
  await probe.close();
  return Object.getPrototypeOf(probe) as FileHandle;
}

/** Appends while the disk takes nothing; rejects as the disk does. */
async function appendInVain(journal: Journal): Promise<void> {
  const handles = await handlesOf(join(folder, files()[0]!));
  const { datasync } = handles;
  handles.datasync = () => Promise.reject(new Error('ENOSPC'));
  try {
    await journal.append(payloads('x'));
  } finally {
    handles.datasync = datasync;
  }
}

test('a file that gets no further writes is deleted once everything in it is delivered', async () => {
  const journal = await open();
  await journal.append(payloads('a'));
  const failed = await appendInVain(journal).catch((error: Error) => error.message);
  assert.is(failed, 'ENOSPC');
  assert.is(files().length, 1);
  await journal.passed(1);
  assert.equal(files(), [], 'on a full disk nothing else makes room');
  assert.is(await journal.append(payloads('b')), 2);
  assert.equal(await texts(journal, 2), ['b']);
  await journal.close();
  writeFileSync(join(folder, 'delivered'), encodeRecord(2, Buffer.alloc(0)));
  await using again = closing(await open());
  await appendInVain(again).catch(() => undefined);
  assert.is(await again.append(payloads('c')), 3);
  assert.equal(files(), ['0000000000000003.events'], 'what was through before the start goes for the next file');
});

test('records that are appended during a read are not damage, and appear in the next read', async () => {
  await using journal = closing(await open());
  await journal.append(payloads('a'));
  const handles = await handlesOf(join(folder, files()[0]!));
  const { read } = handles;
  // An append begins and ends within the read's way to the disk.
  handles.read = async function (this: FileHandle, ...rest: []) {
    handles.read = read;
    await journal.append(payloads('b'));
    return read.apply(this, rest);
  } as FileHandle['read'];
  try {
    const { entries } = await journal.read(1, 10, 1_000);
    assert.equal(
      entries.map(({ payload }) => payload.toString()),
      ['a'],
    );
  } finally {
    handles.read = read;
  }
  assert.equal(await texts(journal), ['a', 'b']);
});

test('a full file is followed by another, and goes once everything in it is through', async () => {
  await using journal = closing(await open());
  const large = 'x'.repeat(16_000);
  const count = Math.ceil((2.5 * bounds.spoolSegmentBytes) / large.length);
  for (let index = 0; index < count; index++) await journal.append(payloads(`${index}:${large}`));
  assert.is(files().length, 3);
  assert.equal(
    (await texts(journal)).map((text) => Number(text.split(':')[0])),
    Array.from({ length: count }, (_, index) => index),
  );
  const secondStart = Number(files()[1]!.slice(0, 16));
  await journal.passed(secondStart - 2);
  assert.is(files().length, 3);
  await journal.passed(secondStart - 1);
  assert.is(files().length, 2);
  await journal.passed(count);
  assert.is(files().length, 1, 'the file that is written stays');
});

test('after a cut anywhere the complete records before it stay, and numbering continues after them', async () => {
  const bytes = await written('first', 'second', 'third');
  // Each record has 28 bytes besides its payload: first ends at 33, second at 67, third at 100.
  const ends = [33, 67, 100];
  assert.is(bytes.byteLength, ends.at(-1));
  for (let length = 0; length <= bytes.byteLength; length++) {
    const torn = folderWith(bytes.subarray(0, length));
    const after = await open(torn);
    const whole = ends.filter((end) => end <= length).length;
    assert.equal(await texts(after), ['first', 'second', 'third'].slice(0, whole), `at ${length}`);
    assert.is(after.nextSeq, whole + 1);
    const isClean = length === 0 || ends.includes(length);
    assert.is(after.cuts.length, isClean ? 0 : 1, `at ${length}`);
    await after.append(payloads('next'));
    await after.close();
    await using last = closing(await open(torn));
    assert.equal([(await texts(last)).at(-1), last.cuts], ['next', []], `at ${length}`);
  }
});

test('one flipped bit costs one record: the others are read as they were written', async () => {
  const all = ['first', 'second', 'third'];
  const good = await written(...all);
  // Each record has 28 bytes besides its payload.
  const ends = [33, 67, 100];
  // Every fifth bit reaches each byte.
  for (let bit = 0; bit < good.byteLength * 8; bit += 5) {
    const flipped = Buffer.from(good);
    const byte = bit >> 3;
    flipped[byte]! ^= 1 << (bit & 7);
    await using after = closing(await open(folderWith(flipped)));
    const found = await texts(after);
    if (byte === good.byteLength - 1) {
      // Behind the last record nothing tells a line break that is damaged from a write that was torn.
      assert.equal([found, after.cuts.length], [all.slice(0, 2), 1], `bit ${bit}`);
      continue;
    }
    const hit = ends.findIndex((end) => byte < end);
    assert.equal([found, after.waiting, after.cuts], [all.with(hit, 'damaged'), 3, []], `bit ${bit}`);
    await after.append(payloads('next'));
    assert.equal(await texts(after, 4), ['next'], `bit ${bit}`);
  }
});

test('if a disk damages a part of a file, the records around it are read with their numbers', async () => {
  const random = new Random(3);
  const all = Array.from({ length: 200 }, (_, index) => `${index + 1}:${'x'.repeat(random.below(300))}`);
  const good = await written(...all);
  for (let round = 0; round < 40; round++) {
    const spoiled = Buffer.from(good);
    const from = random.below(good.byteLength - 6_000);
    const length = 1 + random.below(4_096);
    // Zeros, or what stood there before.
    for (let at = from; at < from + length; at++) spoiled[at] = round % 2 === 0 ? 0 : random.below(256);
    await using after = closing(await open(folderWith(spoiled)));
    assert.is(after.nextSeq, 201, `round ${round}`);
    const found = await texts(after);
    assert.is(found.length, 200);
    const hit = found.flatMap((text, index) => (text === 'damaged' ? [index] : []));
    assert.ok(hit.length > 0 && hit.at(-1)! - hit[0]! === hit.length - 1, `round ${round}: in a row`);
    for (const [index, text] of found.entries()) if (text !== 'damaged') assert.is(text, all[index]);
    const dataHit = hit.reduce((sum, index) => sum + RECORD_EXTRA_BYTES + all[index]!.length, 0);
    assert.ok(dataHit <= length + 2 * 340, `round ${round}: no more than what was spoiled`);
  }
});

test('the number of a record is found behind any number of lost ones, beyond 32 bits as well', () => {
  for (const firstSeq of [1, 2 ** 32 + 7]) {
    const records = Array.from({ length: 5_000 }, (_, index) =>
      encodeRecord(firstSeq + index, Buffer.from(`payload ${index}`)),
    );
    for (const record of records.slice(0, -1)) record[30]! ^= 1;
    const pieces = [...piecesOf(Buffer.concat(records), firstSeq, Number.POSITIVE_INFINITY)];
    assert.equal(
      pieces.map(({ seq, count, payload }) => [seq - firstSeq, count, payload?.toString()]),
      [
        [0, 4_999, undefined],
        [4_999, 1, 'payload 4999'],
      ],
    );
  }
});

test('a delivered file with a damaged record is set aside; a damaged end before a later file is not torn', async () => {
  const journal = await open();
  const large = 'x'.repeat(16_000);
  const count = Math.ceil((1.5 * bounds.spoolSegmentBytes) / large.length);
  for (let index = 0; index < count; index++) await journal.append(payloads(`${index}:${large}`));
  await journal.close();
  const [first, second] = files();
  spoil((bytes) => bytes.fill(0, bytes.byteLength - 20_000));
  await using after = closing(await open());
  const found = await texts(after);
  assert.equal([found.length, found.filter((text) => text === 'damaged').length, after.cuts], [count, 2, []]);
  await after.passed(count);
  const [aside, next, ...others] = files();
  assert.match(aside!, new RegExp(`^${first}\\..{8}\\.damaged$`));
  assert.equal([next, others], [second, []]);
});

// Found by review: numbers come again, and a second file took the place of the first, with events in it.
test('a file that is set aside never replaces one that was set aside before', async () => {
  const large = 'x'.repeat(bounds.spoolSegmentBytes);
  for (const text of ['once', 'more']) {
    await written(large, text);
    spoil((bytes) => {
      bytes[100]! ^= 1;
    });
    const after = await open();
    assert.equal(await texts(after), ['damaged', text]);
    await after.passed(2);
    await after.close();
    rmSync(join(folder, 'delivered'));
  }
  const contents = files().map((name) => readFileSync(join(folder, name)).subarray(-5, -1).toString());
  assert.equal(contents.sort(), ['more', 'once']);
});

test('a file of an earlier version is refused and stays as it is', async () => {
  const path = join(folder, '0000000000000001.events');
  writeFileSync(path, 'PTFSPOOL and records');
  const refused = await open().catch((error: Error) => error.message);
  assert.match(String(refused), 'was written by an earlier version');
  const inspected = await inspectSpool(folder).catch((error: Error) => error.message);
  assert.is(inspected, refused);
  assert.is(readFileSync(path, 'latin1'), 'PTFSPOOL and records');
});

test('scattered damage is passed one after the other, and every other record is read', async () => {
  const all = Array.from({ length: 400 }, (_, index) => `record ${index}`);
  await using journal = closing(await open());
  await journal.append(payloads(...all));
  spoil((bytes) => {
    let at = 0;
    for (const [index, text] of all.entries()) {
      if (index % 2 === 1) bytes[at + 8]! ^= 1;
      at += RECORD_EXTRA_BYTES + text.length;
    }
  });
  assert.equal(
    await texts(journal),
    all.map((text, index) => (index % 2 === 1 ? 'damaged' : text)),
  );
});

test('a record that is damaged or cut off while the journal is open is skipped', async () => {
  await using journal = closing(await open());
  await journal.append(payloads('first', 'second', 'third', 'fourth'));
  spoil((bytes) => {
    // Within the payload of the second.
    bytes[63]! ^= 1;
  });
  assert.equal(await texts(journal), ['first', 'damaged', 'third', 'fourth']);
  assert.equal(await journal.read(2, 10, 1_000), { entries: [], damage: { seq: 2, count: 1, bytes: 34 } });
  truncateSync(join(folder, files()[0]!), 110);
  assert.equal(await texts(journal), ['first', 'damaged', 'third', 'damaged']);
});

test("damage between records counts by their numbers, at a file's end by line breaks, and torn never", () => {
  const whole = (seq: number) => encodeRecord(seq, Buffer.from('text'));
  const damaged = (seq: number) => {
    const bytes = whole(seq);
    bytes[RECORD_EXTRA_BYTES]! ^= 1;
    return bytes;
  };
  const torn = damaged(2).subarray(0, -1);
  const lines = Buffer.alloc(RECORD_EXTRA_BYTES, '\n');
  const open = Number.POSITIVE_INFINITY;
  /** A record of four bytes has 32; a piece is written as its first number, its count, where it is and its length. */
  const rows: readonly (readonly [parts: readonly Buffer[], end: number, ...pieces: string[]])[] = [
    [[damaged(1)], open, '1 x1 at 0: 32'],
    [[damaged(1), damaged(2)], open, '1 x2 at 0: 64'],
    [[damaged(1), damaged(2), whole(3)], open, '1 x2 at 0: 64', '3 x1 at 64: 32'],
    [[whole(1), torn], open, '1 x1 at 0: 32'],
    [[whole(1), torn], 3, '1 x1 at 0: 32', '2 x1 at 32: 31'],
    [[whole(1), lines.subarray(1)], open, '1 x1 at 0: 32'],
    [[whole(1), lines], open, '1 x1 at 0: 32', '2 x14 at 32: 28'],
    [[whole(1), whole(3)], 3, '1 x1 at 0: 32', '2 x1 at 32: 32'],
    [[whole(1), whole(1), whole(2)], 3, '1 x1 at 0: 32', '2 x1 at 64: 32'],
    [[], open],
    [[], 3, '1 x2 at 0: 0'],
  ];
  for (const [index, [parts, end, ...pieces]] of rows.entries()) {
    const found = [...piecesOf(Buffer.concat(parts), 1, end)];
    assert.equal(
      found.map(({ seq, count, at, bytes }) => `${seq} x${count} at ${at}: ${bytes}`),
      pieces,
      String(index),
    );
  }
});

test('records of a file that a later one begins again count once', async () => {
  await written('a', 'b', 'c');
  const other = join(folder, 'other');
  mkdirSync(other);
  writeFileSync(join(other, 'delivered'), encodeRecord(2, Buffer.alloc(0)));
  const second = await open(other);
  await second.append(payloads('C'));
  await second.close();
  copyFileSync(join(other, files(other)[0]!), join(folder, files(other)[0]!));
  await using joined = closing(await open());
  assert.equal(await texts(joined), ['a', 'b', 'C']);
});

test('the mark is the last one set; a damaged one counts as none, so that nothing is left out', async () => {
  const journal = await open();
  assert.is(journal.through, 0);
  await journal.append(payloads(...Array.from({ length: 12 }, (_, index) => `${index}`)));
  for (const seq of [3, 7, 12]) await journal.passed(seq);
  await journal.close();
  const after = await open();
  assert.equal([after.through, after.waiting, after.waitingBytes], [12, 0, 0]);
  await after.close();
  const path = join(folder, 'delivered');
  const bytes = readFileSync(path);
  const random = new Random(1);
  for (let round = 0; round < 50; round++) {
    const torn = Buffer.from(bytes);
    torn[1 + random.below(26)]! ^= 1 + random.below(255);
    writeFileSync(path, torn);
    await using after = closing(await open());
    assert.equal([after.through, after.waiting], [0, 12], `round ${round}`);
  }
});

test('the mark has its room on the disk from the start, and gives none of it up', async () => {
  const size = () => statSync(join(folder, 'delivered')).size;
  const journal = await open();
  assert.is(size(), RECORD_EXTRA_BYTES);
  await journal.append(payloads('a', 'b'));
  await journal.passed(1);
  await journal.close();
  assert.is(size(), RECORD_EXTRA_BYTES);
});

test('events set aside are bounded to two files', async () => {
  const line = { text: 'x'.repeat(1_000_000) };
  for (let index = 0; index < 40; index++) await setAside(folder, [line]);
  const sizes = readdirSync(folder).map((name) => statSync(join(folder, name)).size);
  assert.equal(readdirSync(folder).sort(), ['set-aside.1.ndjson', 'set-aside.ndjson']);
  for (const size of sizes) assert.ok(size <= bounds.spoolSetAsideBytes + 1_100_000);
});

test.run();

/** Input and output of the command without a node: tables, and the recomputed chain. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { auditPart, auditStart } from '../../src/core/records/audit.js';
import type { AuditEntryValue } from '../../src/operations/log-operations.js';
import { cutLine, facts, printable, table } from '../../src/operations/text-table.js';
import { verifyChain } from '../../src/operator/protocol/audit-chain.js';

test('columns are aligned, words to the left and numbers to the right', () => {
  const rows = [
    ['a', 1, 'x'],
    ['bcd', 20, 'yy'],
  ];
  assert.equal(table(80, rows, ['name', 'n', 'z']), ['name   n  z', 'a      1  x', 'bcd   20  yy']);
  assert.equal(table(80, [], ['name']), ['name']);
});

test('a line is cut at the width of the terminal, by characters and not by halves of them', () => {
  assert.is(cutLine('abcd', 4), 'abcd');
  assert.is(cutLine('abcde', 4), 'abc…');
  assert.is(cutLine('😀😀😀', 2), '😀…');
  assert.is(cutLine('abcde', Number.POSITIVE_INFINITY), 'abcde');
});

test('a table that is too wide cuts its widest words first, in the middle, and never fixed columns', () => {
  const rows = [
    ['0c4b2d0e', 7, 'a name of many words', 'chess,go,backgammon'],
    ['1', 12, 'short', ''],
  ];
  const heads = ['peer', 'n', 'name', 'games'];
  assert.equal(table(55, rows, heads, ['peer'])[1], '0c4b2d0e   7  a name of many words  chess,go,backgammon');
  assert.equal(table(40, rows, heads, ['peer']), [
    'peer       n  name          games',
    '0c4b2d0e   7  a name…words  chess,go,ba…',
    '1         12  short',
  ]);
  for (let width = 32; width < 60; width++) {
    for (const line of table(width, rows, heads, ['peer'])) assert.ok([...line].length <= width, `${width}: ${line}`);
  }
});

test('where a table cannot fit, each row is a block in which nothing is lost', () => {
  const rows = [
    ['0c4b2d0e', 7, 'many words'],
    ['1', 12, ''],
  ];
  assert.equal(table(14, rows, ['peer', 'n', 'name'], ['peer']), [
    'peer  0c4b2d0e',
    'n     7',
    'name  many',
    '      words',
    '',
    'peer  1',
    'n     12',
  ]);
});

test('facts are broken at blanks, and within a word only where one is longer than a line', () => {
  const rows: [string, string][] = [['pre-trusted', 'aaaa bbbb cccccccccccc']];
  assert.equal(facts(22, rows), ['pre-trusted  aaaa bbbb', '             ccccccccc', '             ccc']);
  assert.equal(facts(10, []), []);
});

test('nothing that a peer chose can steer the terminal', () => {
  assert.is(printable('a\u001b[2Jb'), 'a<1b>[2Jb');
  assert.is(printable('a\nb\u202ec\u009b'), 'a<a>b<202e>c<9b>');
  assert.is(printable('Ärena 東京 😀'), 'Ärena 東京 😀');
});

/** A log of `count` entries whose hashes hold, ten ms apart. */
function entries(count: number): AuditEntryValue[] {
  let head = auditStart;
  return Array.from({ length: count }, (_, i) => {
    const part = auditPart(head, i + 1, i * 10, { action: 'peer_registered', actor: 'operator', target: `p${i}` });
    head = part.hash;
    return { seq: i + 1, at: new Date(i * 10).toISOString(), ...part };
  });
}

async function* pagesOf(...pages: readonly (readonly AuditEntryValue[])[]): AsyncGenerator<readonly AuditEntryValue[]> {
  yield* pages;
}

test('an intact chain is counted across pages and ends with its head', async () => {
  const all = entries(5);
  const report = await verifyChain(pagesOf(all.slice(0, 2), all.slice(2)));
  assert.equal(report, { ok: true, entries: 5, head_hash: all[4]?.hash, first_broken: null });
});

test('an empty chain holds and ends with 64 zeros', async () => {
  assert.equal(await verifyChain(pagesOf([])), { ok: true, entries: 0, head_hash: '0'.repeat(64), first_broken: null });
});

test('every edit, removal and exchange of entries is found where it is', async () => {
  const all = entries(4);
  const [one, two, three, four] = all as [AuditEntryValue, AuditEntryValue, AuditEntryValue, AuditEntryValue];
  const edits: Partial<AuditEntryValue>[] = [
    { seq: 9 },
    { at: new Date(11).toISOString() },
    { action: 'peer_revoked' },
    { actor: 'mallory' },
    { target: 'p9' },
    { prev_hash: four.hash },
    { hash: four.hash },
  ];
  for (const edit of edits) {
    const report = await verifyChain(pagesOf([one, { ...two, ...edit }, three, four]));
    assert.is(report.ok, false);
    assert.is(report.entries, 1);
    assert.is(report.head_hash, one.hash);
    assert.is(report.first_broken?.seq, edit.seq ?? 2);
  }
  assert.is((await verifyChain(pagesOf([one, three, four]))).first_broken?.seq, 3);
  assert.is((await verifyChain(pagesOf([two, three, four]))).first_broken?.seq, 2);
  assert.is((await verifyChain(pagesOf([one, three, two, four]))).first_broken?.seq, 3);
});

test.run();

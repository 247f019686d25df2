import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { nativeLists } from '../../../src/peer/export/native-lists.js';
import { brief, plan } from '../import/plans.js';

const at = Date.UTC(2026, 10, 20, 12, 3, 4, 567);
const reason = 'untrusted in the group of servers';
const steam = '76561197960287930';
const uuid = '069a79f4-44e9-4726-a5be-fca90e38aaf5';
const minecraft = [
  { uuid, name: '', created: '2026-11-20 12:03:04 +0000', source: 'ptf-peer', expires: 'forever', reason },
];

/** The text of each list for one player. A list without a case fails. */
const texts: Readonly<Record<string, readonly [id: string, text: string]>> = {
  squad: [steam, `${steam}:0 //${reason}\n`],
  source: [steam, 'banid 0 STEAM_1:0:11101\n'],
  rust: [steam, `banid ${steam} "" "${reason}" -1\n`],
  minecraft: [uuid, `${JSON.stringify(minecraft, null, 2)}\n`],
  ids: [steam, `${steam}\n`],
};

for (const { name, write } of nativeLists) {
  test(`a list of ${name} is written as the game reads it, and is read back`, () => {
    const [id, text] = texts[name]!;
    assert.is(write([{ id, kind: name === 'minecraft' ? 'minecraft' : 'steam' }], at), text);
    assert.equal(
      brief(plan(text)).map((row) => row.replace(/^\d+ /, '')),
      [`${id} send`],
    );
  });
}

test.run();

/** The values of the options that several commands share. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import {
  duration,
  gathered,
  kindList,
  share,
  timeZone,
  webAddress,
  wholeNumber,
} from '../../../src/peer/cli/options.js';

test('an option takes the values of its form, and no other', () => {
  const cases: readonly (readonly [(text: string) => unknown, taken: Record<string, unknown>, refused: string[]])[] = [
    [wholeNumber(1, 10), { 1: 1, 10: 10, '02': 2 }, ['0', '11', '', '-1', '1.5', 'x', '1e1']],
    [share, { 0: 0, 1: 1, '0.5': 0.5 }, ['', ' ', '-0.1', '1.1', 'x']],
    [webAddress, { 'http://h': 'http://h', 'https://h/x': 'https://h/x' }, ['h', 'ftp://h', 'http://', 'xhttp://h']],
    [timeZone, { UTC: 'UTC', 'Europe/Berlin': 'Europe/Berlin' }, ['Berlin', '']],
    [kindList, { 'steam, xbox,,steam': ['steam', 'xbox'], own: ['own'] }, ['', ',', 'Steam', 'steamid', 'steam,ip']],
    [
      duration,
      { '1s': 1_000, '5m': 300_000, '2h': 7_200_000 },
      ['0s', '0h', '1', 's', '1d', '1.5s', '1234567s', ' 1s'],
    ],
  ];
  for (const [read, taken, refused] of cases) {
    for (const [text, value] of Object.entries(taken)) assert.equal(read(text), value);
    for (const text of refused) assert.throws(() => read(text), /^expected /, text);
  }
  assert.equal(gathered('b', gathered('a')), ['a', 'b']);
});

test.run();

import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { knownIds } from '../../../src/peer/cli/export-command.js';

const idsOf = (text: string): string[] => [...knownIds(text, {}).players.keys()];

test('empty lines, comments and the name of the column are no ids', () => {
  const text = 'steam_id\n\n// my players\n76561197960287930,name\n"76561197960287931"\n76561197960287930\n';
  assert.equal(knownIds(text, {}).refused, []);
  assert.is(idsOf(text).length, 2);
});

test('a last line that may be truncated is refused where each shorter id is an id, too', () => {
  assert.equal([idsOf('STEAM_0:0:11101\n').length, knownIds('STEAM_0:0:11101', {}).refused.length], [1, 1]);
  assert.is(idsOf('76561197960287930').length, 1);
});

test.run();

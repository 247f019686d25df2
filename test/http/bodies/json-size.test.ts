/** The size of parsed JSON: the reference is what `JSON.stringify` writes, wherever the stack allows it. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { isJsonWithin } from '../../../src/http/bodies/bodies.js';

test('a value fits if JSON.stringify writes it in as many bytes', () => {
  const texts = [
    ...['0', '-0', '1e400', '0.1', '1e21', 'true', 'null', '""', '"\\ud800"', '"\\u0000é😀\\\\\\""'],
    ...[
      '[]',
      '{}',
      '[[]]',
      '[1,2]',
      '{"a":{}}',
      '{"__proto__":[1],"é\\n":null}',
      '{"toJSON":1,"length":[{"a":"b"},[[],{}]]}',
    ],
  ];
  for (const text of texts) {
    const value: unknown = JSON.parse(text);
    const bytes = Buffer.byteLength(JSON.stringify(value));
    assert.ok(isJsonWithin(value, bytes), text);
    assert.not.ok(isJsonWithin(value, bytes - 1), text);
  }
});

test('depth and breadth cost no stack', () => {
  const deep: unknown = JSON.parse(`${'['.repeat(500_000)}${']'.repeat(500_000)}`);
  assert.ok(isJsonWithin(deep, 1_000_000));
  assert.not.ok(isJsonWithin(deep, 999_999));
  assert.ok(isJsonWithin(Array(500_000).fill(0), 1_000_001));
});

test.run();

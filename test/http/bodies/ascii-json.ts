/** How texts that are written by hand are held against what `JSON.stringify` gives. */
import * as assert from 'uvu/assert';

/** Byte by byte where `JSON.stringify` gives ASCII alone; else ASCII that means the same. */
export function assertIsJsonOf(body: unknown, text: string): void {
  assert.match(text, /^[\x20-\x7e]*$/);
  const json = JSON.stringify(body);
  if (/^[\x20-\x7e]*$/.test(json)) assert.is(text, json);
  else assert.is(JSON.stringify(JSON.parse(text)), json);
}

import { ByteStrings } from '../../src/core/columns/byte-strings.js';

export function textsOf(list: readonly string[]): ByteStrings {
  const texts = new ByteStrings();
  for (const text of list) texts.push(text);
  return texts;
}

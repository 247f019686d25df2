import { Texts } from '../../src/core/columns/byte-strings.js';

/** The same as `Texts`. */
export function textsOf(list: readonly string[]): Texts {
  const texts = new Texts();
  for (const text of list) texts.push(text);
  return texts;
}

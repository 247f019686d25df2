/** Looks for secrets in bytes: as they are, and in every form in which a program might have written them. */
import { filesOfLiving } from '../support/living-folder.js';

export interface Needle {
  /** A description for people; never the secret itself. */
  readonly what: string;
  readonly text: string;
}

/**
 * The forms in which a text may stand: plain, two bytes a character, hexadecimal, base64 at each of its three offsets,
 * escaped.
 */
function formsOf(text: string): Buffer[] {
  const bytes = Buffer.from(text);
  const base64 = [0, 1, 2].map((offset) => {
    const padded = Buffer.concat([Buffer.alloc(offset), bytes]);
    // Characters that the bytes around would share are left out.
    return padded.toString('base64').slice(offset === 0 ? 0 : 4, -4);
  });
  const texts = [
    text,
    bytes.toString('hex'),
    bytes.toString('hex').toUpperCase(),
    ...base64,
    ...base64.map((one) => one.replaceAll('+', '-').replaceAll('/', '_')),
    encodeURIComponent(text),
    JSON.stringify(text).slice(1, -1),
  ];
  return [...new Set(texts)].map((one) => Buffer.from(one)).concat(Buffer.from(text, 'utf16le'));
}

/** A place with bytes in it. */
export interface Haystack {
  readonly where: string;
  readonly bytes: Buffer;
}

/** Every file under a folder, which may be a running node's. */
export function filesUnder(folder: string): Haystack[] {
  return filesOfLiving(folder).map(({ name, bytes }) => ({ where: name, bytes }));
}

/** Each `what in where` that was found; empty where nothing was. */
export function found(needles: readonly Needle[], haystacks: readonly Haystack[]): string[] {
  return needles.flatMap(({ what, text }) => {
    const forms = formsOf(text);
    return haystacks
      .filter(({ bytes }) => forms.some((form) => form.length >= 8 && bytes.includes(form)))
      .map(({ where }) => `${what} in ${where}`);
  });
}

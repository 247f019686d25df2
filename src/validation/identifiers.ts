/** Declares the schemas of ids, names and other texts of callers and operators, and the texts of violations. */
import { limits } from '../limits.js';

/** Control characters, invisible ones and halves of surrogate pairs, which people cannot see. */
const unseen = '\\p{Cc}\\p{Cf}\\p{Cs}';

/**
 * Other characters drawn as nothing: Default_Ignorable_Code_Point without `\p{Cf}`, the braille blank,
 * noncharacters, the Khitan filler and the musical null notehead.
 */
export const ignorable =
  '\ufffe\uffff\u{16fe4}\u{1d159}\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2065\u2800\u3164\ufe00-\ufe0f\uffa0\ufff0-\ufff8\u{e0000}-\u{e0fff}';

/** Matches any characters except unseen ones and those of `refused`, without a blank at either end. */
function visiblePattern(refused = ''): string {
  return `^[^\\s${refused}${unseen}](?:[^${refused}${unseen}]*[^\\s${refused}${unseen}])?$`;
}

const visible = visiblePattern();
const name = visiblePattern(ignorable);
const nameWithoutComma = visiblePattern(`,${ignorable}`);
const seen = `[^\\s${unseen}${ignorable}]`;

/** Patterns of texts that an operator writes besides ids and names. */
export const operatorPatterns = {
  moreThanBlanks: seen,
  /** The text goes into the audit log, which people read on terminals. */
  oneLine: `^\\P{Cc}*${seen}\\P{Cc}*$`,
  subjectHash: '^[0-9A-Fa-f]{64}$',
} as const;

/** Returns the schema of a text that is not empty. */
function text(maxLength: number, pattern: string, description: string, example: string) {
  return { type: 'string', minLength: 1, maxLength, pattern, description, examples: [example] } as const;
}

export const playerId = text(
  limits.playerIdLength,
  visible,
  'Opaque id of the player, without control or invisible characters and without a blank at either end. 64 hexadecimal characters are taken as a subject hash that the peer computed; any other id is hashed on arrival and never stored.',
  'steam:76561198000000001',
);

export const eventId = text(
  limits.eventIdLength,
  '^[A-Za-z0-9._:-]+$',
  'The idempotency key, unique in the group. A UUIDv4 is recommended.',
  '0c4b2d0e-6f0a-4e0b-9c43-5f1a2b3c4d5e',
);

export const gameId = text(
  limits.gameIdLength,
  nameWithoutComma,
  'Without commas, control or invisible characters, and without a blank at either end.',
  'arena-one',
);

export const originName = text(
  limits.originNameLength,
  name,
  'Name of an origin that the operator declared: the source, such as a public ban list, whose statement the event passes on. All events with one origin count as one witness, whichever peers pass them on. Known from `schema_version` 1.1.0 on.',
  'public-ban-list',
);

export const reference = text(
  limits.referenceLength,
  name,
  "The peer's own note on the event, such as a ticket number. The note is opaque, shown only to that peer and the operator, and erased with the event; it must not name the player. Known from `schema_version` 1.1.0 on.",
  'ticket-4711',
);

export const gameIds = {
  type: 'array',
  minItems: 1,
  maxItems: limits.gameIdsMax,
  uniqueItems: true,
  items: gameId,
} as const;

export const peerName = text(
  limits.peerNameLength,
  name,
  'Without control or invisible characters, and without a blank at either end.',
  'Arena EU 1',
);

/** Line breaks are the one kind of control characters that people write on purpose. Overrides reverse what is read. */
const prose = `^(?=[^]*${seen})[^\\p{Cs}\\u202D\\u202E\\x00-\\x09\\x0B\\x0C\\x0E-\\x1F\\x7F-\\x9F]*$`;

export const disputeText = text(
  limits.disputeTextLength,
  prose,
  'Why the caller disputes the events. Shown only to the operator, and erased with the player. Without control characters other than line breaks.',
  'The player was on a LAN event that day; see the attached schedule.',
);

export const contactEmail = {
  type: 'string',
  maxLength: limits.emailLength,
  format: 'email',
  description: 'Shown only to the operator, never public.',
  examples: ['ops@example.com'],
} as const;

export const publicKey = {
  type: 'string',
  // 32 bytes are 43 characters, the last of which carries four bits.
  pattern: '^[A-Za-z0-9_-]{42}[AEIMQUYcgkosw048]$',
  format: 'ed25519-public-key',
  description:
    'Ed25519 public key that the peer signs its writes with (RFC 9421): the raw 32 bytes in base64url without padding.',
  examples: ['JrQLj5P_89iXES9-vFgrIy29clF9CC_oPPsw3c5D0bs'],
} as const;

const visibleText = new RegExp(visible, 'u');
const eventIdText = new RegExp(eventId.pattern, 'u');
const firstUnseen = new RegExp(`[${unseen}]`, 'u');
const firstUnseenOfName = new RegExp(`[${unseen}${ignorable}]`, 'u');

/** Describes the forbidden characters of a text that is not empty, as the end of a sentence; undefined if none. */
export function characterViolation(text: string): string | undefined {
  return visibleText.test(text) ? undefined : violationOf(text, firstUnseen);
}

function violationOf(text: string, invisible: RegExp): string {
  const found = invisible.exec(text)?.[0];
  if (found === undefined) return 'must not begin or end with a blank';
  const point = `U+${found.codePointAt(0)!.toString(16).toUpperCase().padStart(4, '0')}`;
  if (/\p{Cc}/u.test(found)) return `must not contain a control character; found ${point}`;
  if (/\p{Cs}/u.test(found)) return `must not contain half of a surrogate pair; found ${point}`;
  return `must not contain an invisible character; found ${point}`;
}

export function isEventId(text: string): boolean {
  return text.length <= limits.eventIdLength && eventIdText.test(text);
}

export const patternViolations: ReadonlyMap<string, (text: string) => string | undefined> = new Map([
  [visible, characterViolation],
  [name, (text: string) => violationOf(text, firstUnseenOfName)],
  [
    nameWithoutComma,
    (text: string) =>
      text.includes(',')
        ? 'must not contain a comma; each game is a separate item'
        : violationOf(text, firstUnseenOfName),
  ],
  [
    eventId.pattern,
    (text: string) => characterViolation(text) ?? 'must consist of letters, digits and the characters . _ : -',
  ],
  [prose, () => 'must be more than blanks, without control characters other than line breaks'],
  [publicKey.pattern, () => 'must be an Ed25519 public key: 32 raw bytes in base64url, 43 characters without padding'],
  [operatorPatterns.moreThanBlanks, () => 'must be more than blanks'],
  [operatorPatterns.oneLine, () => 'must be more than blanks, and one line without control characters'],
  [operatorPatterns.subjectHash, () => 'must be 64 hexadecimal characters'],
]);

/** Decodes the bytes of a ban list and determines its format. It does not read the bans. */

import type { ListFormat } from '../formats/list-row.js';
import { type Decoded, decodeList } from '../formats/reading/decode.js';
import { detectFormat, formatNamed, formats } from '../formats/registry.js';
import { PeerError, wrongUsage } from '../peer-error.js';

export interface DecodedList extends Decoded {
  readonly format: ListFormat;
  readonly why: string;
}

/** The names for `--format`. */
export const formatNames: readonly string[] = ['auto', ...formats.map(({ name }) => name)];

/**
 * Returns the list in the bytes. Throws `wrong_usage` for an unknown format name, and `format_not_recognised` (exit
 * code 4) if the list has no known format.
 */
export function listOf(bytes: Uint8Array, formatName: string): DecodedList {
  const decoded = decodeList(bytes);
  if (formatName !== 'auto') {
    const format = formatNamed(formatName);
    if (format === undefined) throw wrongUsage(`--format must be one of ${formatNames.join(', ')}`);
    return { ...decoded, format, why: 'given by --format' };
  }
  const detected = detectFormat(decoded.text);
  if (detected !== null) return { ...decoded, ...detected };
  throw new PeerError(
    'format_not_recognised',
    `the list has none of the known formats; name one with --format: ${formatNames.slice(1).join(', ')}`,
    4,
  );
}

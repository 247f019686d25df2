/** Reads a ban list from its bytes: which format it is, why, and its text. */

import type { ListFormat } from '../formats/list-row.js';
import { type Decoded, decodeList } from '../formats/reading/decode.js';
import { detectFormat, formatNamed, formats } from '../formats/registry.js';
import { PeerError, wrongUsage } from '../peer-error.js';

export interface FoundList extends Decoded {
  readonly format: ListFormat;
  /** Why it is of this format, for people. */
  readonly why: string;
}

/** The names that `--format` takes. */
export const formatNames: readonly string[] = ['auto', ...formats.map(({ name }) => name)];

/**
 * The list in the bytes. Throws `wrong_usage` for a format that there is not, and `format_not_recognised` (exit code 4)
 * where the format is to be found and the list has that of no tool that is known.
 */
export function listOf(bytes: Uint8Array, formatName: string): FoundList {
  const decoded = decodeList(bytes);
  if (formatName !== 'auto') {
    const format = formatNamed(formatName);
    if (format === undefined) throw wrongUsage(`--format must be one of ${formatNames.join(', ')}`);
    return { ...decoded, format, why: '--format says so' };
  }
  const detected = detectFormat(decoded.text);
  if (detected !== null) return { ...decoded, ...detected };
  throw new PeerError(
    'format_not_recognised',
    `the list has none of the known formats; name one with --format: ${formatNames.slice(1).join(', ')}`,
    4,
  );
}

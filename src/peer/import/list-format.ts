/** Decodes the bytes of a ban list and determines its format. It does not read the bans. */
import type { Shape } from '../formats/description.js';
import { type Detected, detectFormat, draftIn, partsOf, shapeOf } from '../formats/recognise.js';
import { isTable } from '../formats/shapes.js';
import { tools } from '../formats/tools.js';
import { PeerError, wrongUsage } from '../peer-error.js';
import { type Decoded, decodeList } from '../sources/decode.js';
import type { ImportPlan, ListReading } from './plan.js';

export interface DecodedList extends Decoded, Detected {}

export interface FormatChoice extends Pick<ListReading, 'format' | 'description'> {
  /** The name of the file, without its folder. */
  readonly name: string;
}

const genericShapes = new Map<string, Shape>(Object.entries({ csv: 'csv', json: 'json', ndjson: 'json-lines' }));

/** The names for `--format`. The name of a table serves its export and its dump alike. */
export const formatNames: readonly string[] = [
  ...new Set(['auto', ...tools.map(({ name, sameAs }) => sameAs ?? name), ...genericShapes.keys()]),
];

/** Throws `wrong_usage` for an unknown format, and `format_not_recognised` (exit code 4) if none fits. */
export function listOf(bytes: Uint8Array, { format: formatName, name, description }: FormatChoice): DecodedList {
  const decoded = decodeList(bytes);
  if (description !== undefined) return { ...decoded, format: description, why: 'given by --description' };
  const isAuto = formatName === 'auto';
  const found = isAuto ? detectFormat(decoded.text, name) : formatNamed(formatName, decoded.text, name);
  if (typeof found !== 'string') return { ...decoded, ...found };
  const advice = '; name a format with --format, or describe the list: ptf-peer describe FILE';
  throw new PeerError('format_not_recognised', found.includes('--') ? found : `${found}${advice}`, 4);
}

function formatNamed(formatName: string, text: string, name: string): Detected | string {
  const why = 'given by --format';
  const shape = genericShapes.get(formatName);
  if (shape !== undefined) {
    const draft = draftIn(partsOf(text, shape, name), shape);
    return typeof draft === 'string' ? draft : { format: draft, why };
  }
  const named = tools.filter((one) => one.name === formatName || one.sameAs === formatName);
  const looks = named.length > 1 ? shapeOf(text) : null;
  const alike = named.filter((one) => one.shape === looks);
  // Versions of a tool have descriptions of the same name, whose columns differ.
  const parts = alike.length > 1 ? partsOf(text, alike[0]!.shape, name) : [];
  const fitting = alike.find((one) => parts.some((part) => isTable(one, part.name, part.cells)));
  const found = fitting ?? alike[0] ?? named[0];
  if (found === undefined) throw wrongUsage(`--format must be one of ${formatNames.join(', ')}`);
  return { format: found, why };
}

/** Throws `cells_not_described` (exit code 4) if cells for an end, a type or a removal are not described or lacking. */
export function assertDescribed({ format, unknown: { dangerous, lacking } }: ImportPlan): void {
  if (lacking.length > 0) {
    throw notDescribed(
      `the list lacks ${lacking.join(', ')}, where the description ${format} reads an end, a type or a removal; export it too, or go without it by --ignore ${lacking.join(' --ignore ')}`,
    );
  }
  if (dangerous.length > 0) {
    throw notDescribed(
      `the description ${format} does not say what ${dangerous.join(', ')} means, which looks like an end, a type or a removal; say it with --description (ptf-peer describe drafts one), or pass over it with --ignore ${dangerous.join(' --ignore ')}`,
    );
  }
}

function notDescribed(text: string): PeerError {
  return new PeerError('cells_not_described', text, 4);
}

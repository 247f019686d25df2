/**
 * Reads and writes the files of results. Refuses a document that is no result with the file's name and what was
 * expected.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { Ajv } from 'ajv';
import { type Figure, type Result, resultFormat } from './result.js';

/** JSON has no form for numbers that are not finite. */
type WrittenFigure = Omit<Figure, 'value' | 'windows'> & { value: number | null; windows: (number | null)[] };

const text = { type: 'string' };
const number = { type: 'number' };
const orNull = (type: string) => ({ type: [type, 'null'] });
const numberOrNull = orNull('number');
const better = { enum: ['more', 'less'] };
const listOf = (items: object) => ({ type: 'array', items });
const record = (properties: Readonly<Record<string, object>>) => ({
  type: 'object',
  required: Object.keys(properties),
  properties,
});

/** The parts that `compare` and `table` read. */
const isResult = new Ajv({ allowUnionTypes: true }).compile(
  record({
    scenario: text,
    started_at: text,
    environment: record({ node: text, system: text, cpu: text, cores: number, pinning: text }),
    options: { type: 'object' },
    notes: listOf(text),
    figures: listOf(record({ name: text, unit: text, better, value: numberOrNull, windows: listOf(numberOrNull) })),
    goals: listOf(record({ figure: text, goal: text, reached: orNull('string'), met: orNull('boolean') })),
    latencies: listOf(record({ name: text, percentiles: listOf(listOf(number)) })),
  }),
);

export function readResult(file: string): Result {
  const document = parsed(file);
  const fault = faultOf(document);
  if (fault !== null) throw new Error(`${file} is not a result of a scenario, written with --json: ${fault}`);
  const result = document as Omit<Result, 'figures'> & { figures: readonly WrittenFigure[] };
  const known = (value: number | null) => value ?? Number.NaN;
  const figures = result.figures.map((figure) => ({
    ...figure,
    value: known(figure.value),
    windows: figure.windows.map(known),
  }));
  return { ...result, figures };
}

function parsed(file: string): unknown {
  let content: string;
  try {
    content = readFileSync(file, 'utf8');
  } catch (error) {
    throw new Error(`${file} cannot be read: ${(error as Error).message}`);
  }
  try {
    return JSON.parse(content);
  } catch {
    throw new Error(`${file} is not JSON: expected a result of a scenario, written with --json`);
  }
}

function faultOf(document: unknown): string | null {
  if (typeof document !== 'object' || document === null || Array.isArray(document)) return 'expected an object';
  if ('environment' in document && 'rows' in document && Array.isArray(document.rows)) {
    return 'it is a result of quality, whose rows have no windows; its goals are in its own table';
  }
  if (!('format' in document && document.format === resultFormat)) return `expected format ${resultFormat}`;
  if (isResult(document)) return null;
  const { instancePath, params } = isResult.errors![0]!;
  const part = instancePath.split('/')[1] ?? String(params.missingProperty);
  return `its ${part} are missing or malformed`;
}

/** Writes a file. The error contains the file's name, which the error of a full disk lacks. */
export function writeFile(file: string, content: string): void {
  try {
    writeFileSync(file, content);
  } catch (error) {
    throw new Error(`${file} cannot be written: ${(error as Error).message}`);
  }
}

export function writeJson(file: string, document: unknown): void {
  writeFile(file, `${JSON.stringify(document, null, 2)}\n`);
}

/** Reads result documents: what is none is refused by its file's name, with what was expected. */
import { readFileSync } from 'node:fs';
import { type Figure, type Result, resultFormat } from './result.js';

/** JSON has no number for what is not finite. */
type WrittenFigure = Omit<Figure, 'value' | 'windows'> & { value: number | null; windows: (number | null)[] };

type Fields = Readonly<Record<string, unknown>>;

export function readResult(file: string): Result {
  const document = parsed(file);
  const wrong = wrongIn(document);
  if (wrong !== null) {
    throw new Error(`${file} is not a result of a scenario, written with --json: ${wrong}`);
  }
  const result = document as Omit<Result, 'figures'> & { figures: readonly WrittenFigure[] };
  const number = (value: number | null) => value ?? Number.NaN;
  const figures = result.figures.map((figure) => ({
    ...figure,
    value: number(figure.value),
    windows: figure.windows.map(number),
  }));
  return { ...result, figures };
}

function parsed(file: string): unknown {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    throw new Error(`${file} cannot be read: ${(error as Error).message}`);
  }
  try {
    return JSON.parse(text);
  } catch {
    throw new Error(`${file} is not JSON: expected a result of a scenario, written with --json`);
  }
}

const isText = (value: unknown) => typeof value === 'string';
const isNumber = (value: unknown) => typeof value === 'number';
const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const isListOf = (holds: (entry: unknown) => boolean) => (value: unknown) => Array.isArray(value) && value.every(holds);
const isOrNull = (holds: (value: unknown) => boolean) => (value: unknown) => value === null || holds(value);
const isNumberOrNull = isOrNull(isNumber);
const isVerdict = isOrNull((value) => typeof value === 'boolean');
const isSense = (value: unknown) => value === 'more' || value === 'less';

function has(value: unknown, fields: Readonly<Record<string, (value: unknown) => boolean>>): boolean {
  return isFields(value) && Object.entries(fields).every(([name, holds]) => holds(value[name]));
}

/** What `compare` and `table` go by. */
const parts: Readonly<Record<string, (value: unknown) => boolean>> = {
  scenario: isText,
  started_at: isText,
  environment: (value) => has(value, { node: isText, system: isText, cpu: isText, cores: isNumber, pinning: isText }),
  options: isFields,
  notes: isListOf(isText),
  figures: isListOf((figure) =>
    has(figure, {
      name: isText,
      unit: isText,
      better: isSense,
      value: isNumberOrNull,
      windows: isListOf(isNumberOrNull),
    }),
  ),
  goals: isListOf((goal) => has(goal, { figure: isText, goal: isText, reached: isOrNull(isText), met: isVerdict })),
  latencies: isListOf((latency) => has(latency, { name: isText, percentiles: isListOf(isListOf(isNumber)) })),
};

function wrongIn(document: unknown): string | null {
  if (!isFields(document)) return 'expected an object';
  if (isFields(document.environment) && Array.isArray(document.rows)) {
    return 'it is one of quality, whose rows hold no windows to judge by; its goals stand in its own table';
  }
  if (document.format !== resultFormat) return `expected its format to be ${resultFormat}`;
  const wrong = Object.entries(parts).find(([name, holds]) => !holds(document[name]));
  return wrong === undefined ? null : `its ${wrong[0]} are missing, or not as expected`;
}

/** A goal of one or more numbers: its bounds, the figure reached, and the table of goals. */
import type { Table } from '../tables.js';

export interface Goal {
  readonly figure: string;
  readonly goal: string;
  /** The figure to compare with, of `Population.reference`. */
  readonly reference: string;
  /** Null if the rows lack the data for the figure. */
  readonly reached: string | null;
  /** Null if there is no figure, or if the figure is not of the groups for which the goal was stated. */
  readonly met: boolean | null;
}

/** Groups that are judged together. */
export interface Population {
  readonly name: string;
  /** Heading of the figures to compare with. */
  readonly reference: string;
  readonly goals: readonly Goal[];
}

/** One number of a figure. A number without a bound is printed and not judged. */
export interface Part {
  readonly value: number;
  readonly atLeast?: number;
  readonly atMost?: number;
  readonly print: (value: number) => string;
}

/** Tolerance for the last bits of a number that reaches its bound exactly. */
const slack = 1e-9;

export function goalOf(figure: string, reference: string, parts: readonly Part[]): Goal {
  const known = parts.filter(({ value }) => Number.isFinite(value));
  return {
    figure,
    reference,
    goal: parts.map(({ atLeast, atMost }) => boundText(atLeast, atMost)).join(' / '),
    reached:
      known.length === 0
        ? null
        : parts.map(({ value, print }) => (Number.isFinite(value) ? print(value) : '-')).join(' / '),
    met: known.length === 0 ? null : known.every(holds),
  };
}

/** Judges a goal only on the groups for which it was stated. */
export function judgedIf(isStatedFor: boolean, goal: Goal): Goal {
  return isStatedFor ? goal : { ...goal, met: null };
}

function boundText(atLeast: number | undefined, atMost: number | undefined): string {
  if (atLeast !== undefined) return String(atLeast);
  return atMost === undefined ? '-' : `at most ${atMost}`;
}

function holds({ value, atLeast = Number.NEGATIVE_INFINITY, atMost = Number.POSITIVE_INFINITY }: Part): boolean {
  return value >= atLeast - slack && value <= atMost + slack;
}

type Bounds = Pick<Part, 'atLeast' | 'atMost'>;

/** A share in [0, 1], printed and judged as a percentage. */
export function percent(share: number, { digits = 1, ...bounds }: Bounds & { digits?: number } = {}): Part {
  return number(share * 100, bounds, digits);
}

export function number(value: number, bounds: Bounds, digits: number): Part {
  return { ...bounds, value, print: (shown) => shown.toFixed(digits) };
}

export function goalVerdict({ met, reached }: Goal): string {
  if (met === null) return reached === null ? 'not measured' : 'not judged';
  return met ? 'reached' : 'MISSED';
}

export function goalTables(populations: readonly Population[]): Table[] {
  return populations.map(({ name, reference, goals }) => ({
    head: [`Goals, ${name}, %`, 'wanted', reference, 'figure', ''],
    rows: goals.map((goal) => [goal.figure, goal.goal, goal.reference, goal.reached ?? '-', goalVerdict(goal)]),
    missed: goals.map(({ met }) => met === false),
  }));
}

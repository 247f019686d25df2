/**
 * A difference between the service and the definition. `rule` names its kind, which a shorter list must show as well.
 */
export class Difference extends Error {
  override readonly name = 'Difference';
  readonly rule: string;

  constructor(rule: string, message: string) {
    super(`${rule}: ${message}`);
    this.rule = rule;
  }
}

/** Returns any error that a life met as a difference; one that is none is a broken invariant. */
export function differenceOf(error: unknown): Difference {
  if (error instanceof Difference) return error;
  return new Difference('invariant', error instanceof Error ? (error.stack ?? error.message) : String(error));
}

/** Compares what was found with what was expected, by their JSON. */
export function same(rule: string, what: string, found: unknown, expected: unknown): void {
  const [a, b] = [JSON.stringify(found), JSON.stringify(expected)];
  if (a !== b) throw new Difference(rule, `${what}: found ${a}, expected ${b}`);
}

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

/** What a life found, and how often what happened in it. */
export class LifeOutcome {
  /** The first difference. */
  difference: Difference | null = null;
  readonly counts = new Map<string, number>();

  count(what: string, by = 1): void {
    this.counts.set(what, (this.counts.get(what) ?? 0) + by);
  }

  /** Notes any error that the life met; one that is no difference is a broken invariant. */
  found(error: unknown): void {
    const text = () => (error instanceof Error ? (error.stack ?? error.message) : String(error));
    this.difference ??= error instanceof Difference ? error : new Difference('invariant', text());
  }

  async guard(act: () => void | Promise<void>): Promise<void> {
    try {
      await act();
    } catch (error) {
      this.found(error);
    }
  }

  /** Lives a whole life: a rejection that nobody handles meanwhile is found as well. */
  async during(life: () => Promise<void>): Promise<void> {
    const onRejection = (error: unknown) => this.found(error);
    process.on('unhandledRejection', onRejection);
    await this.guard(life);
    process.off('unhandledRejection', onRejection);
  }
}

/** Compares what was found with what was expected, by their JSON. */
export function same(rule: string, what: string, found: unknown, expected: unknown): void {
  const [a, b] = [JSON.stringify(found), JSON.stringify(expected)];
  if (a !== b) throw new Difference(rule, `${what}: found ${a}, expected ${b}`);
}

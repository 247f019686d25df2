/** Parses the texts of settings, each with the problem that an operator reads if the text is no value. */

export type Parsed<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly problem: string };

export function value<T>(of: T): Parsed<T> {
  return { ok: true, value: of };
}

export function problem(text: string): { readonly ok: false; readonly problem: string } {
  return { ok: false, problem: text };
}

export function wholeNumber(min: number, max: number): (text: string) => Parsed<number> {
  return (text) => {
    const number = Number(text);
    if (/^\d+$/.test(text) && number >= min && number <= max) return value(number);
    return problem(`must be a whole number from ${min} to ${max}`);
  };
}

export function oneOf<T extends string>(choices: readonly T[]): (text: string) => Parsed<T> {
  return (text) => {
    const found = choices.find((choice) => choice === text);
    return found === undefined ? problem(`must be one of ${choices.join(', ')}`) : value(found);
  };
}

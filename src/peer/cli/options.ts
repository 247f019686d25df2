/** Parsers of options that several commands share. Each throws commander's own error, which names the option. */
import { InvalidArgumentError } from 'commander';

/** A whole number from `least` to `most`. */
export function wholeNumber(least: number, most: number): (text: string) => number {
  return (text) => {
    const value = /^\d+$/.test(text) ? Number(text) : Number.NaN;
    if (value >= least && value <= most) return value;
    throw new InvalidArgumentError(`expected a whole number from ${least} to ${most}.`);
  };
}

/** A number from 0 to 1. */
export function share(text: string): number {
  const value = text.trim() === '' ? Number.NaN : Number(text);
  if (value >= 0 && value <= 1) return value;
  throw new InvalidArgumentError('expected a number from 0 to 1.');
}

/** An address of http or https. */
export function webAddress(text: string): string {
  if (/^https?:\/\//.test(text) && URL.canParse(text)) return text;
  throw new InvalidArgumentError('expected an address of http or https.');
}

/** Gathers an option that may be given several times. */
export function gathered(text: string, before: readonly string[] = []): readonly string[] {
  return [...before, text];
}

/**
 * Parses the values of options that several commands share. Each parser throws the error of commander, which names the
 * option.
 */
import { InvalidArgumentError } from 'commander';
import { isKind } from '../../player-ids/kinds.js';

/** Parses a whole number from `least` to `most`. */
export function wholeNumber(least: number, most: number): (text: string) => number {
  return (text) => {
    const value = /^\d+$/.test(text) ? Number(text) : Number.NaN;
    if (value >= least && value <= most) return value;
    throw new InvalidArgumentError(`expected a whole number from ${least} to ${most}.`);
  };
}

export function share(text: string): number {
  const value = text.trim() === '' ? Number.NaN : Number(text);
  if (value >= 0 && value <= 1) return value;
  throw new InvalidArgumentError('expected a number from 0 to 1.');
}

export function webAddress(text: string): string {
  if (/^https?:\/\//.test(text) && URL.canParse(text)) return text;
  throw new InvalidArgumentError('expected an http or https address.');
}

export function gathered(text: string, before: readonly string[] = []): readonly string[] {
  return [...before, text];
}

export function kindList(text: string): readonly string[] {
  const kinds = [...new Set(text.split(',').map((kind) => kind.trim()))].filter((kind) => kind !== '');
  if (kinds.length > 0 && kinds.every(isKind)) return kinds;
  throw new InvalidArgumentError('expected kinds such as steam,minecraft,eos in lower case.');
}

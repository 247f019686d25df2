/** Parses the options that several commands share. A wrong value throws the error of commander, which names it. */
import { type Command, InvalidArgumentError } from 'commander';
import { isKind } from '../../player-ids/kinds.js';
import { isTimeZone } from '../formats/reading/time-cells.js';
import { formatNames } from '../import/list-format.js';
import type { ListReading } from '../import/plan.js';
import type { SourceOptions } from '../sources/source.js';
import { readDescription } from './read-description.js';

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

export function timeZone(text: string): string {
  if (isTimeZone(text)) return text;
  throw new InvalidArgumentError('expected an IANA zone such as Europe/Berlin.');
}

export interface ListOptions extends ListReading, SourceOptions {
  readonly game?: string;
}

export function addListOptions(command: Command): Command {
  return command
    .argument('[list...]', 'a file, - for standard input, an https address, or a command after --')
    .option('--format <name>', `format of the list: ${formatNames.join(', ')}`, 'auto')
    .option('--description <file>', 'a description of the list, which `ptf-peer describe` drafts', readDescription)
    .option('--ignore <cell>', 'ignore a cell that looks like an end, a type or a removal (repeatable)', gathered)
    .option('--table <name>', 'the table of a SQLite file')
    .option('--header-file <file>', 'headers of requests to an address, such as "Authorization: Bearer …" in each line')
    .option('--origin <name>', 'name of the public list, as the operator of the node declared it')
    .option('--time-zone <zone>', 'IANA zone of times without a zone, such as Europe/Berlin', timeZone, 'UTC')
    .option('--offline-server <name>', 'the server in offline mode that created Minecraft UUIDs of version 3')
    .option('--severity <number>', 'severity of every event (default: by the length of the ban; see below)', share);
}

/** True if the list is the output of a command, whose words stand after `--`. */
export function isCommand(program: Command): boolean {
  return (program as Command & { readonly rawArgs: readonly string[] }).rawArgs.includes('--');
}

/** Parses a time such as 30s, 5m or 1h into ms. */
export function duration(text: string): number {
  const [, count, unit] = /^(\d{1,6})(s|m|h)$/.exec(text) ?? [];
  const ms = Number(count) * (unit === 's' ? 1_000 : unit === 'm' ? 60_000 : 3_600_000);
  if (ms >= 1_000) return ms;
  throw new InvalidArgumentError('expected a time such as 30s, 5m or 1h.');
}

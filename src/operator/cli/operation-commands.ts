/** Builds the commands of `ptf` that the rows of operations declare: arguments and help, request, and output. */
import { type Command, Option, Argument as PositionalArgument } from 'commander';
import { peerStatuses } from '../../core/vocabulary.js';
import { limits } from '../../limits.js';
import { parseShare } from '../../operations/arguments.js';
import {
  type Argument,
  commandGroups,
  type PtfCommand,
  parsed,
  type RowOf,
  type TypedArgument,
} from '../../operations/operation.js';
import type { ListedPeerValue } from '../../operations/peer-operations.js';
import { isOperationName, type OperationName, operations, type Requests, type Values } from '../../operations/table.js';
import { table } from '../../operations/text-table.js';
import { type GroupFacts, groupFactsOf, remarksOf } from '../dashboard/page/remarks.js';
import { type CommandContext, examples, showing, signed } from './command-context.js';
import { OperatorError } from './node-client.js';

export function addOperations(program: Command, session: CommandContext): void {
  const add = <N extends OperationName>(name: N): void => {
    for (const row of operations[name].ptf) addCommand(program, session, name, row);
  };
  for (const name of Object.keys(operations)) if (isOperationName(name)) add(name);
}

/** Returns the command that consists of others, or adds it. Its examples are the first of its rows. */
export function groupOf(program: Command, name: keyof typeof commandGroups): Command {
  const existing = program.commands.find((command) => command.name() === name);
  if (existing !== undefined) return existing;
  const rows = Object.values(operations).flatMap(({ ptf }) => ptf.filter(({ group }) => group === name));
  const lines = rows.slice(0, 2).flatMap((row) => row.examples.slice(0, 1));
  return program
    .command(name)
    .description(commandGroups[name])
    .addHelpText('after', examples(...lines));
}

export function addCommand<N extends OperationName>(
  program: Command,
  session: CommandContext,
  name: N,
  row: PtfCommand<Requests[N], Values[N]>,
): void {
  const { properties } = operations[name].request;
  const given = Object.entries<Argument<unknown>>(row.given ?? {});
  const parent = row.group === undefined ? program : groupOf(program, row.group);
  const command = parent.command(row.command, { isDefault: row.isDefault === true }).description(row.text);
  if ('by' in properties) signed(command);
  for (const [member, argument] of given) {
    if (!('fixed' in argument))
      addArgument(command, argument, operations[name].request.required?.includes(member) === true);
  }
  if (row.confirm !== undefined) confirmable(command);
  const { sorts } = row;
  if (sorts !== undefined)
    command.addOption(new Option('--sort <column>', 'sort the rows by a column').choices(Object.keys(sorts)));
  command.addHelpText('after', examples(...row.examples));
  command.action(async () => {
    const paging = 'from' in properties ? { from: 0, limit: limits.pageMax } : {};
    // The schema checks the request before it is sent.
    const request = { ...requestOf(command, given), ...paging } as Requests[N];
    const problem = row.problem?.(request);
    if (problem !== undefined) throw new OperatorError('wrong_usage', problem, 2);
    if (row.confirm !== undefined)
      await confirmed(session, command.opts().yes, () =>
        row.confirm!(request, (peer_id) => session.ask('peers-show', { peer_id })),
      );
    const { working } = row;
    const value =
      working === undefined
        ? await allPages(session, name, request)
        : await showing(session, working, (bar) => session.ask(name, request, bar));
    const { sort } = command.opts<{ readonly sort?: string }>();
    if (sort !== undefined && isPage(value)) value.data = sorted(value.data, sorts?.[sort]);
    session.done({
      value: isPage(value) ? { data: value.data } : value,
      lines: (width) => row.show(value, width),
    });
  });
}

function addArgument(command: Command, argument: TypedArgument<unknown>, isRequired: boolean): void {
  const { flags, text, parse, initial, choices, or } = argument;
  if (or !== undefined) command.option(or.flag, or.text);
  if (!flags.startsWith('-')) {
    const positional = new PositionalArgument(flags, text);
    command.addArgument(parse === undefined ? positional : positional.argParser(parse));
    return;
  }
  const option = new Option(flags, text).makeOptionMandatory(isRequired && initial === undefined);
  if (parse !== undefined) option.argParser(parse);
  if (choices !== undefined) option.choices(choices.map(String));
  if (initial !== undefined) option.default(initial.value, initial.text);
  command.addOption(option);
}

function requestOf(command: Command, given: readonly (readonly [member: string, Argument<unknown>])[]): object {
  const options: Readonly<Record<string, unknown>> = command.opts();
  const positional: unknown[] = [...command.processedArgs];
  const members = given.map(([member, argument]): [string, unknown] => {
    if ('fixed' in argument) return [member, argument.fixed];
    const { flags, or } = argument;
    const value = flags.startsWith('-') ? options[new Option(flags).attributeName()] : positional.shift();
    if (or === undefined) return [member, value];
    const isReplaced = options[new Option(or.flag).attributeName()] === true;
    if (isReplaced === (value !== undefined)) throw new OperatorError('wrong_usage', or.problem, 2);
    return [member, isReplaced ? or.value : value];
  });
  return Object.fromEntries([...members, ['by', options.by]].filter(([, value]) => value !== undefined));
}

export function confirmable(command: Command): Command {
  return command.option('--yes', 'do not ask for confirmation, as it does at a terminal');
}

export async function confirmed(
  { terminal: { confirm } }: CommandContext,
  yes: true | undefined,
  question: () => string | Promise<string>,
): Promise<void> {
  if (yes === true || confirm === null || (await confirm(await question()))) return;
  throw new OperatorError('not_confirmed', 'not confirmed; nothing was changed');
}

interface Page<R> {
  data: readonly R[];
  readonly next_from: number | null;
}

function isPage<V extends object>(value: V): value is V & Page<RowOf<V>> {
  return 'next_from' in value;
}

/** Sends the request, and again for each further page. Returns the value with the rows of all pages. */
export async function allPages<N extends OperationName>(
  { ask }: CommandContext,
  name: N,
  request: Requests[N],
): Promise<Values[N]> {
  let value = await ask(name, request);
  while (isPage(value) && value.next_from !== null) {
    const next = await ask(name, Object.assign({}, request, { from: value.next_from }));
    value = Object.assign({}, next, { data: [...value.data, ...(isPage(next) ? next.data : [])] });
  }
  return value;
}

function sorted<R>(rows: readonly R[], keyOf: ((row: R) => number | string) | undefined): readonly R[] {
  if (keyOf === undefined) return rows;
  return rows.toSorted((p, q) => {
    const [a, b] = [keyOf(p), keyOf(q)];
    return typeof a === 'number' && typeof b === 'number' ? b - a : String(a).localeCompare(String(b));
  });
}

export const peersList: PtfCommand<Requests['peers-list'], Values['peers-list']> = {
  group: 'peers',
  command: 'list',
  isDefault: true,
  text: 'list all peers, oldest first',
  given: {
    status: parsed('--status <status>', 'only peers with one status', { choices: peerStatuses }),
    weight_below: parsed('--weight-below <weight>', 'only peers with a smaller weight, such as 0.1', {
      parse: parseShare,
    }),
  },
  sorts: {
    name: ({ peer_name }) => peer_name,
    weight: ({ weight }) => weight,
    events: ({ event_count }) => event_count,
    last: ({ last_event_at }) => (last_event_at === null ? 0 : Date.parse(last_event_at)),
  },
  examples: ['peers list', 'peers list --status active --weight-below 0.1 --sort events', 'peers list --wide'],
  show({ data }, width) {
    if (data.length === 0) return ['no peers'];
    const isWide = width === Number.POSITIVE_INFINITY;
    const heads = ['peer', 'name', 'status', 'events', 'weight', 'last event'];
    const further = ['pre-trusted', 'registered', 'contact', 'games'];
    const group = groupFactsOf(data);
    const rows = data.map((peer) => [
      peer.peer_id,
      peer.peer_name,
      peer.status,
      peer.event_count,
      peer.weight.toFixed(3),
      peer.last_event_at?.slice(0, 10) ?? '',
      ...(isWide
        ? [peer.pre_trusted ? 'yes' : 'no', peer.registered_at, peer.contact_email ?? '', peer.game_ids.join(',')]
        : []),
      remarkOf(peer, group),
    ]);
    return table(width, rows, [...heads, ...(isWide ? further : []), 'remark'], ['status', 'weight']);
  },
};

function remarkOf(peer: ListedPeerValue, group: GroupFacts): string {
  return remarksOf(peer, group)
    .map(({ text, hint }) => (hint === null ? text : `${text} (${hint})`))
    .join('; ');
}

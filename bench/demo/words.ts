/** The demo's text: the table, a line for where no terminal is, and the closing paragraphs. Pure. */
import { cutLine, table } from '../../src/operations/text-table.js';
import type { Role } from './game-servers.js';
import type { Reading, ServerReading, Tally } from './readings.js';

export interface Stage {
  /** Part of the rounds that are played, 0 to 1. */
  readonly progress: number;
  readonly elapsedS: number;
  readonly totalS: number;
  readonly isFair: boolean;
}

const barLength = 16;

const rolesWhileFair = 'plays fair';
const roles: Readonly<Record<Role, string>> = {
  honest: 'plays fair',
  hasty: 'plays fair, errs often',
  echo: 'repeats the others',
  copier: "copies Arena EU's list",
  liar: 'lies about good players',
};

/** The group's verdicts and the plain count of bans, each strict and mild. */
const rules: readonly (readonly [name: string, key: keyof Tally])[] = [
  ['untrusted', 'untrusted'],
  ['suspicious or worse', 'suspicious'],
  ['three bans or more', 'threeBans'],
  ['two bans or more', 'twoBans'],
];

function bar(weight: number | null): string {
  if (weight === null) return 'not computed yet';
  const full = Math.round(weight * barLength);
  return `${'█'.repeat(full)}${'░'.repeat(barLength - full)} ${weight.toFixed(2)}`;
}

function remarkOf({ oneWitnessWith }: ServerReading): string {
  return oneWitnessWith.map(({ name, reason }) => `${name} (${reason})`).join('; ');
}

/** The picture that is drawn again and again, in at most `width` columns. */
export function picture(reading: Reading, { elapsedS, totalS, isFair }: Stage, width: number): string[] {
  const { servers, cheaters, good, victims } = reading;
  const stage = isFair ? 'all twelve servers play fair' : 'one echoes, one copies a list, two lie together';
  const rows = servers.map((server) => [
    server.name,
    bar(server.weight),
    server.events,
    isFair ? rolesWhileFair : roles[server.role],
    remarkOf(server),
  ]);
  return [
    `${Math.floor(elapsedS)} s of ${totalS} s: ${stage}`,
    '',
    ...table(width, rows, ['game server', 'weight', 'events', 'what it does', 'one witness with'], ['weight']),
    '',
    ...table(
      width,
      rules.map(([name, key]) => [name, cheaters[key], good[key], victims[key]]),
      ['condemned by', `${cheaters.players} cheaters`, `${good.players} good`, `${victims.players} victims`],
    ),
  ].map((line) => cutLine(line, width));
}

/** The same in one line, for a pipe or a log. */
export function summaryLine({ servers, cheaters, good }: Reading, { elapsedS, isFair }: Stage): string {
  const weights = (role: Role): string =>
    servers
      .filter((server) => server.role === role)
      .map(({ weight }) => weight?.toFixed(2) ?? '-')
      .join(' ');
  return [
    `${String(Math.floor(elapsedS)).padStart(3)} s  ${isFair ? 'all fair' : 'attacked'}`,
    `weights: honest ${weights('honest')}, hasty ${weights('hasty')}, echo ${weights('echo')}, copies ${weights('copier')}, lie ${weights('liar')}`,
    `${cheaters.suspicious} of ${cheaters.players} cheaters and ${good.suspicious} of ${good.players} good players are suspicious or worse (two bans or more: ${cheaters.twoBans} and ${good.twoBans})`,
  ].join('; ');
}

function range(servers: readonly ServerReading[]): string {
  const numbers = servers.map(({ weight }) => weight ?? 0);
  const [low, high] = [Math.min(...numbers).toFixed(2), Math.max(...numbers).toFixed(2)];
  return low === high ? `${low}` : `${low} to ${high}`;
}

function moved(before: number, after: number): string {
  const [from, to] = [before.toFixed(2), after.toFixed(2)];
  return Number(to) < Number(from) ? `fell from ${from} to ${to}` : `went from ${from} to ${to}`;
}

/** What was seen, from the readings at the end of the fair part and at the end: paragraphs, the comparison last. */
export function closingWords(fair: Reading, end: Reading): string[] {
  const { cheaters, good, victims } = end;
  const named = (role: Role) => end.servers.filter((server) => server.role === role);
  const change = ({ name, weight, oneWitnessWith }: ServerReading): string => {
    const before = fair.servers.find((server) => server.name === name)?.weight ?? 0;
    const others = oneWitnessWith.map((other) => other.name).join(', ');
    return `${moved(before, weight ?? 0)}${others === '' ? '' : ` (one witness with ${others})`}`;
  };
  const [copied, echo, copier] = (['hasty', 'echo', 'copier'] as const).map((role) => named(role)[0]!);
  const removed = (key: keyof Tally): string => `${cheaters[key]} and ${good[key]}`;
  const errors = (key: keyof Tally): number => cheaters.players - cheaters[key] + good[key];
  const weights = [
    `What was seen: while all twelve servers played fair, their weights came to ${range(fair.servers)}. Then the attack began.`,
    `The liars banned the same good players and praised cheaters: ${named('liar')
      .map((one) => `${one.name} ${change(one)}`)
      .join(', ')}.`,
    `${echo!.name} repeated reports and bans of others a round later; its weight ${change(echo!)}.`,
    `${copier!.name} sent the list of ${copied!.name} as its own; its weight ${change(copier!)}.`,
    `The eight others ended at ${range([copied!, ...named('honest')])}.`,
  ];
  const further = [
    'Read on: docs/GAME-SERVERS.md connects a game server, docs/SCORING.md says how weights and verdicts come about and',
    'where they fail ("Known limits"), docs/operating/watch.md describes the dashboard.',
  ];
  const comparison = [
    `Many communities act on three bans, whoever sent them. Of the ${victims.players} good players whom the liars attacked, ${victims.threeBans} have three bans or more and ${victims.twoBans} have two or more; the group calls ${victims.untrusted} untrusted and ${victims.suspicious} suspicious or worse.`,
    `Acting on three bans would remove ${cheaters.threeBans} of ${cheaters.players} cheaters and ${good.threeBans} good players; acting on "untrusted", ${removed('untrusted')}.`,
    `Acting on two bans would remove ${removed('twoBans')}; acting on "suspicious or worse", ${removed('suspicious')}.`,
    `Mistakes about these ${cheaters.players + good.players} players, cheaters kept and good players removed: three bans ${errors('threeBans')}, "untrusted" ${errors('untrusted')}; two bans ${errors('twoBans')}, "suspicious or worse" ${errors('suspicious')}.`,
  ];
  return [weights, further, comparison].map((sentences) => sentences.join(' '));
}

/** Text in lines of at most `width` characters. */
export function wrapped(text: string, width: number): string[] {
  const lines: string[] = [''];
  for (const word of text.split(' ')) {
    const last = lines.at(-1)!;
    if (last === '') lines[lines.length - 1] = word;
    else if (last.length + 1 + word.length <= width) lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(word);
  }
  return lines;
}

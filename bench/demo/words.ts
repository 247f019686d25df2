/** The demo's text: the table, a line for where no terminal is, and the closing paragraph. Pure. */
import { cutLine, table } from '../../src/operator/cli/table.js';
import type { Role } from './game-servers.js';
import { condemned, type Reading, type ServerReading, type VerdictCounts, verdicts } from './readings.js';

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
  careless: 'makes mistakes',
  repeats: "copies Arena EU's list",
  lies: 'lies',
  colludes: 'colludes',
};

function bar(weight: number | null): string {
  if (weight === null) return 'not computed yet';
  const full = Math.round(weight * barLength);
  return `${'█'.repeat(full)}${'░'.repeat(barLength - full)} ${weight.toFixed(2)}`;
}

function remarkOf({ oneWitnessWith }: ServerReading): string {
  return oneWitnessWith.map(({ name, reason }) => `${name} (${reason})`).join('; ');
}

function verdictRow(name: string, counts: VerdictCounts): (string | number)[] {
  return [name, ...verdicts.map((verdict) => counts[verdict])];
}

function total(counts: VerdictCounts): number {
  return verdicts.reduce((sum, verdict) => sum + counts[verdict], 0);
}

/** The picture that is drawn again and again, in at most `width` columns. */
export function picture(reading: Reading, { elapsedS, totalS, isFair }: Stage, width: number): string[] {
  const { servers, cheaters, good, victims, plain } = reading;
  const stage = isFair ? 'all twelve servers play fair' : 'one lies, two collude, one copies a list';
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
    ...table(rows, width, ['game server', 'weight', 'events', 'what it does', 'one witness with'], ['weight']),
    '',
    ...table(
      [
        verdictRow(`${total(cheaters)} cheaters`, cheaters),
        verdictRow(`${total(good)} good players`, good),
        verdictRow(`  ${total(victims)} of them the colluders' victims`, victims),
      ],
      width,
      ['verdicts of the group', ...verdicts],
    ),
    '',
    `A plain count of reports would condemn ${plain.goodCondemned} good players and clear ${plain.cheatersCleared} cheaters.`,
  ].map((line) => cutLine(line, width));
}

/** The same in one line, for a pipe or a log. */
export function summaryLine({ servers, cheaters, good, plain }: Reading, { elapsedS, isFair }: Stage): string {
  const weights = (role: Role): string =>
    servers
      .filter((server) => server.role === role)
      .map(({ weight }) => weight?.toFixed(2) ?? '-')
      .join(' ');
  return [
    `${String(Math.floor(elapsedS)).padStart(3)} s  ${isFair ? 'all fair' : 'attacked'}`,
    `weights: honest ${weights('honest')}, careless ${weights('careless')}, copies ${weights('repeats')}, lies ${weights('lies')}, collude ${weights('colludes')}`,
    `${condemned(cheaters)} of ${total(cheaters)} cheaters and ${condemned(good)} of ${total(good)} good players are suspicious or worse (plain count: ${total(cheaters) - plain.cheatersCleared} and ${plain.goodCondemned})`,
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

/** What was seen and where to read on, from the readings at the end of the fair part and at the end. */
export function closingWords(fair: Reading, end: Reading): string {
  const named = (reading: Reading, role: Role) => reading.servers.filter((server) => server.role === role);
  const changes = (role: Role): string =>
    named(end, role)
      .map(({ name, weight }) => {
        const before = fair.servers.find((server) => server.name === name)?.weight ?? 0;
        return `${name} ${moved(before, weight ?? 0)}`;
      })
      .join(', ');
  const copier = named(end, 'repeats')[0]!;
  const isOneWitness = copier.oneWitnessWith.some(({ name }) => name === named(end, 'careless')[0]!.name);
  const colluders = named(end, 'colludes');
  const areOneWitness = colluders[0]!.oneWitnessWith.some(({ name }) => name === colluders[1]!.name);
  const sentences = [
    `What was seen: while all twelve servers played fair, their weights came to ${range(fair.servers)}.`,
    `Then the attack began. The liar: ${changes('lies')}, since the players that it reports are praised by the others.`,
    `The colluders: ${changes('colludes')}${areOneWitness ? ', and the node takes the two for one witness' : ''}.`,
    isOneWitness
      ? `${copier.name} keeps a weight of ${(copier.weight ?? 0).toFixed(2)}, but counts as one witness with the server whose list it copies: that server's mistakes did not gain a second voice.`
      : `${copier.name} was not recognised as a copy in this run.`,
    `The eight others ended at ${range([...named(end, 'honest'), ...named(end, 'careless')])}.`,
    `Of ${total(end.cheaters)} cheaters ${end.cheaters.untrusted} are untrusted and ${end.cheaters.suspicious} suspicious; of ${total(end.good)} good players ${condemned(end.good) === 0 ? 'none is' : `${condemned(end.good)} are`}.`,
    `Counting reports would have condemned ${end.plain.goodCondemned} good players and cleared ${end.plain.cheatersCleared} cheaters.`,
    'Scoring has limits, such as three colluders that are honest on most players: docs/SCORING.md, "Known limits".',
    'Read on: docs/GAME-SERVERS.md connects a game server, docs/SCORING.md says how weights and verdicts come about, docs/operating/watch.md describes the dashboard.',
  ];
  return sentences.join(' ');
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

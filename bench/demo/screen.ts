/**
 * Prints the demo: one picture in place on a terminal that is tall enough, else a plain line now and then, and the
 * closing paragraphs.
 */
import { clearScreenDown, cursorTo, moveCursor } from 'node:readline';
import { cutLine, table } from '../../src/operations/text-table.js';
import type { Role } from './game-servers.js';
import { type Reading, type Rule, rules, type ServerReading } from './readings.js';

export interface Stage {
  /** Part of the rounds that are played, 0 to 1. */
  readonly progress: number;
  readonly elapsedS: number;
  readonly totalS: number;
  readonly isFair: boolean;
}

const widthWithoutTerminal = 100;
const plainLines = 12;
const barLength = 16;

const rolesWhileFair = 'plays fair';
const roles: Readonly<Record<Role, string>> = {
  honest: 'plays fair',
  hasty: 'plays fair, errs often',
  echo: 'repeats the others',
  copier: "copies Arena EU's list",
  liar: 'lies about good players',
};

export class Screen {
  readonly #out: NodeJS.WriteStream;
  #drawn = 0;
  #nextLineAt = 0;

  constructor(out: NodeJS.WriteStream) {
    this.#out = out;
  }

  show(reading: Reading, stage: Stage): void {
    const lines = this.#picture(reading, stage);
    if (this.#out.isTTY && lines.length < this.#out.rows) {
      this.#goBack();
      this.#out.write(`${lines.join('\n')}\n`);
      this.#drawn = lines.length;
      return;
    }
    if (stage.progress < this.#nextLineAt) return;
    this.#nextLineAt = stage.progress + 1 / plainLines;
    this.#out.write(`${summaryLine(reading, stage)}\n`);
  }

  /** The last picture, which stays. */
  end(reading: Reading, stage: Stage): void {
    this.#goBack();
    this.#out.write(`\n${this.#picture(reading, stage).join('\n')}\n\n`);
  }

  #picture({ servers, cheaters, good, victims }: Reading, { elapsedS, totalS, isFair }: Stage): string[] {
    const width = this.#out.isTTY ? this.#out.columns : widthWithoutTerminal;
    const stage = isFair ? 'all twelve servers play fair' : 'one echoes, one copies a list, two lie together';
    const rows = servers.map(({ name, weight, events, role, oneWitnessWith }) => {
      const remark = oneWitnessWith.map((other) => `${other.name} (${other.reason})`).join('; ');
      return [name, bar(weight), events, isFair ? rolesWhileFair : roles[role], remark];
    });
    const condemned = (Object.keys(rules) as Rule[]).map((rule) => {
      return [rules[rule], cheaters[rule], good[rule], victims[rule]];
    });
    return [
      `${Math.floor(elapsedS)} s of ${totalS} s: ${stage}`,
      '',
      ...table(width, rows, ['game server', 'weight', 'events', 'what it does', 'one witness with'], ['weight']),
      '',
      ...table(width, condemned, [
        'condemned by',
        `${cheaters.players} cheaters`,
        `${good.players} good`,
        `${victims.players} victims`,
      ]),
    ].map((line) => cutLine(line, width));
  }

  #goBack(): void {
    if (this.#drawn === 0) return;
    cursorTo(this.#out, 0);
    moveCursor(this.#out, 0, -this.#drawn);
    clearScreenDown(this.#out);
    this.#drawn = 0;
  }
}

function bar(weight: number | null): string {
  if (weight === null) return 'not computed yet';
  const full = Math.round(weight * barLength);
  return `${'█'.repeat(full)}${'░'.repeat(barLength - full)} ${weight.toFixed(2)}`;
}

/** The picture in one line, for a pipe or a log. */
function summaryLine({ servers, cheaters, good }: Reading, { elapsedS, isFair }: Stage): string {
  const weights = (role: Role): string => {
    const found = servers.filter((server) => server.role === role);
    return found.map(({ weight }) => weight?.toFixed(2) ?? '-').join(' ');
  };
  return [
    `${String(Math.floor(elapsedS)).padStart(3)} s  ${isFair ? 'all fair' : 'attacked'}`,
    `weights: honest ${weights('honest')}, hasty ${weights('hasty')}, echo ${weights('echo')}, copies ${weights('copier')}, lie ${weights('liar')}`,
    `${cheaters.suspicious} of ${cheaters.players} cheaters and ${good.suspicious} of ${good.players} good players are suspicious or worse (two bans or more: ${cheaters.twoBans} and ${good.twoBans})`,
  ].join('; ');
}

function range(servers: readonly ServerReading[]): string {
  const numbers = servers.map(({ weight }) => weight ?? 0);
  const [low, high] = [Math.min(...numbers).toFixed(2), Math.max(...numbers).toFixed(2)];
  return low === high ? low : `${low} to ${high}`;
}

/**
 * What was seen, from the readings at the end of the fair part and at the end: paragraphs in lines of at most `width`
 * characters, the comparison last.
 */
export function closingWords(fair: Reading, end: Reading, width: number): string {
  const { cheaters, good, victims } = end;
  const named = (role: Role) => end.servers.filter((server) => server.role === role);
  const change = ({ name, weight, oneWitnessWith }: ServerReading): string => {
    const before = fair.servers.find((server) => server.name === name)?.weight ?? 0;
    const [from, to] = [before.toFixed(2), (weight ?? 0).toFixed(2)];
    const moved = Number(to) < Number(from) ? `fell from ${from} to ${to}` : `went from ${from} to ${to}`;
    const others = oneWitnessWith.map((other) => other.name).join(', ');
    return others === '' ? moved : `${moved} (one witness with ${others})`;
  };
  const [copied, echo, copier] = (['hasty', 'echo', 'copier'] as const).map((role) => named(role)[0]!);
  const liars = named('liar').map((one) => `${one.name} ${change(one)}`);
  const removed = (rule: Rule): string => `${cheaters[rule]} and ${good[rule]}`;
  const errors = (rule: Rule): number => cheaters.players - cheaters[rule] + good[rule];
  const weights = [
    `What was seen: while all twelve servers played fair, their weights came to ${range(fair.servers)}. Then the attack began.`,
    `The liars banned the same good players and praised cheaters: ${liars.join(', ')}.`,
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
  const line = new RegExp(`(.{1,${width}})(?: |$)`, 'g');
  return [weights, further, comparison]
    .map((sentences) => sentences.join(' ').replaceAll(line, '$1\n').trimEnd())
    .join('\n\n');
}

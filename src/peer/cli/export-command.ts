/** `ptf-peer export`: writes a native ban list of the players of this server that the group does not trust. */
import { readFile, stat } from 'node:fs/promises';
import { type Command, Option } from 'commander';
import { bounds } from '../../client/bounds.js';
import { TrustClient } from '../../client/trust-client.js';
import { knownIds } from '../export/known-ids.js';
import { type ListedPlayer, nativeLists } from '../export/native-lists.js';
import { groupKinds } from '../node/group-kinds.js';
import { PeerError, wrongUsage } from '../peer-error.js';
import { decodeList } from '../sources/decode.js';
import { kindList, share } from './options.js';
import { examples, type Session } from './session.js';

interface ExportOptions {
  readonly format: string;
  readonly ids: string;
  readonly kind?: readonly string[];
  readonly confidenceMin: number;
}

export function addExport(program: Command, session: Session): void {
  const names = nativeLists.map(({ name }) => name);
  program
    .command('export')
    .description('print a ban list of your players whose verdict is untrusted')
    .addOption(new Option('--format <format>', 'format of the list').choices(names).makeOptionMandatory())
    .requiredOption('--ids <file>', 'your players, one id per line; the node knows hashes only')
    .option('--kind <kind>', 'the kind of these ids, if their form does not show it', kindList)
    .option('--confidence-min <number>', 'minimum confidence at which a verdict counts', share, 0)
    .addHelpText(
      'after',
      '\nThe list goes to standard output; ids that do not fit the format are counted on standard error.' +
        '\nExit codes: 0 done, 1 some ids refused, 2 wrong usage, 3 node unreachable',
    )
    .addHelpText('after', examples('export --format squad --ids players.txt > Bans.cfg'))
    .action((options: ExportOptions) => runExport(options, session));
}

async function runExport(options: ExportOptions, session: Session): Promise<void> {
  const { terminal } = session;
  const list = nativeLists.find(({ name }) => name === options.format)!;
  const { size } = await stat(options.ids);
  if (size > bounds.importFileBytes) throw wrongUsage(`${options.ids} is larger than ${bounds.importFileBytes} bytes`);
  const { text } = decodeList(await readFile(options.ids));
  const { url, groupSalt } = await session.config();
  const kinds = (await groupKinds(url, groupSalt)) ?? undefined;
  const { players, refused } = knownIds(text, { kind: options.kind?.[0], kinds });
  const listed = await untrusted([...players], { url, groupSalt, confidenceMin: options.confidenceMin }, session);
  const taken = listed.filter(({ kind }) => list.kinds === null || list.kinds.includes(kind));
  terminal.out(list.write(taken, Date.now()));
  for (const { line, reason } of refused) terminal.err(`${options.ids}:${line}: refused: ${reason}\n`);
  const left = listed.length - taken.length;
  terminal.err(
    `${taken.length} of ${players.size} players are untrusted and listed${left > 0 ? `; ${left} more have ids that do not fit ${list.name}` : ''}\n`,
  );
  session.end(refused.length > 0 ? 1 : 0);
}

interface Source {
  readonly url: string;
  readonly groupSalt: string;
  readonly confidenceMin: number;
}

/** Returns the players whose verdict is untrusted by the node's own answer. Throws if the node does not answer. */
async function untrusted(
  players: readonly (readonly [id: string, kind: string])[],
  { url, groupSalt, confidenceMin }: Source,
  { terminal, ending }: Session,
): Promise<ListedPlayer[]> {
  const client = new TrustClient({
    url,
    groupSalt,
    readBudgetMs: bounds.exportReadMs,
    playersMax: 1,
    playerIdKinds: null,
  });
  const progress = terminal.progress('reading');
  const listed: ListedPlayer[] = [];
  try {
    for (let at = 0; at < players.length; at += bounds.scoresPerCall) {
      const part = players.slice(at, at + bounds.scoresPerCall);
      const trusts = await client.scores(
        part.map(([id]) => id),
        { signal: ending, fallback: 'neutral' },
      );
      for (const [i, { verdict, score, confidence, cause }] of trusts.entries()) {
        if (cause !== null)
          throw new PeerError(cause, 'the node did not answer for all players; nothing was listed', 3);
        const [id, kind] = part[i]!;
        if (verdict === 'untrusted' && confidence >= confidenceMin) listed.push({ id, kind, score, confidence });
      }
      progress.to(Math.min(at + part.length, players.length), players.length);
    }
    return listed;
  } finally {
    progress.end();
    await client.close();
  }
}

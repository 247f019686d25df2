/** `ptf-peer sidecar`: runs the local HTTP service until it is stopped. */
import { once } from 'node:events';
import { isIPv4, isIPv6 } from 'node:net';
import { join } from 'node:path';
import { type Command, Option } from 'commander';
import { bounds } from '../../client/for-peer.js';
import { wrongUsage } from '../peer-error.js';
import { checkToken, startLocalServer, tokenIn } from '../sidecar/local-server.js';
import { Sidecar } from '../sidecar/sidecar.js';
import { share, wholeNumber } from './options.js';
import type { Session } from './session.js';

/** From the worst to the mildest. */
const badVerdicts = ['untrusted', 'suspicious'] as const;
type BadVerdict = (typeof badVerdicts)[number];

interface SidecarCommandOptions {
  readonly host: string;
  readonly port: number;
  readonly socket?: string;
  readonly tokenFile?: string;
  readonly mode: 'shadow' | 'enforce';
  readonly restrict: BadVerdict;
  readonly confidenceMin: number;
  readonly players: number;
  readonly actOn?: BadVerdict;
  readonly minConfidence: number;
}

const defaultPort = 4747;
const api = `
The API takes and answers JSON and needs the header "Authorization: Bearer TOKEN":
  GET    /v1/players/ID         verdict, score, confidence, source, as_of, allowed, action, would
  GET    /v1/players?ids=A,B    the same for a match, as {"data": [...]}; an id with commas is a further id=
  GET    /v1/persons?ids=A,B    the worst of the accounts of one person; "player_id" says which one it is
  POST   /v1/reports            {"player_id" or "player_ids" of one person, "event_type", "severity", "game_id"?, "event_id"?, "timestamp"?}
  POST   /v1/allow              {"player_id", "until", "note"?}
  DELETE /v1/allow/ID
  GET    /v1/status
IDs are the raw ids of your players; they are hashed here and never leave this machine.

With --act-on, servers that nobody can change get answers under /answers/SECRET, with the secret of the file that is
named at the start: rust/ is a value of server.bansServerEndpoint, squad a line of RemoteBanListHosts.cfg. Players of the
allow list are never kept out, nor is anybody while the values are not current. A ban so made must not be reported.

Examples:
  ptf-peer sidecar
  ptf-peer sidecar --port 0 --token-file /run/game/token --mode enforce`;

export function addSidecar(program: Command, session: Session): void {
  program
    .command('sidecar')
    .description('serve trust to a game server on this machine over HTTP and JSON, from a cache')
    .option('--host <address>', 'loopback address to listen on', '127.0.0.1')
    .option('--port <number>', 'port to listen on; 0 chooses a free one', wholeNumber(0, 65_535), defaultPort)
    .option('--socket <path>', 'also listen on a Unix socket')
    .option('--token-file <file>', 'file of the local token, created if missing (else PTF_PEER_SIDECAR_TOKEN)')
    .addOption(
      new Option('--mode <mode>', 'shadow: every player passes, and "would" says what enforce would do')
        .choices(['shadow', 'enforce'])
        .default('shadow'),
    )
    .addOption(
      new Option('--restrict <verdict>', 'the mildest verdict for which a player is restricted')
        .choices(badVerdicts)
        .default('untrusted'),
    )
    .option('--confidence-min <number>', 'minimum confidence at which a verdict counts', share, 0.4)
    .option(
      '--players <number>',
      'number of players in the cache',
      wholeNumber(1, 10_000_000),
      bounds.playersMaxDefault,
    )
    .addOption(
      new Option('--act-on <verdict>', 'answer game servers that ask whom to keep out: the mildest verdict').choices(
        badVerdicts,
      ),
    )
    .option('--min-confidence <number>', 'minimum confidence at which --act-on keeps a player out', share, 0.5)
    .addHelpText('after', api)
    .action((options: SidecarCommandOptions) => runSidecar(options, session));
}

async function runSidecar(options: SidecarCommandOptions, session: Session): Promise<void> {
  const { terminal, env, ending, version } = session;
  const { host } = options;
  if (!(isIPv4(host) && host.startsWith('127.')) && !(isIPv6(host) && host === '::1')) {
    const text = '--host must be a loopback address, such as 127.0.0.1 or ::1: the sidecar serves this machine only';
    throw wrongUsage(text);
  }
  const config = await session.config();
  const tokenFile = options.tokenFile ?? join(config.stateDir, 'sidecar', 'token');
  const given = options.tokenFile === undefined ? env.PTF_PEER_SIDECAR_TOKEN : undefined;
  const token = given ? checkToken(given, 'PTF_PEER_SIDECAR_TOKEN') : await tokenIn(tokenFile);
  const secretFile = join(config.stateDir, 'sidecar', 'answers-secret');
  const pathSecret = options.actOn === undefined ? null : await tokenIn(secretFile);
  const log = (line: string) => terminal.err(`${new Date().toISOString()} sidecar ${line}\n`);
  const sidecar = await Sidecar.open({
    config,
    mode: options.mode,
    restrict: verdictsOf(options.restrict),
    actOn: options.actOn === undefined ? null : verdictsOf(options.actOn),
    actConfidence: options.minConfidence,
    confidenceMin: options.confidenceMin,
    playersMax: options.players,
    version,
    memory: session.memory,
    log,
  });
  try {
    const { gameIds } = config;
    const { port, socket: socketPath } = options;
    const server = await startLocalServer({ sidecar, token, pathSecret, gameIds, host, port, socketPath, log });
    const url = `http://${host.includes(':') ? `[${host}]` : host}:${server.port}`;
    const where = given ? 'PTF_PEER_SIDECAR_TOKEN' : tokenFile;
    const addresses = { port: server.port, url, socket: socketPath ?? null, token_file: given ? null : tokenFile };
    if (session.json()) terminal.out(`${JSON.stringify({ msg: 'listening', ...addresses })}\n`);
    else terminal.out(`sidecar on ${url}, mode ${options.mode}, token in ${where}\n`);
    if (pathSecret !== null) log(`answers game servers under /answers/SECRET, with the secret in ${secretFile}`);
    if (!ending.aborted) await once(ending, 'abort');
    await server.close();
  } finally {
    await sidecar.close();
  }
}

function verdictsOf(mildest: BadVerdict): readonly BadVerdict[] {
  return badVerdicts.slice(0, badVerdicts.indexOf(mildest) + 1);
}

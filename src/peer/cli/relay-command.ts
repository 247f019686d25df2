/** `ptf-peer relay`: sends changes of verdicts as webhooks until it is stopped. */
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import type { Command } from 'commander';
import { readSmallFile, secretInFile } from '../config/peer-file.js';
import { wrongUsage } from '../peer-error.js';
import { relayFolder, relayVerdicts } from '../relay/relay.js';
import type { Session } from './session.js';

interface RelayCommandOptions {
  readonly webhook?: string;
  readonly webhookFile?: string;
  readonly secretFile?: string;
  readonly discord?: true;
  readonly all?: true;
}

const explained = `
Each change of a verdict is one POST: {"type": "verdict.changed", "timestamp", "data": {"subject_hash", "verdict",
"previous_verdict", "score", "confidence"}}, or "player.removed" for a player without events. The headers webhook-id,
webhook-timestamp and webhook-signature are those of Standard Webhooks (standardwebhooks.com). A change may arrive more
than once, always with the same webhook-id. Answer 2xx to take it, 401, 404 or 410 to end the relay. Players are named by their
subject hashes: the relay knows no others.

Examples:
  ptf-peer relay --webhook https://hooks.example.net/trust
  ptf-peer relay --discord --webhook-file url.txt`;

export function addRelay(program: Command, session: Session): void {
  program
    .command('relay')
    .description('send changes of verdicts as signed webhooks, or to Discord')
    .option('--webhook <address>', 'where to send them')
    .option('--webhook-file <file>', 'file with the address, which may be a secret')
    .option('--secret-file <file>', 'file with the signing secret (default: created once in the state folder)')
    .option('--discord', "send a Discord embed; the address is that of a channel's webhook")
    .option('--all', 'at the first start, send a change for each player whose verdict is not neutral')
    .addHelpText('after', explained)
    .action((options: RelayCommandOptions) => runRelay(options, session));
}

async function runRelay(options: RelayCommandOptions, session: Session): Promise<void> {
  const config = await session.config();
  const url = await addressOf(options);
  const { terminal, ending } = session;
  const discord = options.discord === true;
  const path = options.secretFile ?? join(relayFolder(config, url), 'secret');
  const secret = discord ? '' : await secretIn(path, options.secretFile !== undefined);
  if (!discord) terminal.out(`webhooks are signed with the secret in ${path}\n`);
  await relayVerdicts({
    config,
    url,
    secret,
    discord,
    newOnly: options.all !== true,
    log: (line) => terminal.err(`${new Date().toISOString()} relay ${line}\n`),
    signal: ending,
  });
}

async function addressOf({ webhook, webhookFile }: RelayCommandOptions): Promise<string> {
  if ((webhook === undefined) === (webhookFile === undefined)) {
    throw wrongUsage('give the address with --webhook or with --webhook-file');
  }
  const text = webhook ?? (await readSmallFile(webhookFile!))?.trim();
  if (text === undefined) throw wrongUsage(`there is no ${webhookFile}`);
  const url = /^https?:\/\//.test(text) && URL.canParse(text) ? new URL(text) : null;
  if (url !== null && url.username + url.password === '') return text;
  const form = 'an http or https address without a user and a password, which would not be sent';
  throw wrongUsage(`${webhookFile ?? '--webhook'} must name ${form}`);
}

/** Reads the secret of the webhooks. A file that an option names must exist; the relay's own file is created once. */
async function secretIn(path: string, isNamed: boolean): Promise<string> {
  if (isNamed && (await readSmallFile(path)) === undefined) throw wrongUsage(`there is no ${path}`);
  const text = (await secretInFile(path, () => `whsec_${randomBytes(24).toString('base64')}`)).trim();
  const base64 = text.replace(/^whsec_/, '');
  const isSecret = /^[A-Za-z0-9+/]+=*$/.test(base64) && Buffer.from(base64, 'base64').byteLength >= 24;
  if (!isSecret) throw wrongUsage(`${path} must contain "whsec_" and at least 24 bytes in base64`);
  return text;
}

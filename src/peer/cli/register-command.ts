/** `ptf-peer register`: registers a peer with its node, or takes over one, and writes the configuration. */
import { resolve } from 'node:path';
import type { Command } from 'commander';
import { TrustClient } from '../../client/entry.js';
import { bounds, secretText } from '../../client/for-peer.js';
import { type ConfigFile, configPathOf, variableOf } from '../config/peer-config.js';
import { readSmallFile, replaceSmallFile, reserveRoom } from '../config/peer-file.js';
import { verifiedGroup } from '../node/known-kinds.js';
import { talkingTo, wrongUsage } from '../peer-error.js';
import { gathered, webAddress } from './options.js';
import type { Session } from './session.js';

interface RegisterOptions {
  readonly url: string;
  readonly name?: string;
  readonly game?: readonly string[];
  readonly email?: string;
  readonly saltFile?: string;
  readonly peerId?: string;
  readonly apiKeyFile?: string;
  readonly stateDir?: string;
  readonly force?: true;
}

const help = `
Examples:
  ptf-peer register --url https://trust.example.net --name "Arena EU 1" --game arena --salt-file /run/secrets/salt
  ptf-peer register --url https://trust.example.net --peer-id ID --api-key-file key.txt --game arena --salt-file salt`;

export function addRegister(program: Command, session: Session): void {
  program
    .command('register')
    .description('register this game server as a peer and write its configuration (mode 0600)')
    .requiredOption('--url <address>', "the node's address", webAddress)
    .option('--name <text>', 'the name that the group sees')
    .option('--game <id>', 'a game to report for; give it once per game', gathered)
    .option('--email <address>', 'contact for the operator, never public')
    .option('--salt-file <file>', "file with the group's salt (else PTF_PEER_GROUP_SALT, else asked for)")
    .option('--peer-id <id>', 'use a peer that the operator registered, with --api-key-file')
    .option('--api-key-file <file>', 'file with the key of --peer-id (else PTF_PEER_API_KEY)')
    .option('--state-dir <folder>', 'folder for spools, token and allow list (default: ~/.local/state/ptf-peer)')
    .option('--force', 'replace an existing configuration, whose key is then lost')
    .addHelpText('after', help)
    .action((options: RegisterOptions) => register(options, session));
}

async function register(options: RegisterOptions, session: Session): Promise<void> {
  const path = configPathOf(session, session.configOption());
  const { url, name, game: gameIds, peerId } = options;
  if (gameIds === undefined) throw wrongUsage('--game must be given at least once');
  if ((name === undefined) === (peerId === undefined)) {
    throw wrongUsage('give --name to register a new peer, or --peer-id to use a registered one');
  }
  if (options.force === undefined && (await readSmallFile(path)) !== undefined) {
    throw wrongUsage(`${path} exists; --force replaces it, and the key in it is then lost`);
  }
  const salt = await saltOf(options, session);
  // Before a peer is created: each registration creates a new one.
  await talkingTo(url, () => verifiedGroup(url, salt.text));
  // Nobody shows its key a second time if the file cannot be written.
  const giveBack = await reserveRoom(path);
  const peer =
    peerId === undefined
      ? talkingTo(url, () => registered(options, name!, gameIds))
      : keyOf(options, session).then((apiKey) => ({ peerId, apiKey }));
  const { apiKey, peerId: id } = await peer.finally(giveBack);
  const file: ConfigFile = {
    url,
    peer_id: id,
    api_key: apiKey,
    ...salt.members,
    game_ids: gameIds,
    ...(options.stateDir === undefined ? {} : { state_dir: resolve(options.stateDir) }),
  };
  await replaceSmallFile(path, `${JSON.stringify(file, null, 2)}\n`);
  if (session.json()) session.terminal.out(`${JSON.stringify({ peer_id: id, config: path })}\n`);
  else {
    const where = `The configuration is ${path}; it contains the key.`;
    session.terminal.out(`Registered as ${id}.\n${where}\nNext: ptf-peer doctor\n`);
  }
}

/** Returns the salt, and the member of the configuration that names it. */
async function saltOf({ saltFile }: RegisterOptions, { env, terminal }: Session) {
  const file = saltFile ?? env[variableOf('group_salt_file')];
  if (file !== undefined && file !== '') {
    const text = await readSmallFile(file);
    if (text === undefined) throw wrongUsage(`there is no ${file}`);
    return { text: checked(text), members: { group_salt_file: resolve(file) } };
  }
  const given = env[variableOf('group_salt')];
  const text = given !== undefined && given !== '' ? given : await terminal.askSecret?.("The group's salt");
  if (text === undefined || text === '') {
    throw wrongUsage(`the group's salt is required: give --salt-file, or set ${variableOf('group_salt')}`);
  }
  const salt = checked(text);
  return { text: salt, members: { group_salt: salt } };
}

function checked(text: string): string {
  const salt = secretText('the salt', text);
  if (Buffer.byteLength(salt) >= bounds.saltBytesMin) return salt;
  throw wrongUsage(`the salt must have at least ${bounds.saltBytesMin} bytes`);
}

async function registered({ url, email }: RegisterOptions, peerName: string, gameIds: readonly string[]) {
  const client = new TrustClient({ url });
  return client.register({ peerName, gameIds: [...gameIds], contactEmail: email }).finally(() => client.close());
}

async function keyOf({ apiKeyFile }: RegisterOptions, { env }: Session): Promise<string> {
  const text = apiKeyFile === undefined ? env[variableOf('api_key')] : await readSmallFile(apiKeyFile);
  if (text === undefined || text === '') {
    throw wrongUsage(`--peer-id needs the peer's key: give --api-key-file, or set ${variableOf('api_key')}`);
  }
  return secretText('the key', text);
}

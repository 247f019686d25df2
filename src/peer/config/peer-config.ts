/** Reads a peer's configuration, a file overridden by environment variables. No error shows the value of a secret. */
import { join, resolve } from 'node:path';
import { signingPublicKey, TrustError } from '../../client/entry.js';
import { bounds, isRecord, jsonIn, secretText } from '../../client/for-peer.js';
import { wrongUsage } from '../peer-error.js';
import { readSmallFile } from './peer-file.js';

export interface Surroundings {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly home: string;
}

/** `signing_key`: the private Ed25519 key as PEM, if the peer signs its writes. */
const optionalMembers = [
  'api_key',
  'api_key_file',
  'group_salt',
  'group_salt_file',
  'signing_key',
  'signing_key_file',
  'state_dir',
] as const;

export interface ConfigFile extends Partial<Readonly<Record<(typeof optionalMembers)[number], string>>> {
  readonly url: string;
  readonly peer_id: string;
  readonly game_ids: readonly string[];
}

export interface PeerConfig {
  readonly url: string;
  readonly peerId: string;
  readonly apiKey: string;
  readonly groupSalt: string;
  readonly signingKey: string | undefined;
  readonly gameIds: readonly string[];
  /** The folder of spools, the sidecar's token, the allow list and the states of `watch` and `relay`. */
  readonly stateDir: string;
  /** Path of the file, which need not exist if the environment provides everything. */
  readonly path: string;
}

const members: readonly (keyof ConfigFile)[] = ['url', 'peer_id', 'game_ids', ...optionalMembers];

export function variableOf(member: keyof ConfigFile): string {
  return `PTF_${member === 'peer_id' ? '' : 'PEER_'}${member.toUpperCase()}`;
}

/** `--config`, else `PTF_PEER_CONFIG`, else `ptf-peer/config.json` in the user's configuration folder. */
export function configPathOf({ env, home }: Surroundings, option: string | undefined): string {
  const named = option ?? setText(env.PTF_PEER_CONFIG);
  if (named !== undefined) return resolve(named);
  return join(setText(env.XDG_CONFIG_HOME) ?? join(home, '.config'), 'ptf-peer', 'config.json');
}

/** Reads the file and the environment. Throws `wrong_usage` with every invalid or missing value. */
export async function loadPeerConfig(surroundings: Surroundings, option: string | undefined): Promise<PeerConfig> {
  const path = configPathOf(surroundings, option);
  const file = await readConfigFile(path, option !== undefined);
  const given = withEnvironment(file, surroundings.env);
  const faults: string[] = [];
  const where = (member: keyof ConfigFile) => `${variableOf(member)} (${member} in ${path})`;
  const text = (member: 'url' | 'peer_id') => {
    const value = given[member];
    if (typeof value === 'string' && value !== '') return value;
    faults.push(`${where(member)} must be given`);
    return '';
  };
  const url = text('url');
  if (url !== '' && (!/^https?:\/\//.test(url) || !URL.canParse(url))) {
    faults.push(`${where('url')} must be an http or https address`);
  }
  const peerId = text('peer_id');
  const gameIds = given.game_ids;
  if (!Array.isArray(gameIds) || gameIds.length === 0 || gameIds.some((one) => typeof one !== 'string' || one === '')) {
    faults.push(`${where('game_ids')} must name at least one game`);
  }
  const secret = async (member: SecretMember, isRequired = true) => {
    try {
      const value = await secretOf(given, member);
      if (value !== undefined) return secretText(member, value);
      if (isRequired) faults.push(`${where(member)} or ${variableOf(`${member}_file`)} must be given`);
    } catch (error) {
      if (!(error instanceof TrustError) && !(error instanceof Error && error.name === 'PeerError')) throw error;
      faults.push(error.message);
    }
    return '';
  };
  const apiKey = await secret('api_key');
  const groupSalt = await secret('group_salt');
  const signingKey = (await secret('signing_key', false)) || undefined;
  try {
    if (signingKey !== undefined) signingPublicKey(signingKey);
  } catch {
    faults.push(`${where('signing_key')} must be an Ed25519 private key as PEM (PKCS #8), without a password`);
  }
  if (groupSalt !== '' && Buffer.byteLength(groupSalt) < bounds.saltBytesMin) {
    faults.push(`${where('group_salt')} must have at least ${bounds.saltBytesMin} bytes`);
  }
  if (faults.length > 0) {
    const advice = file === undefined ? `; there is no ${path}: run ptf-peer register` : '';
    throw wrongUsage(faults.join('; ') + advice);
  }
  const { env, home } = surroundings;
  const ownDir = join(setText(env.XDG_STATE_HOME) ?? join(home, '.local', 'state'), 'ptf-peer');
  const stateDir = resolve(typeof given.state_dir === 'string' ? given.state_dir : ownDir);
  return { url, peerId, apiKey, groupSalt, signingKey, gameIds: gameIds as string[], stateDir, path };
}

type SecretMember = 'api_key' | 'group_salt' | 'signing_key';

type Members = { readonly [Member in keyof ConfigFile]?: unknown };

async function readConfigFile(path: string, isNamed: boolean): Promise<Members | undefined> {
  const text = await readSmallFile(path);
  if (text === undefined) {
    if (isNamed) throw wrongUsage(`there is no ${path}; ptf-peer register writes one`);
    return undefined;
  }
  const value = jsonIn(text);
  const form = value === undefined ? 'JSON' : 'a JSON object';
  if (!isRecord(value)) throw wrongUsage(`${path} must be ${form}, as ptf-peer register writes it`);
  const unknown = Object.keys(value).filter((name) => !(members as string[]).includes(name));
  if (unknown.length > 0) throw wrongUsage(`${path} has unknown members: ${unknown.join(', ')}`);
  return value;
}

/** A variable that is set and not blank overrides its member, and the file or text that stands for it. */
function withEnvironment(file: Members | undefined, env: Surroundings['env']): Members {
  const given: Record<string, unknown> = { ...file };
  for (const member of members) {
    const value = setText(env[variableOf(member)]);
    if (value === undefined) continue;
    given[member] = member === 'game_ids' ? value.split(',').map((one) => one.trim()) : value;
    delete given[member.endsWith('_file') ? member.replace('_file', '') : `${member}_file`];
  }
  return given;
}

async function secretOf(given: Members, member: SecretMember): Promise<string | undefined> {
  const named = given[`${member}_file`];
  if (named === undefined) return typeof given[member] === 'string' && given[member] !== '' ? given[member] : undefined;
  if (given[member] !== undefined) throw wrongUsage(`${member} and ${member}_file must not both be given`);
  if (typeof named !== 'string') throw wrongUsage(`${member}_file must be the path of a file`);
  const text = await readSmallFile(named);
  if (text === undefined) throw wrongUsage(`${member}_file names ${named}, which does not exist`);
  return text;
}

function setText(text: string | undefined): string | undefined {
  return text === undefined || text.trim() === '' ? undefined : text;
}

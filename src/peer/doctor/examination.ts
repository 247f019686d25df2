/** Runs the checks of `ptf-peer doctor`. They change nothing: its events have a time that every node refuses. */
import { readdir, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { TrustError } from '../../client/entry.js';
import { bounds, inspectSpool, isRetryable } from '../../client/for-peer.js';
import type { PeerConfig } from '../config/peer-config.js';
import { codeOf, isOpenToOthers, reserveRoom } from '../config/peer-file.js';
import { saltFault } from '../node/known-kinds.js';
import { type GroupFacts, NodeReader, peerClient } from '../node/node-reader.js';
import { plainWords } from '../peer-error.js';

export interface Finding {
  readonly check: 'configuration' | 'state' | 'node' | 'clock' | 'salt' | 'ids' | 'peer' | 'games' | 'spool';
  readonly result: 'ok' | 'warn' | 'fail';
  readonly text: string;
}

const judged = (result: Finding['result']) => (check: Finding['check'], text: string) => ({ check, result, text });
const [ok, warn, fail] = [judged('ok'), judged('warn'), judged('fail')];

const farAhead = Date.UTC(9999, 11, 31);

/** Runs all checks. Never rejects because of their findings. `reachable`: whether the node answered. */
export async function examine(config: PeerConfig) {
  const reader = new NodeReader(config.url);
  const findings = [await judgeConfiguration(config), await judgeState(config)];
  try {
    let group: GroupFacts | null = null;
    try {
      group = await reader.group();
      findings.push(ok('node', `${config.url} answers for the group ${JSON.stringify(group.groupId)}`));
    } catch (error) {
      if (!(error instanceof TrustError)) throw error;
      findings.push(fail('node', plainWords(error, config.url)));
    }
    if (group !== null) {
      findings.push(await judgeClock(reader), judgeSalt(config, group), judgeIds(group));
      if (saltFault(group, config.groupSalt) === null) findings.push(...(await judgePeer(config, reader)));
    }
    findings.push(...(await judgeSpools(config)));
    return { findings, reachable: group !== null };
  } finally {
    await reader.close();
  }
}

async function judgeConfiguration({ path, peerId, gameIds }: PeerConfig): Promise<Finding> {
  if (await isOpenToOthers(path)) {
    return fail('configuration', `${path} holds a key and is open to other users: chmod 600 ${path}`);
  }
  return ok('configuration', `peer ${peerId}, games ${gameIds.join(', ')}, from ${path}`);
}

/** Writes a file in the state folder, or in the folder in which that would be made, and removes it. */
async function judgeState({ stateDir }: PeerConfig): Promise<Finding> {
  let folder = stateDir;
  while ((await stat(folder).catch(() => null)) === null) folder = dirname(folder);
  try {
    await tryToWrite(folder);
    return ok('state', `files can be written in ${folder}`);
  } catch (error) {
    return fail('state', `no file can be written in ${folder}: ${reasonOf(error)}`);
  }
}

async function tryToWrite(folder: string): Promise<void> {
  await (await reserveRoom(join(folder, 'doctor')))();
}

function reasonOf(error: unknown): string {
  return codeOf(error) ?? (error instanceof Error ? error.message : 'unknown error');
}

async function judgeClock(reader: NodeReader): Promise<Finding> {
  const aheadMs = await reader.clockAheadMs().catch(() => null);
  if (aheadMs === null) return warn('clock', 'the node sent no time, so that the clock could not be compared');
  const seconds = Math.round(Math.abs(aheadMs) / 1_000);
  const text = `this machine's clock is ${seconds} s ${aheadMs < 0 ? 'behind' : 'ahead of'} the node's`;
  if (Math.abs(aheadMs) <= bounds.clockToleranceMs) return ok('clock', text);
  return fail('clock', `${text}: correct the clock, for example with an NTP client`);
}

function judgeSalt({ groupSalt }: PeerConfig, group: GroupFacts): Finding {
  if (group.saltCheck === null) {
    return warn('salt', 'the node publishes no salt_check, so that the salt cannot be compared');
  }
  const fault = saltFault(group, groupSalt);
  if (fault !== null) return fail('salt', `${fault}; ask the operator for the group's salt`);
  return ok('salt', `the salt is that of the group (salt_check ${group.saltCheck})`);
}

function judgeIds({ playerIdKinds, isOfTokens }: GroupFacts): Finding {
  if (isOfTokens) return ok('ids', 'the group is in high-security mode: give verified identity tokens as player ids');
  if (playerIdKinds.length === 0) {
    const text =
      'the group defines no kinds of player ids: ptf-peer converts the accounts that it recognizes to canonical form';
    return ok('ids', `${text}; every other client must spell them the same way`);
  }
  return ok('ids', `player ids of these kinds are converted to their canonical form: ${playerIdKinds.join(', ')}`);
}

/** Tests the key, the peer and every game with events that the node refuses because of their time alone. */
async function judgePeer(config: PeerConfig, reader: NodeReader): Promise<Finding[]> {
  const { url, peerId, gameIds } = config;
  const client = peerClient(config);
  try {
    const probe = { eventType: 'session_clean' as const, playerId: 'ptf-peer doctor', severity: 0, at: farAhead };
    const { results } = await client.submitMany(gameIds.map((gameId) => ({ ...probe, gameId })));
    const codes = results.map(({ code, reason }) => new TrustError(code ?? 'unexpected_answer', reason ?? ''));
    const inactive = codes.find(({ code }) => code === 'peer_not_active');
    if (inactive !== undefined) return [fail('peer', await statusText(config, reader))];
    const findings = [ok('peer', `the key is valid and the peer ${peerId} is active`)];
    for (const [index, error] of codes.entries()) {
      const game = JSON.stringify(gameIds[index]);
      // The node refused the time of the event alone.
      if (error.code === 'timestamp_in_future') findings.push(ok('games', `reports for ${game} are accepted`));
      else findings.push(fail('games', `reports for ${game} are refused: ${plainWords(error, url)} (${error.code})`));
    }
    return findings;
  } catch (error) {
    if (!(error instanceof TrustError)) throw error;
    if (error.code === 'peer_not_active') return [fail('peer', await statusText(config, reader))];
    if (isRetryable(error)) return [fail('node', plainWords(error, url))];
    return [fail('peer', `${plainWords(error, url)} (${error.code})`)];
  } finally {
    await client.close();
  }
}

async function statusText({ peerId }: PeerConfig, reader: NodeReader): Promise<string> {
  const status = await reader.statusOf(peerId).catch(() => null);
  const found = status === 'suspended' || status === 'revoked' ? status : 'suspended or revoked';
  return `the peer ${peerId} is ${found}: ask the operator of the group (peer_not_active)`;
}

async function judgeSpools({ stateDir }: PeerConfig): Promise<Finding[]> {
  const root = join(stateDir, 'spool');
  const names = await readdir(root).catch(() => []);
  const folders = names.sort().map((name) => [name, join(root, name)] as const);
  const findings: Finding[] = [];
  for (const [name, folder] of [...folders, ['imports', join(stateDir, 'imports', 'spool')] as const]) {
    try {
      const facts = await inspectSpool(folder);
      if (facts === null) continue;
      await tryToWrite(folder);
      const { pending, setAside, lastSetAsideCode, damaged } = facts;
      const why = lastSetAsideCode === null ? '' : `, the last for ${lastSetAsideCode}`;
      const refused = `the node refused ${setAside} reports of the spool ${name} for good${why}`;
      const broken = `${damaged} records of the spool ${name} are damaged on disk`;
      const waiting = `${pending} reports are waiting in the spool ${name}`;
      if (setAside > 0) findings.push(fail('spool', `${refused}; see set-aside.ndjson in ${folder}`));
      if (damaged > 0) findings.push(fail('spool', `${broken}; see *.damaged in ${folder}`));
      if (pending === 0) findings.push(ok('spool', waiting));
      else findings.push(warn('spool', `${waiting}; they are sent while the program that owns the spool runs`));
    } catch (error) {
      findings.push(fail('spool', `the spool ${name} cannot be used: ${reasonOf(error)}`));
    }
  }
  return findings.length > 0 ? findings : [ok('spool', 'no spool yet: no event was reported from here')];
}

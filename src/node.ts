/**
 * A node: the one place where the parts are joined. Verifies the folder in a process of its own, claims it, listens, recovers,
 * applies the configuration, and only then lets requests in.
 */
import { randomBytes } from 'node:crypto';
import { join, resolve } from 'node:path';
import type { Logger } from 'pino';
import type { Config } from './config.js';
import { pseudonymise } from './core/pseudonym.js';
import { UnknownRecordError } from './core/records.js';
import type { Outcome } from './errors.js';
import { GroupActor } from './group/actor.js';
import type { GroupApi } from './group/api.js';
import type { CheckTimes } from './group/check.js';
import { type Formation, formGroup, groupFaults } from './group/formation.js';
import { Group, type Resolve } from './group/group.js';
import { GroupLoop } from './group/loop.js';
import { DamagedError, DiskFullError, type DiskGauge, type LogWriter, type SnapshotStore } from './group/ports.js';
import { lastSeqOf, mustReach, type Recovered, recover } from './group/recovery.js';
import { VerdictFeed } from './group/verdict-feed.js';
import { createMetrics } from './http/metrics.js';
import { startMetricsServer } from './http/metrics-server.js';
import { createHttpFace } from './http/server.js';
import { limits } from './limits.js';
import { passwordFile } from './operator/dashboard/password.js';
import { startDashboard } from './operator/dashboard/server.js';
import { Sessions } from './operator/dashboard/sessions.js';
import { startOperatorSocket } from './operator/socket.js';
import { makePrivate } from './store/backup-folder.js';
import { FolderGauge } from './store/disk-gauge.js';
import { replaceFile } from './store/durable-file.js';
import { keptSalt, saltFile } from './store/kept-salt.js';
import { LmdbSnapshotStore } from './store/lmdb-snapshots.js';
import { claimFolder, FolderOwnedError, thisProcess } from './store/owner.js';
import { unfitness } from './store/restore-folder.js';
import { rereader } from './store/small-file.js';
import { clock, entropy, timers } from './system.js';
import { backgroundCheck, diskWatch, rememberHeads, retention, writeHead } from './upkeep.js';
import { version } from './version.js';
import { PiscinaPool } from './workers/pool.js';
import { verifyInChild } from './workers/verification.js';

/** The node will not run like this; the message says why, for the operator. Nothing was changed. */
export class StartRefusedError extends Error {
  override readonly name = 'StartRefusedError';
}

export interface Address {
  readonly host: string;
  readonly port: number;
}

export interface NodePorts {
  readonly log: Logger;
  /** The node cannot go on, or another one owns its folder now: whoever runs it must end the process with a failure. */
  readonly onFatal: (error: unknown) => void;
  /** Makes this process the owner of a data folder; `claimFolder` where absent. */
  readonly claimLog?: (dir: string) => Promise<LogWriter>;
  /** Looks at the disk; the data folder's own where absent. */
  readonly disk?: DiskGauge;
  /** When log and snapshots are checked in the background; `limits` where absent. */
  readonly checkTimes?: CheckTimes;
}

export interface Node {
  readonly address: Address;
  readonly metricsAddress: Address | null;
  readonly dashboardAddress: Address | null;
  readonly group: GroupApi;
  /** Stops accepting, answers what was accepted, makes what it can of a last snapshot, and gives the folder back. */
  close(): Promise<void>;
  /** Answers and writes nothing more and ends the threads, for a process that cannot go on: an exit waits for them. */
  abandon(): Promise<void>;
}

/** Starts a node. Rejects with `StartRefusedError` where the folder, the group or the configuration forbid it. */
export async function startNode(config: Config, ports: NodePorts): Promise<Node> {
  const { log, onFatal, disk: gauge, checkTimes } = ports;
  const claimLog = ports.claimLog ?? ((folder: string) => claimFolder(folder, thisProcess(), limits, onFatal));
  const dir = resolve(config.dataDir);
  prepareFolder(dir);
  refuseUnfit(dir);
  const verifiedSeq = await verifyFolder(dir, log).catch(refuseStart);
  const writer = await claimLog(dir).catch(refuseStart);
  // In the order of their parts; a node closes from the last to the first.
  const closers: (() => Promise<void>)[] = [() => writer.close()];
  /** By `performance.now()`: when a stop that began must be done but for its threads. */
  let threadsEndAt = Number.POSITIVE_INFINITY;
  const msLeft = (atMost: number) => Math.max(0, Math.min(atMost, threadsEndAt - performance.now()));
  const close = async () => {
    threadsEndAt = performance.now() + limits.shutdownMs - limits.shutdownPoolMs - limits.shutdownLastMs;
    for (const closer of closers.splice(0).reverse()) await closer();
  };
  try {
    // Once more: a restore that begins meanwhile looks for an owner only after it has left its mark.
    refuseUnfit(dir);
    mustReach(writer, verifiedSeq);
    const saltText = await saltOf(config, dir, lastSeqOf(writer) === 0);
    const salt = Buffer.from(saltText);
    const identity = { groupId: config.groupId, identityMode: config.identityMode, environment: config.environment };
    const bounds = {
      peersMax: config.peersMax,
      erasureQuotaPerDay: config.erasureQuotaPerDay,
      erasureMode: config.erasureMode,
    };
    const group = new Group({ identity, bounds, clock, entropy });
    const metrics = createMetrics(version);
    const pseudonym = (playerId: string) => pseudonymise(playerId, saltText, config.identityMode);
    const sessionSecret = config.sessionSecret === null ? null : Buffer.from(config.sessionSecret);
    const passwordHash = rereader(join(dir, passwordFile));
    const sessions = new Sessions({ secret: sessionSecret, environment: config.environment, clock, passwordHash });
    const face = createHttpFace({
      group,
      pseudonymise: pseudonym,
      sessionHolds: (claims) => sessions.holds(claims),
      settings: {
        authEnabled: config.peerAuthEnabled,
        registrationMode: config.registrationMode,
        fastLane: config.fastLane,
        connectionsMax: config.connectionsMax,
        rateLimitPeerPerS: config.rateLimitPeerPerS,
        rateLimitAddressPerS: config.rateLimitAddressPerS,
        sessionSecret,
      },
      version,
      log,
      clock,
      metrics,
    });
    const pool = new PiscinaPool({ dir, salt });
    closers.push(() => pool.close(msLeft(limits.shutdownLoadMs)));
    let running: GroupLoop | null = null;
    closers.push(async () => {
      if (running !== null)
        await windDown({ group, loop: running, dir, log, snapshotMs: () => msLeft(limits.shutdownSnapshotMs) });
    });
    const address = await face.listen(config.host, config.port);
    closers.push(() => face.drain());

    const snapshots = new LmdbSnapshotStore(dir);
    await snapshots.sweep();
    const formation = { identity, halfLifeDays: config.halfLifeDays, salt };
    const { follower, snapshotSeq } = await recoverOrForm(formation, writer, snapshots, log);
    const actor = new GroupActor<Resolve>(follower.state, follower.chain, bounds);
    const disk = diskWatch({ gauge: gauge ?? new FolderGauge(dir), timers }, config.diskFreeMinMb, log, (low) =>
      running?.diskChanged(low),
    );
    await disk.start();
    closers.push(async () => disk.stop());
    const onTrouble = (what: string, error: unknown) =>
      log.error({ err: error }, `${what} failed and will be tried again`);
    const feed = new VerdictFeed({ pool, clock, timers, entropy, durableSeq: () => actor.durableSeq, onTrouble });
    closers.push(async () => feed.close());
    const loop = new GroupLoop({
      actor,
      log: writer,
      snapshots,
      recoveredFrom: snapshotSeq,
      pool,
      disk,
      clock,
      timers,
      entropy,
      observer: metrics,
      snapshotEvery: config.snapshotEvery,
      weightsIntervalMs: config.weightsIntervalMs,
      tellErasures: () => feed.tellErasures(),
      onFatal,
      onTrouble,
    });
    running = loop;
    const check = backgroundCheck({ pool, timers, clock }, log, checkTimes);
    closers.push(() => check.stop());
    group.attach(loop, feed, check);
    metrics.watch(group);
    await applyConfiguration(config, group);
    loop.resume();
    closers.push(retention(loop, clock, config.retentionDays));

    const socket = await startOperatorSocket({ dir, group, version, log });
    closers.push(() => socket.close());
    const metricsServer =
      config.metricsPort === null ? null : await startMetricsServer(metrics, config.metricsHost, config.metricsPort);
    if (metricsServer !== null) closers.push(() => metricsServer.close());
    const { dashboardHost, dashboardPort } = config;
    const dashboard =
      dashboardPort === null
        ? null
        : await startDashboard({
            host: dashboardHost,
            port: dashboardPort,
            group,
            pseudonymise: pseudonym,
            sessions,
            passwordHash,
            traffic: () => metrics.traffic(),
            clock,
            version,
            log,
          });
    if (dashboard !== null) {
      closers.push(() => dashboard.close());
      if (passwordHash() === null) log.warn('the dashboard has no password: set one with `ptf dashboard set-password`');
    }
    closers.push(rememberHeads(loop, dir, log));
    closers.push(async () => loop.endSoon(limits.shutdownAnswersMs));
    check.start();
    group.open();
    const metricsAddress = metricsServer === null ? null : { host: metricsServer.host, port: metricsServer.port };
    const dashboardAddress = dashboard === null ? null : { host: dashboard.host, port: dashboard.port };
    log.info(
      { ...address, metrics: metricsAddress, dashboard: dashboardAddress, last_seq: actor.durableSeq },
      'listening',
    );
    const abandon = () => {
      group.abandon();
      return pool.close(0, limits.failedPoolMs);
    };
    return { address, metricsAddress, dashboardAddress, group, close, abandon };
  } catch (error) {
    await close().catch((late: unknown) => log.error({ err: late }, 'closing after a refused start failed'));
    return refuseStart(error);
  }
}

/** To listen, a name is looked up first. */
const listening = ['listen', 'getaddrinfo'];
const refusals = [DamagedError, DiskFullError, FolderOwnedError, UnknownRecordError];

/** For the `catch` of a start: what an operator can act on is a refusal; the rest stays what it is. */
function refuseStart(error: unknown): never {
  if (error instanceof Error && refusals.some((kind) => error instanceof kind))
    throw new StartRefusedError(error.message);
  if (error instanceof Error && 'syscall' in error && listening.includes(String(error.syscall))) {
    throw new StartRefusedError(`cannot listen: ${error.message}`);
  }
  throw error;
}

function prepareFolder(dir: string): void {
  try {
    makePrivate(dir);
  } catch (error) {
    throw new StartRefusedError(`DATA_DIR cannot be used: ${error instanceof Error ? error.message : error}`);
  }
}

function refuseUnfit(dir: string): void {
  const why = unfitness(dir);
  if (why !== undefined) throw new StartRefusedError(why);
}

/** The configured salt, or in development one that is made once, when the group is formed, and kept in the folder. */
async function saltOf(config: Config, dir: string, isNew: boolean): Promise<string> {
  const kept = keptSalt(dir, config.salt);
  if (kept.ok) return kept.salt;
  if (!isNew) throw new StartRefusedError(kept.fault);
  const made = randomBytes(limits.keyBytes).toString('base64url');
  // On disk before anything is hashed with it: a log without its salt is of no use.
  await replaceFile(saltFile(dir), `${made}\n`, { sync: true });
  return made;
}

/**
 * Reads the store in another process first: what kills a reader must not kill the node, and nothing is changed before it holds. Resolves to
 * its newest record.
 */
async function verifyFolder(dir: string, log: Logger): Promise<number> {
  const report = await verifyInChild(dir, 'start');
  for (const { seq, fault } of report.snapshots)
    if (fault !== undefined) log.error({ seq, fault }, 'a snapshot is damaged');
  if (report.ok) return report.lastSeq;
  for (const fault of report.faults) log.error({ fault }, 'the store is damaged');
  throw new StartRefusedError(`the store in ${dir} is damaged; nothing was changed: ${report.faults.join('; ')}`);
}

async function recoverOrForm(
  formation: Formation,
  writer: LogWriter,
  snapshots: SnapshotStore,
  log: Logger,
): Promise<Pick<Recovered, 'follower' | 'snapshotSeq'>> {
  const started = performance.now();
  const recovered = recover(writer, snapshots, formation.salt, lastSeqOf(writer));
  if (recovered === null) return { follower: await formGroup(formation, writer, clock, entropy), snapshotSeq: 0 };
  const faults = groupFaults(formation, recovered.follower.state.formed);
  if (faults.length > 0) throw new StartRefusedError(faults.join('; '));
  logRecovery(recovered, performance.now() - started, log);
  return recovered;
}

function logRecovery({ follower, snapshotSeq, faults }: Recovered, ms: number, log: Logger): void {
  for (const fault of faults) log.error({ fault }, 'a snapshot could not be used');
  const counts = { peers: follower.state.peers.size, players: follower.state.subjects.size };
  log.info({ last_seq: follower.state.lastSeq, snapshot_seq: snapshotSeq, ...counts, ms: Math.round(ms) }, 'recovered');
}

async function applyConfiguration(config: Config, group: Group): Promise<void> {
  const { preTrustedPeers, halfLifeDays } = config;
  // What can be refused comes first: a start that is refused changes nothing.
  if (preTrustedPeers !== null) {
    const configured = await group.configure({ type: 'configured_pre_trust', peerIds: preTrustedPeers });
    demand(configured, 'PRE_TRUSTED_PEERS: ');
  }
  demand(await group.configure({ type: 'half_life', days: halfLifeDays }));
}

function demand(outcome: Outcome<unknown>, prefix = ''): void {
  if (!outcome.ok) throw new StartRefusedError(`${prefix}${outcome.text ?? outcome.code}`);
}

interface WindingDown {
  readonly group: Group;
  readonly loop: GroupLoop;
  readonly dir: string;
  readonly log: Logger;
  /** What is left for a last snapshot. */
  readonly snapshotMs: () => number;
}

/** Everything accepted is durable, and a last snapshot is made where it fits in its time. */
async function windDown({ group, loop, dir, log, snapshotMs }: WindingDown): Promise<void> {
  await group.drain();
  if (loop.failed) return;
  let isLeft = false;
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<false>((resolve) => {
    timer = setTimeout(() => resolve(false), snapshotMs());
  });
  const made = loop.snapshotNow(snapshotMs).catch((error: unknown) => {
    if (!isLeft) log.warn({ err: error }, 'the last snapshot failed');
  });
  isLeft = (await Promise.race([made, late])) === false;
  if (isLeft) log.warn('the last snapshot takes too long and is left');
  clearTimeout(timer);
  // The log alone says what is durable; where the disk is full, the folder must still be released.
  await writeHead(loop, dir, true).catch((error: unknown) => log.warn({ err: error }, 'head.json was not written'));
}

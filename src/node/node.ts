/**
 * A node: the one place where the parts are joined. Verifies the folder in a process of its own, claims it, listens,
 * recovers, applies the configuration, and only then lets requests in.
 */
import { join, resolve } from 'node:path';
import type { Logger } from 'pino';
import { Pseudonyms } from '../core/hashing/pseudonym.js';
import { GroupActor } from '../group/actor/actor.js';
import type { Resolve } from '../group/actor/effects.js';
import { GroupLoop } from '../group/actor/loop.js';
import { Nonces } from '../group/actor/nonces.js';
import type { GroupApi, GroupIdentity } from '../group/api.js';
import { VerdictFeed } from '../group/feed/change-feed.js';
import { Group } from '../group/group.js';
import { ClockGuard, clockProblem } from '../group/health/clock-guard.js';
import type { Clock } from '../group/ports/clock.js';
import type { DiskGauge } from '../group/ports/disk.js';
import type { LogWriter } from '../group/ports/log.js';
import { lastSeqOf, mustReach } from '../group/recovery/recovery.js';
import type { BackgroundCheck, CheckTimes } from '../group/recovery/scheduled-check.js';
import type { FaceDeps } from '../http/deps.js';
import { createFastPath } from '../http/fast-path/fast-path.js';
import { createMetrics } from '../http/metrics/metrics.js';
import { startMetricsServer } from '../http/metrics/metrics-server.js';
import { createHttpFace } from '../http/server/server.js';
import { limits } from '../limits.js';
import { startDashboard } from '../operator/dashboard/server.js';
import { passwordFile } from '../operator/dashboard/sessions/password.js';
import { Sessions } from '../operator/dashboard/sessions/sessions.js';
import { startOperatorSocket } from '../operator/protocol/socket-server.js';
import { isCanonicalPlayerId, readPlayerId } from '../player-ids/player-id.js';
import { readClockSeen } from '../store/files/clock-seen.js';
import { Reserve } from '../store/files/reserve.js';
import { rereader } from '../store/files/small-file.js';
import { FolderGauge } from '../store/log/disk-gauge.js';
import { ownFolder } from '../store/ownership/owner.js';
import { thisProcess } from '../store/ownership/process-identity.js';
import { LmdbSnapshotStore } from '../store/snapshots/lmdb-snapshots.js';
import { PiscinaPool } from '../workers/pool/pool.js';
import type { Config } from './config.js';
import { Closers, windDown } from './shutdown.js';
import {
  applyConfiguration,
  demandListening,
  demandSocket,
  prepareFolder,
  recoverOrForm,
  refuseClock,
  refuseStart,
  refuseUnfit,
  saltOf,
  verifyFolder,
} from './startup.js';
import { random, sinceBoot, clock as systemClock, timers } from './system.js';
import { backgroundCheck, clockReported, clockWatch, diskWatch, rememberHeads, retention } from './upkeep.js';
import { version } from './version.js';

export interface Address {
  readonly host: string;
  readonly port: number;
}

export interface NodePorts {
  readonly log: Logger;
  /** The node cannot go on, or another one owns its folder now: whoever runs it must end the process with a failure. */
  readonly onFatal: (error: unknown) => void;
  /** Makes this process the owner of a data folder; the store's own where absent. */
  readonly ownFolder?: (dir: string) => Promise<OwnedFolder>;
  /** The wall clock; the system's where absent. */
  readonly clock?: Clock;
  /** Looks at the disk; the data folder's own where absent. */
  readonly disk?: DiskGauge;
  /** When log and snapshots are checked in the background; `limits` where absent. */
  readonly checkTimes?: CheckTimes;
}

/** A data folder that this process owns, whose log nobody has opened yet. */
export interface OwnedFolder {
  /** Opens the log for its one writer. To close it releases the folder. */
  openLog(): Promise<LogWriter>;
  /** Marks the folder free for the next owner, where it is still this process's. */
  release(): Promise<void>;
}

export interface RunningNode {
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
export async function startNode(config: Config, ports: NodePorts): Promise<RunningNode> {
  const { log, onFatal } = ports;
  const own = ports.ownFolder ?? ((folder: string) => ownFolder(folder, thisProcess(), limits, onFatal));
  const dir = resolve(config.dataDir);
  prepareFolder(dir);
  refuseUnfit(dir);
  // Before anything opens LMDB: another node may run on the folder.
  const reserve = new Reserve(dir);
  const owned = await reserve.ifFull(() => own(dir)).catch(refuseStart);
  const closers = new Closers();
  closers.add(() => reserve.during(() => owned.release()));
  try {
    const verifiedSeq = await verifyFolder(dir, log);
    const writer = await reserve.during(() => owned.openLog());
    reserve.fill();
    closers.add(() => reserve.during(() => writer.close()));
    // Once more: a restore that begins meanwhile looks for an owner only after it has left its mark.
    refuseUnfit(dir);
    mustReach(writer, verifiedSeq);
    const saltText = await saltOf(config, dir, lastSeqOf(writer) === 0);
    const clock = ports.clock ?? systemClock;
    return await openNode({ config, ports, clock, dir, writer, reserve, saltText, closers });
  } catch (error) {
    await closers.close().catch((late: unknown) => log.error({ err: late }, 'closing after a refused start failed'));
    return refuseStart(error);
  }
}

/** What a start goes on with once the folder is verified and claimed. */
interface Start {
  readonly config: Config;
  readonly ports: NodePorts;
  readonly clock: Clock;
  readonly dir: string;
  readonly writer: LogWriter;
  readonly reserve: Reserve;
  readonly saltText: string;
  /** Takes what closes a part as soon as the part is open. */
  readonly closers: Closers;
}

/** Listens, recovers, applies the configuration, and opens. */
async function openNode(start: Start): Promise<RunningNode> {
  const { config, ports, clock, dir, closers } = start;
  const { log } = ports;
  const parts = makeParts(start);
  const { group, face, pool } = parts;
  const address = await demandListening(face.listen(config.host, config.port), { port: 'PORT', host: 'HOST' });
  closers.add(() => face.drain());

  const { loop, check } = await openGroup(start, parts);
  await applyConfiguration(config, group);
  loop.resume();
  closers.add(retention(loop, clock, config.retentionDays));

  const operation = await openOperation(start, parts);
  closers.add(rememberHeads(loop, dir, log));
  closers.add(async () => loop.endSoon(limits.shutdownAnswersMs));
  check.start();
  group.open();
  const { metricsAddress, dashboardAddress } = operation;
  log.info(
    { ...address, metrics: metricsAddress, dashboard: dashboardAddress, last_seq: loop.actor.durableSeq },
    'listening',
  );
  const abandon = () => {
    group.abandon();
    return pool.close(0, limits.failedPoolMs);
  };
  return { address, ...operation, group, close: () => closers.close(), abandon };
}

type Parts = ReturnType<typeof makeParts>;

/** The parts that stand before the log is recovered. */
function makeParts({ config, ports: { log }, clock, dir, saltText, closers }: Start) {
  const { groupId, identityMode, environment, peersMax, erasureQuotaPerDay, erasureMode } = config;
  const kinds = config.playerIdKinds;
  const identity: GroupIdentity = {
    groupId,
    identityMode,
    environment,
    ...(kinds === null ? {} : { playerIdKinds: kinds }),
  };
  const bounds = { peersMax, erasureQuotaPerDay, erasureMode };
  const salt = Buffer.from(saltText);
  const group = new Group({ identity, bounds, clock, random });
  const metrics = createMetrics(version);
  const isCanonical = kinds === null ? null : (playerId: string) => isCanonicalPlayerId(playerId, kinds);
  const pseudonyms = new Pseudonyms(saltText, identityMode, isCanonical);
  const sessionSecret = config.sessionSecret === null ? null : Buffer.from(config.sessionSecret);
  const passwordHash = rereader(join(dir, passwordFile));
  const sessions = new Sessions({ secret: sessionSecret, environment, clock, passwordHash });
  const faceDeps: FaceDeps = {
    group,
    pseudonyms,
    sessionHolds: (claims) => sessions.holds(claims),
    settings: {
      authEnabled: config.peerAuthEnabled,
      registrationMode: config.registrationMode,
      connectionsMax: config.connectionsMax,
      loopbackIsProxy: config.loopbackIsProxy,
      rateLimitPeerPerS: config.rateLimitPeerPerS,
      rateLimitAddressPerS: config.rateLimitAddressPerS,
      registrationsPerAddressPerHour: config.registrationsPerAddressPerHour,
      requestSigning: config.requestSigning,
      publishSaltCheck: config.publishSaltCheck,
      sessionSecret,
    },
    version,
    log,
    clock,
    metrics,
  };
  const face = createHttpFace(faceDeps, config.fastPath ? createFastPath : null);
  const pool = new PiscinaPool({
    dir,
    salt,
    scoring: { badSharePrior: config.priorBadShare, newPeerDays: config.newPeerDays },
  });
  closers.add(() => pool.close(closers.msLeft(limits.shutdownLoadMs)));
  // Between the pool, which a last snapshot needs, and the public port, which lets in what must be answered first.
  const windDownBy = closers.reserve();
  return { identity, bounds, salt, group, metrics, pseudonyms, passwordHash, sessions, face, pool, windDownBy };
}

/** The canonical form of what the operator typed, where the group has one for it. */
function spelledAs(kinds: readonly string[] | undefined, playerId: string): string {
  const found = kinds === undefined ? null : readPlayerId(playerId, { kinds });
  return found?.ok ? found.id : playerId;
}

interface OpenGroup {
  readonly loop: GroupLoop;
  readonly check: BackgroundCheck;
}

/** Recovers the group and joins what carries it: from here on it takes commands. */
async function openGroup(start: Start, parts: Parts): Promise<OpenGroup> {
  const { config, clock, dir, writer, reserve, closers } = start;
  const { log, onFatal, disk: gauge, checkTimes } = start.ports;
  const { group, metrics, pool } = parts;
  const { actor, snapshots, recoveredFrom, seenAt } = await recoverActor(start, parts);
  // The first look comes before the loop, which then asks the watch itself.
  let watching: GroupLoop | null = null;
  const onClock = clockReported(log, () => watching?.writableChanged());
  const clockGuard = new ClockGuard({ clock, timers: sinceBoot, seenAt, onChange: onClock });
  const disk = diskWatch({ gauge: gauge ?? new FolderGauge(dir), timers }, config.diskFreeMinMb, log, (low) =>
    watching?.diskChanged(low),
  );
  await disk.start();
  closers.add(async () => disk.stop());
  const onFailure = (what: string, error: unknown) =>
    log.error({ err: error }, `${what} failed and will be tried again`);
  const intervalMs = () =>
    actor.state.peers.byStatus().active < limits.streamIntervalPeersMin ? 0 : config.streamIntervalMs;
  const durableSeq = () => actor.durableSeq;
  const feed = new VerdictFeed({ pool, clock, timers, random, durableSeq, intervalMs, onFailure });
  closers.add(async () => feed.close());
  const loop = new GroupLoop({
    actor,
    log: writer,
    snapshots,
    recoveredFrom,
    pool,
    disk,
    reserve,
    clock,
    clockGuard,
    timers,
    nonces: new Nonces(random),
    observer: metrics,
    snapshotEvery: config.snapshotEvery,
    weightsIntervalMs: config.weightsIntervalMs,
    publishErasures: () => feed.publishErasures(),
    onFatal,
    onFailure,
  });
  watching = loop;
  closers.add(clockWatch(clockGuard, clock, dir, log));
  parts.windDownBy(() =>
    windDown({ group, loop, dir, log, snapshotMs: () => closers.msLeft(limits.shutdownSnapshotMs) }),
  );
  const check = backgroundCheck({ pool, timers, clock }, log, checkTimes);
  closers.add(() => check.stop());
  group.attach(loop, feed, check);
  metrics.watch(group);
  return { loop, check };
}

/** The actor over the state that folder and log give, or over that of a group which is formed now. */
async function recoverActor({ config, ports, clock, dir, writer }: Start, { identity, bounds, salt }: Parts) {
  const snapshots = new LmdbSnapshotStore(dir);
  await snapshots.sweep();
  const formation = { identity, halfLifeDays: config.halfLifeDays, salt };
  const { follower, snapshotSeq } = await recoverOrForm({ formation, clock }, writer, snapshots, ports.log);
  const seenAt = Math.max(follower.state.lastAt, readClockSeen(dir));
  refuseClock(clockProblem(clock.now(), seenAt, config.clockAcceptedUntil), config.environment, ports.log);
  const actor = new GroupActor<Resolve>(follower.state, follower.chain, bounds);
  return { actor, snapshots, recoveredFrom: snapshotSeq, seenAt };
}

/** The operator's side: the socket, and the ports of metrics and dashboard where they are asked for. */
async function openOperation(
  { config, ports: { log }, clock, dir, closers }: Start,
  { group, metrics, pseudonyms, passwordHash, sessions }: Parts,
): Promise<Pick<RunningNode, 'metricsAddress' | 'dashboardAddress'>> {
  const { metricsHost, metricsPort, dashboardHost, dashboardPort } = config;
  const socket = await demandSocket(startOperatorSocket({ dir, group, version, log }), dir);
  closers.add(() => socket.close());
  const metricsServer =
    metricsPort === null
      ? null
      : await demandListening(startMetricsServer(metrics, metricsHost, metricsPort, log), {
          port: 'METRICS_PORT',
          host: 'METRICS_HOST',
        });
  if (metricsServer !== null) closers.add(() => metricsServer.close());
  const dashboard =
    dashboardPort === null
      ? null
      : await demandListening(
          startDashboard({
            host: dashboardHost,
            port: dashboardPort,
            group,
            pseudonymise: (playerId) => pseudonyms.of(spelledAs(group.identity.playerIdKinds, playerId)),
            sessions,
            passwordHash,
            traffic: () => metrics.traffic(),
            clock,
            version,
            log,
          }),
          { port: 'DASHBOARD_PORT', host: 'DASHBOARD_HOST' },
        );
  if (dashboard !== null) {
    closers.add(() => dashboard.close());
    if (passwordHash() === null) log.warn('the dashboard has no password: set one with `ptf dashboard set-password`');
  }
  return { metricsAddress: addressOf(metricsServer), dashboardAddress: addressOf(dashboard) };
}

function addressOf(server: Address | null): Address | null {
  return server === null ? null : { host: server.host, port: server.port };
}

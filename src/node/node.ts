/** Starts a node and connects its parts. A node of a cluster listens before it acquires its folder, others after. */
import { join, resolve } from 'node:path';
import type { Logger } from 'pino';
import type { GroupBounds } from '../core/commands.js';
import { Pseudonyms } from '../core/hashing/pseudonym.js';
import { loggedSettings } from '../core/rules/decide-setting.js';
import { GroupActor } from '../group/actor/actor.js';
import { GroupLoop } from '../group/actor/loop.js';
import type { Resolve } from '../group/actor/turn.js';
import type { GroupApi, GroupNode } from '../group/api.js';
import type { CurrentLoop } from '../group/calls.js';
import { VerdictFeed } from '../group/feed/change-feed.js';
import { createGroup } from '../group/group.js';
import { recoveringHealth } from '../group/group-health.js';
import { ClockGuard, clockProblem } from '../group/health/clock-guard.js';
import type { Clock } from '../group/ports/clock.js';
import type { DiskGauge, LogWriter } from '../group/ports/storage.js';
import { type Follower, lastSeqOf, mustReach, recover } from '../group/recovery/recovery.js';
import type { CheckTimes } from '../group/recovery/scheduled-check.js';
import type { HttpDeps } from '../http/deps.js';
import { createFastPath } from '../http/fast-path/fast-path.js';
import { createMetrics } from '../http/metrics/metrics.js';
import { ApiServer } from '../http/server/server.js';
import { limits } from '../limits.js';
import { passwordFile } from '../operator/dashboard/sessions/password.js';
import { Sessions } from '../operator/dashboard/sessions/sessions.js';
import { isCanonicalPlayerId } from '../player-ids/player-id.js';
import { readClockSeen } from '../store/files/folder-files.js';
import { Reserve } from '../store/files/full-disk.js';
import { rereader } from '../store/files/small-file.js';
import { FolderGauge } from '../store/log/disk-gauge.js';
import { LmdbLogWriter } from '../store/log/lmdb-log.js';
import { ownFolder, refuseLiving } from '../store/ownership/owner.js';
import { thisProcess } from '../store/ownership/owner-record.js';
import { LmdbSnapshotStore } from '../store/snapshots/lmdb-snapshots.js';
import { PiscinaPool } from '../workers/pool/piscina-pool.js';
import type { ClusterNode } from './cluster/cluster-node.js';
import { type Config, identityOf, settingsIn } from './config.js';
import { type Address, openOperatorAccess, urlOf } from './operator-access.js';
import { Closers, windDown } from './shutdown.js';
import * as startup from './startup.js';
import { random, sinceBoot, clock as systemClock, timers } from './system.js';
import { backgroundCheck, clockReported, clockWatch, diskWatch, rememberHeads, retention } from './upkeep.js';
import { version } from './version.js';

export interface NodePorts {
  readonly log: Logger;
  /** Called if the node cannot continue, or lost its folder: the caller must end the process with a failure. */
  readonly onFatal: (error: unknown) => void;
  readonly ownFolder?: (dir: string) => Promise<OwnedFolder>;
  readonly clock?: Clock;
  readonly disk?: DiskGauge;
  /** Schedule of the background check of log and snapshots. Default: `limits`. */
  readonly checkTimes?: CheckTimes;
  /** Longest time of the last snapshot; 0 for none, because nobody reads the folder again. Default: `limits`. */
  readonly lastSnapshotMs?: number;
  readonly ending?: AbortSignal;
}

/** A data folder that this process owns, with its log not opened yet. */
export interface OwnedFolder {
  /** Closing the log releases the folder. */
  openLog(): Promise<LogWriter>;
  release(): Promise<void>;
}

export interface RunningNode {
  readonly address: Address;
  readonly metricsAddress: Address | null;
  readonly dashboardAddress: Address | null;
  readonly group: GroupApi;
  /** Answers the accepted requests, writes a last snapshot if there is time, and releases the folder. */
  close(): Promise<void>;
  /** Stops all answers, writes and threads, for a process that cannot continue: its exit waits for threads. */
  abandon(): Promise<void>;
}

/** Rejects with `StartRefusedError`, and with `StartEndedError` if `ending` aborts while it waits for other nodes. */
export async function startNode(config: Config, ports: NodePorts): Promise<RunningNode> {
  const { log, onFatal } = ports;
  const own = ports.ownFolder ?? ((folder: string) => ownFolder(folder, thisProcess(), limits, onFatal));
  const dir = resolve(config.dataDir);
  startup.prepareFolder(dir);
  startup.refuseUnfit(dir, config);
  const clock = ports.clock ?? systemClock;
  const cluster = config.cluster === 'none' ? null : await openCluster(config, { ...ports, clock }, dir);
  let parts: Parts | null = null;
  const closers = new Closers();
  try {
    if (cluster !== null) {
      parts = makeParts({ config, ports, clock, dir, saltText: config.salt ?? '', cluster });
      await listen(config, parts);
      await cluster.prepare(await startup.lastSeqOfFolder(dir, log));
    }
    // Before any code opens LMDB, because another node may run on the folder.
    const reserve = new Reserve(dir);
    const owned = await reserve.ifFull(() => own(dir));
    closers.add(() => reserve.during(() => owned.release()));
    const verifiedSeq = await startup.verifyFolder(dir, log);
    const opened = await reserve.during(() => owned.openLog());
    const writer = cluster !== null && opened instanceof LmdbLogWriter ? cluster.wrap(opened) : opened;
    reserve.fill();
    closers.add(() => reserve.during(() => writer.close()));
    if (cluster !== null) closers.add(() => cluster.close());
    // Repeated: a restore that begins in the meantime writes its marker before it looks for an owner.
    startup.refuseUnfit(dir, config);
    mustReach(writer, verifiedSeq);
    const saltText = await startup.saltOf(config, dir, lastSeqOf(writer) === 0);
    await cluster?.begin();
    if (parts === null) {
      parts = makeParts({ config, ports, clock, dir, saltText, cluster });
      await listen(config, parts);
    }
    return await openNode({ config, ports, clock, dir, writer, reserve, closers, cluster }, parts);
  } catch (error) {
    await cluster?.close().catch((late: unknown) => log.error({ err: late }, 'closing after a refused start failed'));
    await closers.close().catch((late: unknown) => log.error({ err: late }, 'closing after a refused start failed'));
    await parts?.drain();
    return startup.refuseStart(error);
  }
}

/** The folder is acquired later: its contents may have to be fetched from another node first. */
async function openCluster(
  config: Config,
  ports: Pick<NodePorts, 'log' | 'onFatal' | 'ending'> & { readonly clock: Clock },
  dir: string,
): Promise<ClusterNode> {
  const { ClusterNode } = await import('./cluster/cluster-node.js');
  await refuseLiving(dir).catch(startup.refuseStart);
  return new ClusterNode(config, dir, { ...ports, timers, random });
}

interface Start {
  readonly config: Config;
  readonly ports: NodePorts;
  readonly clock: Clock;
  readonly dir: string;
  readonly writer: LogWriter;
  readonly reserve: Reserve;
  /** Receives the closer of each part as soon as the part is open. */
  readonly closers: Closers;
  readonly cluster: ClusterNode | null;
}

async function openNode(start: Start, parts: Parts): Promise<RunningNode> {
  const { config, ports, clock, dir, closers, cluster } = start;
  const { log } = ports;
  const { pool } = parts;
  const address = parts.address!;
  closers.add(() => pool.close(closers.msLeft(limits.shutdownLoadMs)));
  let opened: OpenGroup | null = null;
  // This closer runs after the public port closes, because open requests are answered first, and before the pool
  // closes, because the last snapshot needs the pool.
  const snapshotMs = () => closers.msLeft(ports.lastSnapshotMs ?? limits.shutdownSnapshotMs);
  closers.add(async () => {
    if (opened !== null) await windDown({ ...opened, dir, log, snapshotMs });
  });
  closers.add(() => parts.drain());
  if (cluster !== null) closers.add(() => cluster.server.close());

  opened = await openGroup(start, parts);
  const { group, api, current, check, clusterSite } = opened;
  if (cluster === null) await startup.applyConfiguration(config, group, null);
  current.loop.resume();
  closers.add(
    retention(
      () => current.loop,
      clock,
      () => group.settings().RETENTION_DAYS,
    ),
  );

  const operation = await openOperatorAccess({ ...parts, config, log, clock, dir, closers, group: api });
  closers.add(rememberHeads(() => current.loop, dir, log));
  closers.add(async () => current.loop.endSoon(limits.shutdownAnswersMs));
  check.start();
  if (cluster !== null) {
    cluster.start(clusterSite);
    // Closed first: another node takes over while this one still answers.
    closers.add(() => cluster.beginClose());
  }
  group.open();
  const { metricsAddress, dashboardAddress } = operation;
  log.info(
    {
      ...address,
      docs: `${urlOf(address)}/docs`,
      metrics: metricsAddress,
      dashboard: dashboardAddress,
      data_dir: dir,
      last_seq: current.loop.actor.durableSeq,
    },
    'listening',
  );
  const abandon = () => {
    group.abandon();
    return pool.close(0, limits.failedPoolMs);
  };
  return { address, ...operation, group: api, close: () => closers.close(), abandon };
}

type Parts = ReturnType<typeof makeParts>;

type PartsOf = Pick<Start, 'config' | 'ports' | 'clock' | 'dir' | 'cluster'> & { readonly saltText: string };

function makeParts({ config, ports: { log }, clock, dir, saltText, cluster }: PartsOf) {
  const { environment, identityMode, playerIdKinds: kinds } = config;
  const salt = Buffer.from(saltText);
  let group: GroupApi | null = null;
  const node: GroupNode & { readonly group: GroupApi } = {
    identity: identityOf(config),
    // A node that joins a cluster reports its role before it has recovered.
    cluster: cluster?.member ?? null,
    get group() {
      if (group === null) throw new Error('node: the group was asked before it is recovered');
      return group;
    },
    get isReady() {
      return group?.isReady === true;
    },
    health: () => group?.health() ?? recoveringHealth,
  };
  const metrics = createMetrics(version, () => node.group);
  const isCanonical = kinds === null ? null : (playerId: string) => isCanonicalPlayerId(playerId, kinds);
  const pseudonyms = new Pseudonyms(saltText, identityMode, isCanonical);
  const sessionSecret = config.sessionSecret === null ? null : Buffer.from(config.sessionSecret);
  const passwordHash = rereader(join(dir, passwordFile));
  const sessions = new Sessions({ secret: sessionSecret, environment, clock, passwordHash });
  const pool = new PiscinaPool({
    dir,
    salt,
    scoring: { badSharePrior: config.priorBadShare, newPeerDays: config.newPeerDays, isLogged: cluster !== null },
  });
  const httpDeps: HttpDeps = {
    node,
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
    verifySignatures: pool.verifySignatures,
    ...(cluster && { tunnel: (authority, socket, head) => cluster.server.tunnel(authority, socket, head) }),
  };
  const face = new ApiServer(httpDeps, config.fastPath ? createFastPath : null);
  let drained: Promise<void> | undefined;
  const parts = {
    ...{ salt, node, metrics, pseudonyms, passwordHash, sessions, pool, face },
    address: null as Address | null,
    recovered(api: GroupApi): void {
      group = api;
    },
    async drain(): Promise<void> {
      if (parts.address !== null) drained ??= face.drain();
      await drained;
    },
  };
  return parts;
}

/** Opens the public port, which answers 503 until the group is open. */
async function listen({ host, port }: Config, parts: Parts): Promise<void> {
  parts.address = await startup.listeningOrRefuse(parts.face.listen(host, port));
}

type OpenGroup = Awaited<ReturnType<typeof openGroup>>;

/** Recovers the group and connects its parts: from here on it accepts commands. */
async function openGroup(start: Start, parts: Parts) {
  const { config, clock, dir, writer, reserve, closers, cluster } = start;
  const { log, onFatal, disk: gauge, checkTimes } = start.ports;
  const { node, metrics, pool } = parts;
  if (cluster !== null) pool.filesStored = () => writer.stored();
  const recovered = await recoverActor(start, parts);
  const { snapshots } = recovered;
  // The first check of the disk precedes the loop, which later triggers the checks itself.
  let watching: CurrentLoop | null = null;
  const onClock = clockReported(log, () => current.loop.writableChanged());
  const clockGuard = new ClockGuard({ clock, timers: sinceBoot, seenAt: recovered.seenAt, onChange: onClock });
  const disk = diskWatch({ gauge: gauge ?? new FolderGauge(dir), timers }, config.diskFreeMinMb, log, (low) =>
    watching?.loop.diskChanged(low),
  );
  await disk.start();
  closers.add(async () => disk.stop());
  const onFailure = (what: string, error: unknown) =>
    log.error({ err: error }, `${what} failed and will be tried again`);
  const loopOver = ({ actor, recoveredFrom }: Pick<RecoveredGroup, 'actor' | 'recoveredFrom'>) =>
    new GroupLoop({
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
      random,
      observer: metrics,
      snapshotEvery: config.snapshotEvery,
      weightsIntervalMs: config.weightsIntervalMs,
      publishErasures: () => feed.publishErasures(),
      onFatal: (error) => (cluster === null ? onFatal(error) : cluster.loopFailed(error)),
      onFailure,
      ...(cluster && {
        isOneOfSeveral: true,
        leading: false,
        commitPatienceMs: limits.appendPatienceMs,
        formatMax: () => cluster.member.writeFormat,
        logIsFull: () => cluster.member.logIsFull,
      }),
    });
  const intervalMs = () =>
    current.loop.state.peers.byStatus().active < limits.streamIntervalPeersMin ? 0 : config.streamIntervalMs;
  const storedSeq = () => current.loop.storedSeq;
  const shared = cluster && { logTag: () => cluster.logTag, stalenessMs: () => cluster.member.stalenessMs };
  const feed = new VerdictFeed({ pool, clock, timers, random, storedSeq, intervalMs, onFailure, ...shared });
  closers.add(async () => feed.close());
  /** Holds another loop after a node of a cluster has read its log anew. */
  const current = { loop: loopOver(recovered) };
  watching = current;
  closers.add(clockWatch(clockGuard, clock, dir, log));
  const check = backgroundCheck({ pool, timers, clock }, log, checkTimes);
  closers.add(() => check.stop());
  const { identity, cluster: health } = node;
  const inForce = () => ({ ...settingsIn(config), ...(cluster && loggedSettings(current.loop.state)) });
  const group = createGroup({ identity, current, verdicts: feed, check, cluster: health, inForce, clock, random });
  /** The API for callers; in a cluster it forwards commands to the leader. */
  const api = cluster?.groupOver(group) ?? group;
  parts.recovered(api);
  const reload = async () => {
    const startedAt = performance.now();
    const again = recover(writer, snapshots, parts.salt, lastSeqOf(writer));
    if (again === null) throw new Error('the log is empty');
    const actor = actorOver(again.follower, config);
    current.loop = loopOver({ actor, recoveredFrom: again.snapshotSeq });
    log.info({ last_seq: actor.durableSeq, ms: Math.round(performance.now() - startedAt) }, 'the state was read again');
  };
  const clusterSite = {
    loop: () => current.loop,
    reload,
    configure: () => startup.applyConfiguration(config, group, loggedSettings(current.loop.state)),
    refusal: () => startup.settingsProblem(config, loggedSettings(current.loop.state)),
    hasSettings: () => startup.hasSettings(loggedSettings(current.loop.state)),
    snapshotSeq: () => snapshots.list()[0] ?? 0,
    unfit: () => (disk.low ? 'disk_low' : null),
    unfitToLead: () => (clockGuard.clockAhead ? 'the clock of the node jumped ahead' : null),
  };
  return { group, api, current, check, clusterSite };
}

/** `recoveredFrom`: the snapshot, 0 if recovery read the whole log. `seenAt`: the newest time in the folder. */
type RecoveredGroup = Awaited<ReturnType<typeof recoverActor>>;

/** The bounds of a cluster are in its log; its turns are smaller, because a large append takes longer than two. */
function actorOver(follower: Follower, config: Config): GroupActor<Resolve> {
  const { peersMax, erasureQuotaPerDay, erasureMode } = config;
  if (config.cluster === 'none') return new GroupActor(follower, { peersMax, erasureQuotaPerDay, erasureMode });
  const { state } = follower;
  const bounds: GroupBounds = {
    get peersMax() {
      return state.settings.PEERS_MAX ?? peersMax;
    },
    get erasureQuotaPerDay() {
      return state.settings.ERASURE_QUOTA_PER_DAY ?? erasureQuotaPerDay;
    },
    get erasureMode() {
      return state.settings.ERASURE_MODE ?? erasureMode;
    },
  };
  return new GroupActor(follower, bounds, { events: limits.clusterTurnEvents, bytes: limits.clusterTurnBytes });
}

async function recoverActor({ config, ports, clock, dir, writer }: Start, { node, salt }: Parts) {
  const snapshots = new LmdbSnapshotStore(dir);
  await snapshots.sweep();
  const { identity } = node;
  const formation = { identity, halfLifeDays: config.halfLifeDays, banHalfLifeDays: config.banHalfLifeDays, salt };
  const { follower, snapshotSeq } = await startup.recoverOrForm({ formation, clock }, writer, snapshots, ports.log);
  const seenAt = Math.max(follower.state.lastAt, readClockSeen(dir));
  startup.refuseClock(clockProblem(clock.now(), seenAt, config.clockAcceptedUntil), config.environment, ports.log);
  const actor = actorOver(follower, config);
  return { actor, snapshots, recoveredFrom: snapshotSeq, seenAt };
}

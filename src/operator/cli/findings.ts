/** Turns the facts of an examination into findings, each of which says what to do. Pure functions. */
import type { IdentityMode } from '../../core/vocabulary.js';
import type { ClusterValue } from '../../operations/cluster-operations.js';
import type { VerifyValue } from '../../operations/log-operations.js';
import type { StatusValue } from '../../operations/status-operation.js';
import { mb } from '../../operations/text-table.js';

export interface Finding {
  readonly check: string;
  readonly result: 'ok' | 'warn' | 'fail';
  readonly text: string;
  /** The remedy; absent if there is no problem. */
  readonly advice?: string;
}

/** The configuration in the environment. Contains no secret. */
export interface ConfigurationFacts {
  readonly faults: readonly { readonly variable: string; readonly text: string }[];
  readonly warnings: readonly { readonly variable: string; readonly text: string }[];
  readonly production: boolean;
  readonly group: { readonly groupId: string; readonly identityMode: IdentityMode; readonly environment: string };
  readonly diskFreeMinBytes: number;
  /** The address of the public port; null if it is any free one. */
  readonly address: { readonly host: string; readonly port: number } | null;
  readonly folders: readonly string[];
  /** Signs of nodes that `ptf` cannot ask from here, each with the remedy. */
  readonly signs: readonly (readonly [text: string, advice: string])[];
}

export interface RuntimeFacts {
  readonly node: string;
  readonly platform: string;
  readonly version: string;
  /** Memory of this machine, or the limit of this container. */
  readonly memoryBytes: number;
}

export interface FileFacts {
  readonly name: string;
  readonly mode: number;
  readonly uid: number;
  readonly modifiedAt: number;
}

export interface FolderFacts {
  /** The folder itself; null if there is none. */
  readonly folder: FileFacts | null;
  /** False if the path is something else, or a link that leads nowhere. */
  readonly isFolder: boolean;
  readonly files: readonly FileFacts[];
  readonly uid: number;
  /** The nearest existing folder, the data folder or one above it, and whether this user may create files in it. */
  readonly above: string;
  readonly mayMake: boolean;
  readonly freeBytes: number;
  /** Number of files that can still be created; null if the file system does not count them. */
  readonly freeFiles: number | null;
  readonly fileSystem: number;
  readonly storeBytes: number;
}

export interface Surroundings {
  /** The address of the node, if a process listens on it, and why that process does not serve if it is a node. */
  readonly busyAddress: string | null;
  readonly starting: string | null;
  readonly nodes: readonly string[];
}

/** Measured (see "Sizing"): a player with 2.3 peers, an event id, a node with its replica. */
const PLAYER_BYTES = 127;
const EVENT_ID_BYTES = 23;
const STATE_TIMES = 3.5;
const EMPTY_NODE_BYTES = 150e6;
const CLOCK_TOLERANCE_MS = 5_000;
const FREE_FILES_MIN = 100;

/** Magic numbers of statfs(2). LMDB maps its files, which no network file system supports correctly. */
const networkFileSystems: Readonly<Record<number, string>> = {
  26985: 'NFS',
  4283649346: 'CIFS',
  4266872130: 'SMB',
  20859: 'SMB',
  16914839: '9P',
  1702057286: 'FUSE',
  12805120: 'Ceph',
};
const TMPFS = 0x01021994;
const secretFiles: readonly string[] = ['group-salt', 'dashboard-password'];

const damageAdvice = 'do not change the folder; see "A damaged disk" in OPERATING.md';

const about = (check: string) => ({
  ok: (text: string): Finding => ({ check, result: 'ok', text }),
  warn: (text: string, advice: string): Finding => ({ check, result: 'warn', text, advice }),
  fail: (text: string, advice: string): Finding => ({ check, result: 'fail', text, advice }),
});

function foundOr(fine: Finding, ...found: readonly (Finding | false)[]): Finding[] {
  const findings = found.filter((one) => one !== false);
  return findings.length > 0 ? findings : [fine];
}

/** `running`: the node, perhaps with another configuration. `refusals`: why a start would refuse the folder. */
export function judgeConfiguration(
  facts: ConfigurationFacts,
  running: StatusValue | null,
  refusals: readonly string[] = [],
): Finding[] {
  const { ok, warn, fail } = about('configuration');
  const { faults, warnings, production, group } = facts;
  const advice = 'see the table of variables in docs/CONFIGURATION.md';
  const judge = running === null ? fail : warn;
  const whose = running === null ? '' : ' (in this environment; the node runs with another)';
  const findings = [
    ...faults.map(({ variable, text }) => judge(`${variable}: ${text}${whose}`, advice)),
    ...warnings.map(({ variable, text }) => warn(`${variable} ${text}`, advice)),
  ];
  if (faults.length > 0) return findings;
  const refused = 'give the node its own environment and folder; see "When a start is refused" in OPERATING.md';
  const pairs =
    running === null
      ? []
      : [
          ['GROUP_ID', group.groupId, running.group_id],
          ['IDENTITY_MODE', group.identityMode, running.identity_mode],
          ['ENVIRONMENT', group.environment, running.environment],
        ];
  const others = pairs.filter(([, here, there]) => here !== there);
  const rules = production ? 'the rules of production are met' : 'not in production';
  return foundOr(
    ok(`group ${group.groupId}, ${group.environment}, ${rules}`),
    ...findings,
    ...refusals.map((text) => fail(text, refused)),
    ...others.map(([variable, here, there]) =>
      warn(
        `${variable} is ${here} here, but the node runs as ${there}`,
        "run this with the node's own environment, or correct the wrong one",
      ),
    ),
  );
}

export function judgeVersions({ node, platform, version }: RuntimeFacts, running: StatusValue | null): Finding[] {
  const { ok, warn, fail } = about('versions');
  const [major = 0, minor = 0] = node.replace(/^v/, '').split('.').map(Number);
  const isTooOld = major < 20 || (major === 20 && minor < 19);
  return foundOr(
    ok(`${version} on Node ${node}`),
    isTooOld && fail(`Node ${node} is too old`, 'install Node 24, at least 20.19'),
    !isTooOld && major < 22 && warn(`Node ${node} no longer receives security fixes`, 'install Node 24'),
    platform !== 'linux' && warn(`${platform} is not a tested platform`, 'run it on Linux'),
    running !== null &&
      running.version !== version &&
      warn(
        `the node runs ${running.version}, this command is version ${version}`,
        'restart the node to complete the upgrade',
      ),
  );
}

/** The times of `files` show when the store was last written. `isSynchronised`: null if unknown. */
export function judgeClock(nowMs: number, { files }: FolderFacts, isSynchronised: boolean | null): Finding[] {
  const { ok, warn, fail } = about('clock');
  const [newest] = files.toSorted((p, q) => q.modifiedAt - p.modifiedAt);
  const now = new Date(nowMs).toISOString();
  if (newest !== undefined && newest.modifiedAt - nowMs > CLOCK_TOLERANCE_MS) {
    const seconds = Math.round((newest.modifiedAt - nowMs) / 1000);
    const text = `it is ${now}, but ${newest.name} was written ${seconds} s later`;
    return [fail(text, 'correct the clock before the next start; see "When the clock is wrong" in OPERATING.md')];
  }
  if (isSynchronised === false) {
    const advice = 'run an NTP client, such as systemd-timesyncd or chrony';
    return [warn(`${now}; no service keeps the clock correct`, advice)];
  }
  const known = isSynchronised ? 'synchronised by an NTP client' : 'whether NTP keeps the clock correct is unknown';
  return [ok(`${now}, ${known}`)];
}

/** `foreign`: an entry that no node made, of a folder without a log. */
export function judgeFolder(dir: string, foreign: string | undefined): Finding {
  const { ok, fail } = about('folder');
  if (foreign === undefined) return ok(dir);
  const text = `${dir} has the entry ${foreign}, which no node made: it is no data folder, and a start refuses it`;
  return fail(text, 'leave it as it is, and name the folder of the node with --data-dir');
}

export function judgePermissions({ folder, isFolder, files, uid, above, mayMake }: FolderFacts): Finding[] {
  const { ok, warn, fail } = about('permissions');
  if (folder === null) {
    if (mayMake) return [ok('no data folder yet: the first start creates it')];
    const text = `no data folder yet, and this user may not create one in ${above}`;
    return [fail(text, "create it, and make the node's user its owner")];
  }
  if (!isFolder) return [fail(`${folder.name} is not a folder`, 'set another one in DATA_DIR, or move it away')];
  const foreign = files.filter((file) => file.uid !== folder.uid);
  const open = files.filter(({ name, mode }) => secretFiles.includes(name) && (mode & 0o077) !== 0);
  return foundOr(
    ok('only this user has access to the data folder'),
    folder.uid !== uid &&
      fail(
        `the data folder belongs to user ${folder.uid}, and this is user ${uid}`,
        "run as the node's user, or make that user the owner: chown -R",
      ),
    (folder.mode & 0o077) !== 0 &&
      warn('the data folder is open to other users', `chmod 700 ${folder.name}; a start does it too`),
    foreign.length > 0 &&
      fail(
        `${namesOf(foreign)}: owned by another user than the folder`,
        'the node was run or files were copied as another user: chown -R the folder',
      ),
    open.length > 0 && warn(`${namesOf(open)}: open to other users`, 'chmod 600'),
  );
}

function namesOf(files: readonly FileFacts[]): string {
  const names = files.slice(0, 3).map(({ name }) => name);
  return files.length > 3 ? `${names.join(', ')} and ${files.length - 3} more` : names.join(', ');
}

export function judgeDisk(facts: FolderFacts, minBytes: number): Finding[] {
  const { ok, warn, fail } = about('disk');
  const { freeBytes, freeFiles, fileSystem, storeBytes } = facts;
  const network = networkFileSystems[fileSystem];
  const isLow = freeBytes < minBytes;
  // A snapshot needs as much as the store takes.
  const enough = Math.max(2 * minBytes, storeBytes);
  const has = `${mb(freeBytes)} free, the store takes ${mb(storeBytes)}`;
  return foundOr(
    ok(has),
    network !== undefined && fail(`the data folder lies on ${network}`, 'move it to a local disk: LMDB needs one'),
    fileSystem === TMPFS &&
      warn('the data folder lies in a file system in memory', 'move it to a disk: a reboot would delete it'),
    isLow && fail(`${has}; below ${mb(minBytes)} writes are refused`, 'free disk space; see "When the disk fills up"'),
    !isLow && freeBytes < enough && warn(has, `free disk space, up to ${mb(enough)}, before writes are refused`),
    freeFiles !== null &&
      freeFiles < FREE_FILES_MIN &&
      fail(`${freeFiles} files can still be created on this disk`, 'remove files: the disk runs out of inodes'),
  );
}

export function judgeMemory(bytes: number, running: StatusValue | null): Finding[] {
  const { ok, warn } = about('memory');
  if (running === null) return [ok(`${mb(bytes)}; see "Sizing" for the needs of a group`)];
  const { players, events } = running.counts;
  const needed = EMPTY_NODE_BYTES + STATE_TIMES * (players * PLAYER_BYTES + events * EVENT_ID_BYTES);
  const text = `${mb(bytes)}; a group of this size may need ${mb(needed)}`;
  if (needed < bytes) return [ok(text)];
  return [warn(text, 'add memory, or the system may kill the node; see "Sizing"')];
}

/** Judges a folder on which no node runs. `lastLine` is the last one that a node on this folder logged. */
export function judgeAbsence(
  dir: string,
  lastLine: string | undefined,
  { busyAddress, starting, nodes }: Surroundings,
  signs: ConfigurationFacts['signs'],
): Finding[] {
  const last = lastLine === undefined ? '' : `; its last line, of ${lastLine}`;
  const { warn } = about('elsewhere');
  const busy = `another process listens on ${busyAddress}`;
  const wait = 'wait; if it takes long, do what this reason or its log says';
  const absent = [
    about('node').fail(`no node runs on ${dir}${last}`, 'start it, or name the folder of the node with --data-dir'),
    ...(busyAddress === null ? [] : [about('port').fail(busy, 'stop it, or set PORT to another port')]),
  ];
  const present = about('node').fail(`the node on ${busyAddress} does not serve: ${starting}`, wait);
  return [
    ...(starting === null ? absent : [present]),
    ...nodes.map((folder) => warn(`a node runs on ${folder}`, `examine it with --data-dir ${folder}`)),
    ...signs.map(([text, advice]) => warn(text, advice)),
  ];
}

export function judgeSilence(what: string): Finding {
  return about('node').fail(
    what,
    "check whether the node's process is stopped, or the machine short of processors or memory; read its log",
  );
}

/** The headings, in the operator's documents, of what to do about a node that refuses writes, by its reason. */
const sections: Readonly<Record<string, string>> = {
  clock_ahead: 'When the clock is wrong',
  log_full: 'Alert PtfClusterDatabaseLarge',
  log_unreachable: 'Loss of two machines',
};

export function judgeRunning(status: StatusValue): Finding[] {
  const { ok, warn, fail } = about('node');
  const { ready, writable, reason, last_seq, weights, snapshots, pending_erasures, mailbox } = status;
  const waiting =
    pending_erasures === 1 ? '1 player is waiting for its' : `${pending_erasures} players are waiting for their`;
  const held = `record ${last_seq}, ${snapshots.length} snapshots, ${mailbox.events} events waiting`;
  const section = sections[reason ?? ''] ?? 'When the disk fills up';
  return foundOr(
    ok(`runs and accepts commands: ${held}`),
    ...status.check.faults.map((text) => about('store').fail(text, damageAdvice)),
    !ready && fail(`runs, but accepts no requests: ${reason}`, 'wait while the node recovers; otherwise read its log'),
    ready && !writable && fail(`runs, but accepts no writes: ${reason}`, `see "${section}"`),
    status.counts.events > 0 &&
      weights.computed_at === null &&
      warn('peer weights were never computed', "wait some seconds, then look for an error in the node's log"),
    pending_erasures > 0 && warn(`${waiting} erasure`, 'ptf erase --pending'),
    ...(status.alerts ?? []).map(({ alert, text }) => warn(`${alert}: ${text}`, `see "${alert}" in docs/operating/`)),
  );
}

/** Reports each alarm of etcd by its name. An alarm outlasts its cause, until it is disarmed. */
export function judgeEtcd(cluster: Pick<ClusterValue, 'members'> | null): Finding[] {
  const { fail } = about('etcd');
  const alarms = [...new Set(cluster?.members.flatMap((member) => member.alarms))];
  return alarms.map((alarm) =>
    alarm === 'NOSPACE'
      ? fail('alarm NOSPACE: etcd refuses every write', 'see "PtfClusterDatabaseLarge" in docs/operating/cluster.md')
      : fail(`alarm ${alarm}`, "restore the member that raised it: etcdctl alarm list; see etcd's manual"),
  );
}

export function judgeEvidence(status: StatusValue): Finding[] {
  if (!status.sends_reports_only) return [];
  const text =
    'no peer sent a ban, or anything that raises trust, in 30 days: reports alone condemn nobody in a small group';
  return [about('evidence').warn(text, 'ask the peers to share bans and liftings; see docs/GAME-SERVERS.md')];
}

export function judgeUnread(why: string): Finding {
  return about('store').fail(why, 'free disk space, then run this again');
}

export function judgeStore({ faults, snapshots, last_seq }: VerifyValue): Finding[] {
  const { ok, warn, fail } = about('store');
  const damaged = snapshots.filter((snapshot) => !snapshot.ok);
  const read = `intact as far as a start reads, up to record ${last_seq}; ptf verify reads all of it`;
  return foundOr(
    ok(last_seq === 0 ? 'empty: the first start creates the group' : read),
    ...faults.map((text) => fail(text, damageAdvice)),
    ...damaged.map(({ seq, fault }) =>
      warn(`snapshot ${seq} cannot be used: ${fault}`, 'a start skips it; check the disk if it is torn'),
    ),
  );
}

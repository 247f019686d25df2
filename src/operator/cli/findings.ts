/**
 * What an examination makes of what it saw: each judgement is a pure function from facts to findings, with what to do
 * about them.
 */
import type { IdentityMode } from '../../core/vocabulary.js';
import type { StatusValue, VerifyValue } from '../protocol/value-types.js';

export interface Finding {
  readonly check: string;
  readonly result: 'ok' | 'warn' | 'fail';
  readonly text: string;
  /** What to do; absent where all is well. */
  readonly advice?: string;
}

/** What the environment asks of a node. Holds no secret. */
export interface ConfigurationFacts {
  readonly faults: readonly { readonly variable: string; readonly text: string }[];
  readonly warnings: readonly { readonly variable: string; readonly text: string }[];
  readonly production: boolean;
  readonly group: { readonly groupId: string; readonly identityMode: IdentityMode; readonly environment: string };
  readonly diskFreeMinBytes: number;
}

export interface RuntimeFacts {
  /** As in `v24.1.0`. */
  readonly node: string;
  readonly platform: string;
  /** This release. */
  readonly version: string;
  /** What this machine has, or this container may take. */
  readonly memoryBytes: number;
}

export interface FileFacts {
  readonly name: string;
  readonly mode: number;
  readonly uid: number;
  readonly modifiedAt: number;
}

export interface FolderFacts {
  /** The folder itself; null where there is none. */
  readonly folder: FileFacts | null;
  /** False where something else stands in its place, or a link that leads nowhere. */
  readonly isFolder: boolean;
  readonly files: readonly FileFacts[];
  /** Who asks. */
  readonly uid: number;
  /** The nearest folder that is there, the data folder or one above it, and whether this user may make files in it. */
  readonly above: string;
  readonly mayMake: boolean;
  readonly freeBytes: number;
  /** Files that may still be made; null where the file system does not count them. */
  readonly freeFiles: number | null;
  /** The file system's magic number. */
  readonly fileSystem: number;
  readonly storeBytes: number;
}

const MB = 1e6;
/**
 * The formula of "Sizing" in OPERATING.md, as measured there: a player with 2.3 peers, an event id, a node with its
 * replica.
 */
const PLAYER_BYTES = 127;
const EVENT_ID_BYTES = 23;
const STATE_TIMES = 3.5;
const EMPTY_NODE_BYTES = 150e6;
const CLOCK_TOLERANCE_MS = 5_000;
const FREE_FILES_MIN = 100;

/** Magic numbers of statfs(2). LMDB maps its files, which no file system over a network does truly. */
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
/** Files of the data folder that are nobody's but the node's. */
const secretFiles: readonly string[] = ['group-salt', 'dashboard-password'];

const damageAdvice = 'keep the folder as it is; see "A damaged disk" in OPERATING.md';

const ok = (check: string, text: string): Finding => ({ check, result: 'ok', text });
const warn = (check: string, text: string, advice: string): Finding => ({ check, result: 'warn', text, advice });
const fail = (check: string, text: string, advice: string): Finding => ({ check, result: 'fail', text, advice });

/**
 * `running`: a node runs, and so was started with a configuration that holds; this one may be another. `refusals`: why
 * a start with it would refuse the folder.
 */
export function judgeConfiguration(
  facts: ConfigurationFacts,
  running: StatusValue | null,
  refusals: readonly string[] = [],
): Finding[] {
  const check = 'configuration';
  const { faults, warnings, production, group } = facts;
  const advice = 'see the table of variables in README.md';
  const judge = running === null ? fail : warn;
  const whose = running === null ? '' : ' (in this environment; the node runs with another)';
  const findings = [
    ...faults.map(({ variable, text }) => judge(check, `${variable}: ${text}${whose}`, advice)),
    ...warnings.map(({ variable, text }) => warn(check, `${variable} ${text}`, advice)),
  ];
  if (faults.length > 0) return findings;
  const refused = 'give the node its own environment and folder; see "When a start is refused" in OPERATING.md';
  findings.push(...refusals.map((text) => fail(check, text, refused)));
  if (running !== null) {
    const pairs = [
      ['GROUP_ID', group.groupId, running.group_id],
      ['IDENTITY_MODE', group.identityMode, running.identity_mode],
      ['ENVIRONMENT', group.environment, running.environment],
    ] as const;
    const others = pairs.filter(([, here, there]) => here !== there);
    for (const [variable, here, there] of others) {
      const text = `${variable} is ${here} here, but the node runs as ${there}`;
      findings.push(warn(check, text, "run this with the node's own environment, or mend the one that is wrong"));
    }
  }
  if (findings.length > 0) return findings;
  const rules = production ? 'the rules of production hold' : 'not in production';
  return [ok(check, `group ${group.groupId}, ${group.environment}, ${rules}`)];
}

export function judgeVersions({ node, platform, version }: RuntimeFacts, running: StatusValue | null): Finding[] {
  const check = 'versions';
  const [major = 0, minor = 0] = node.replace(/^v/, '').split('.').map(Number);
  const findings: Finding[] = [];
  if (major < 20 || (major === 20 && minor < 19)) {
    findings.push(fail(check, `Node ${node} is too old`, 'install Node 24, at least 20.19'));
  } else if (major < 22) {
    findings.push(warn(check, `Node ${node} gets no security fixes any more`, 'install Node 24'));
  }
  if (platform !== 'linux') findings.push(warn(check, `${platform} is not what this is tested on`, 'run it on Linux'));
  if (running !== null && running.version !== version) {
    const text = `the node runs ${running.version}, this command is of ${version}`;
    findings.push(warn(check, text, 'restart the node to bring the upgrade into force'));
  }
  return findings.length > 0 ? findings : [ok(check, `${version} on Node ${node}`)];
}

/** The times of `files` tell when the store was written last. `isSynchronised`: null where nobody can tell. */
export function judgeClock(nowMs: number, { files }: FolderFacts, isSynchronised: boolean | null): Finding[] {
  const check = 'clock';
  const newest = files.reduce<FileFacts | null>(
    (late, file) => (file.modifiedAt > (late?.modifiedAt ?? 0) ? file : late),
    null,
  );
  const aheadMs = (newest?.modifiedAt ?? 0) - nowMs;
  const now = new Date(nowMs).toISOString();
  if (newest !== null && aheadMs > CLOCK_TOLERANCE_MS) {
    const text = `it is ${now}, but ${newest.name} was written ${Math.round(aheadMs / 1000)} s later`;
    return [
      fail(check, text, 'set the clock right before the next start; see "When the clock is wrong" in OPERATING.md'),
    ];
  }
  if (isSynchronised === false) {
    return [warn(check, `${now}, which nothing keeps right`, 'run an NTP client, such as systemd-timesyncd or chrony')];
  }
  const known =
    isSynchronised === true ? 'kept right by an NTP client' : 'whether NTP keeps it right cannot be told here';
  return [ok(check, `${now}, ${known}`)];
}

export function judgePermissions({ folder, isFolder, files, uid, above, mayMake }: FolderFacts): Finding[] {
  const check = 'permissions';
  if (folder === null && mayMake) return [ok(check, 'no data folder yet: the first start makes it')];
  if (folder === null) {
    const text = `no data folder yet, and this user may not make one in ${above}`;
    return [fail(check, text, "make it, and give it to the node's user")];
  }
  if (!isFolder) return [fail(check, `${folder.name} is no folder`, 'name another one by DATA_DIR, or move it away')];
  const findings: Finding[] = [];
  if (folder.uid !== uid) {
    const text = `the data folder belongs to user ${folder.uid}, and this is user ${uid}`;
    findings.push(fail(check, text, "run as the node's user, or give the folder to it: chown -R"));
  }
  if ((folder.mode & 0o077) !== 0) {
    findings.push(
      warn(check, 'the data folder is open to other users', `chmod 700 ${folder.name}; a start does it too`),
    );
  }
  const foreign = files.filter((file) => file.uid !== folder.uid);
  if (foreign.length > 0) {
    const text = `${namesOf(foreign)}: not of the user whose folder it is`;
    findings.push(fail(check, text, 'somebody ran the node or copied files as another user: chown -R the folder'));
  }
  const open = files.filter(({ name, mode }) => secretFiles.includes(name) && (mode & 0o077) !== 0);
  if (open.length > 0) findings.push(warn(check, `${namesOf(open)}: open to other users`, 'chmod 600'));
  return findings.length > 0 ? findings : [ok(check, 'the data folder belongs to this user alone')];
}

function namesOf(files: readonly FileFacts[]): string {
  const names = files.slice(0, 3).map(({ name }) => name);
  return files.length > 3 ? `${names.join(', ')} and ${files.length - 3} more` : names.join(', ');
}

export function judgeDisk(facts: FolderFacts, minBytes: number): Finding[] {
  const check = 'disk';
  const { freeBytes, freeFiles, fileSystem, storeBytes } = facts;
  const findings: Finding[] = [];
  const network = networkFileSystems[fileSystem];
  if (network !== undefined) {
    findings.push(fail(check, `the data folder lies on ${network}`, 'move it to a local disk: LMDB needs one'));
  }
  if (fileSystem === TMPFS) {
    findings.push(warn(check, 'the data folder lies in memory', 'move it to a disk: it is gone after a reboot'));
  }
  const has = `${mb(freeBytes)} free, the store takes ${mb(storeBytes)}`;
  if (freeBytes < minBytes) {
    findings.push(
      fail(check, `${has}; below ${mb(minBytes)} writes are refused`, 'make room; see "When the disk fills up"'),
    );
  } else if (freeBytes < Math.max(2 * minBytes, storeBytes)) {
    findings.push(warn(check, has, 'make room for as much again as the store takes: a snapshot needs it'));
  }
  if (freeFiles !== null && freeFiles < FREE_FILES_MIN) {
    findings.push(fail(check, `${freeFiles} files may still be made on this disk`, 'remove files: its inodes run out'));
  }
  return findings.length > 0 ? findings : [ok(check, has)];
}

function mb(bytes: number): string {
  return `${(bytes / MB).toFixed(1)} MB`;
}

export function judgeMemory(bytes: number, running: StatusValue | null): Finding[] {
  const check = 'memory';
  if (running === null) return [ok(check, `${mb(bytes)}; what a group takes, "Sizing" in OPERATING.md says`)];
  const { players, events } = running.counts;
  const needed = EMPTY_NODE_BYTES + STATE_TIMES * (players * PLAYER_BYTES + events * EVENT_ID_BYTES);
  const text = `${mb(bytes)}; a group of this size may take ${mb(needed)}`;
  if (needed < bytes) return [ok(check, text)];
  return [warn(check, text, 'give it more memory before it is killed for want of it; see "Sizing"')];
}

/** A node that holds its socket, and said nothing in time. */
export function judgeSilence(what: string): Finding {
  return fail('node', what, 'is its process stopped, or the machine short of processors or memory? Read its log');
}

export function judgeRunning(status: StatusValue): Finding[] {
  const check = 'node';
  const { last_seq, weights, snapshots, pending_erasures, mailbox } = status;
  const findings = status.check.faults.map((text) => fail('store', text, damageAdvice));
  if (!status.ready) {
    findings.push(
      fail(check, `runs, but takes nothing: ${status.reason}`, 'wait while it recovers; else read its log'),
    );
  } else if (!status.writable) {
    const section = status.reason === 'clock_ahead' ? 'When the clock is wrong' : 'When the disk fills up';
    findings.push(fail(check, `runs, but takes no writes: ${status.reason}`, `see "${section}"`));
  }
  if (status.counts.events > 0 && weights.computed_at === null) {
    findings.push(
      warn(check, 'peer weights were never computed', 'wait some seconds, then look for an error in its log'),
    );
  }
  if (pending_erasures > 0) {
    const waiting = pending_erasures === 1 ? '1 player waits for its' : `${pending_erasures} players wait for their`;
    findings.push(warn(check, `${waiting} erasure`, 'ptf erase --pending'));
  }
  const held = `record ${last_seq}, ${snapshots.length} snapshots, ${mailbox.events} events waiting`;
  return findings.length > 0 ? findings : [ok(check, `runs and takes commands: ${held}`)];
}

/** A store that could not be looked at, for want of room. */
export function judgeUnread(why: string): Finding {
  return fail('store', why, 'make room, then run this again');
}

/** What a verification of a folder found that no node runs on. */
export function judgeStore(report: VerifyValue): Finding[] {
  const check = 'store';
  const damaged = report.snapshots.filter((snapshot) => !snapshot.ok);
  const findings = [
    ...report.faults.map((text) => fail(check, text, damageAdvice)),
    ...damaged.map(({ seq, fault }) =>
      warn(check, `snapshot ${seq} is damaged: ${fault}`, 'a start passes it over; look at the disk'),
    ),
  ];
  if (findings.length > 0) return findings;
  if (report.last_seq === 0) return [ok(check, 'empty: the first start forms the group')];
  return [ok(check, `holds as far as a start reads, up to record ${report.last_seq}; ptf verify reads all of it`)];
}

/**
 * What every command of `ptf` works with: the terminal, the node behind its socket, and the ways that commands have in
 * common.
 */
import type { Command } from 'commander';
import type { VerifyReport } from '../../group/api.js';
import type {
  BackupManifest,
  BackupTask,
  CopyOutcome,
  OnCopyStatus,
  RestoreReport,
  RestoreTask,
} from '../../group/backup/backup-tasks.js';
import type { VerifyMode } from '../../group/recovery/verification.js';
import type { CommandName, Requests, Values } from '../protocol/protocol.js';
import type { ConfigurationFacts, RuntimeFacts } from './findings.js';
import type { Rendered } from './renderers.js';

/** How far long work has come, on a line of its own that goes when the work is done. */
export interface Progress {
  to(done: number, total: number): void;
  end(): void;
}

export interface Terminal {
  out(text: string): void;
  err(text: string): void;
  /** The same as `out`, but waits until the text is taken; false once nobody reads any more. */
  stream(text: string): Promise<boolean>;
  /** Characters in a line; Infinity where the output is no terminal. */
  readonly width: number;
  /** Shows how far something has come; nothing where standard error is no terminal. */
  progress(what: string): Progress;
  /** Asks a person yes or no; null where there is nobody to ask. */
  readonly confirm: ((question: string) => Promise<boolean>) | null;
  /** Asks a person for a secret, which is not shown; null where there is nobody to ask. */
  readonly askSecret: ((question: string) => Promise<string>) | null;
  /** What comes in on standard input where no person sits: a little more than `charactersMax` of it at most. */
  readonly input: (charactersMax: number) => Promise<string>;
}

export interface CommandDeps {
  readonly terminal: Terminal;
  readonly runtime: RuntimeFacts;
  /** What the environment asks of a node. Throws `OperatorError` where it cannot be told. */
  configuration(): ConfigurationFacts;
  /** The data folder where `--data-dir` does not name one. Throws `OperatorError` where it cannot be told. */
  defaultDir(): string;
  /** Verifies the store of a folder without a node. */
  verifyFolder(dir: string, mode: VerifyMode, progress?: Progress): Promise<VerifyReport>;
  /**
   * Why a start with this environment, which is without fault, would refuse a folder whose store holds; empty where it
   * would not.
   */
  startProblems(dir: string): Promise<readonly string[]>;
  /**
   * Keeps a small secret in a data folder, whole and durable, readable by its owner only. Throws `OperatorError` where
   * the folder is another user's.
   */
  keepSecret(dir: string, name: string, text: string): Promise<void>;
  readonly backups: BackupCommands;
  /**
   * Frees a copied data folder of the owner that runs on the original. Rejects with `OperatorError` where that owner
   * works on this very folder.
   */
  adoptFolder(dir: string): Promise<'adopted' | 'free'>;
  /** Moves a folder into an empty cluster, or out of one. Rejects with `OperatorError` where that is refused. */
  moveData(direction: 'import' | 'export', dir: string): Promise<MovedData>;
}

/** The shared log that the folder belongs to, or belonged to, and the newest record that it has. */
export interface MovedData {
  readonly cluster_id: string;
  readonly last_seq: number;
}

export interface Session
  extends Pick<
    CommandDeps,
    | 'runtime'
    | 'configuration'
    | 'verifyFolder'
    | 'startProblems'
    | 'keepSecret'
    | 'backups'
    | 'adoptFolder'
    | 'moveData'
  > {
  readonly terminal: Terminal;
  dir(): string;
  /** Asks the node. What the schema would refuse is wrong usage, whether or not a node runs. */
  ask<C extends CommandName>(command: C, request: Requests[C], progress?: Progress): Promise<Values[C]>;
  /** Takes what the command ends with. */
  done(shown: Rendered): void;
}

/** Options of every command that changes something. */
export interface Signed {
  readonly by?: string;
}

/** The help of a command ends with them. */
export function examples(...lines: readonly string[]): string {
  return `\nExamples:\n${lines.map((line) => `  $ ptf ${line}`).join('\n')}`;
}

/** A command that changes something says who asked. */
export function signed(command: Command): Command {
  return command.option('--by <name>', 'who asks, for the audit log');
}

export function signature(by: string | undefined): Signed {
  return by === undefined ? {} : { by };
}

/** Shows `what` on the terminal while `work` runs. */
export async function showing<T>(
  { terminal }: Session,
  what: string,
  work: (progress: Progress) => Promise<T>,
): Promise<T> {
  const progress = terminal.progress(what);
  try {
    return await work(progress);
  } finally {
    progress.end();
  }
}

/** Carries out what is asked, and tells how it stands. */
export interface BackupCommands {
  backUp(task: BackupTask, stands: OnCopyStatus): Promise<CopyOutcome<BackupManifest>>;
  restore(task: RestoreTask, stands: OnCopyStatus): Promise<CopyOutcome<RestoreReport>>;
}

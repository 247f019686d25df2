/** The context of every `ptf` command, and helpers that commands share. */
import type { Command } from 'commander';
import type { VerifyReport } from '../../group/api.js';
import type * as tasks from '../../group/backup/backup-tasks.js';
import type { VerifyMode } from '../../group/recovery/verification.js';
import type { OperationName, Requests, Values } from '../../operations/table.js';
import type { Progress, Terminal } from '../../terminal.js';
import type { ConfigurationFacts, RuntimeFacts } from './findings.js';

export interface Rendered {
  readonly value: object;
  lines(width: number): readonly string[];
  /** Set if the command did its work and found a problem: the exit code is then 1. */
  readonly fault?: { readonly code: string; readonly error: string };
}

export interface OperatorTerminal extends Terminal {
  /** Like `out`, but waits until the text is written; false if the reader has closed the stream. */
  stream(text: string): Promise<boolean>;
  /** Asks the user yes or no; null if there is no terminal. */
  readonly confirm: ((question: string) => Promise<boolean>) | null;
  /** Reads standard input that is no terminal: at most a little more than `charactersMax` of it. */
  readonly input: (charactersMax: number) => Promise<string>;
}

export interface CommandDeps {
  readonly terminal: OperatorTerminal;
  readonly runtime: RuntimeFacts;
  /** Returns the configuration in the environment. Throws `OperatorError` if it is invalid. */
  configuration(): ConfigurationFacts;
  /** Returns the data folder to use without `--data-dir`. Throws `OperatorError` if the configuration is invalid. */
  defaultDir(): string;
  /** Returns the time and text of the last line that a node on a folder logged; undefined if there is none. */
  lastLine(dir: string): string | undefined;
  foreignEntry(dir: string): string | undefined;
  verifyFolder(dir: string, mode: VerifyMode, progress?: Progress): Promise<VerifyReport>;
  /** Returns the reasons why a start with this valid environment would refuse a folder with an intact store. */
  startProblems(dir: string): Promise<readonly string[]>;
  /** Stores a secret durably, for its owner only. Throws `OperatorError` if the folder is another user's. */
  keepSecret(dir: string, name: string, text: string): Promise<void>;
  readonly backups: {
    backUp(task: tasks.BackupTask, onStatus: tasks.OnCopyStatus): Promise<tasks.CopyOutcome<tasks.BackupManifest>>;
    restore(task: tasks.RestoreTask, onStatus: tasks.OnCopyStatus): Promise<tasks.CopyOutcome<tasks.RestoreReport>>;
  };
  /** Detaches a copied folder from the original's owner. Rejects with `OperatorError` if that uses this one. */
  adoptFolder(dir: string): Promise<'adopted' | 'free'>;
  /** Moves a folder into an empty cluster, or out of one. Rejects with `OperatorError` if that is refused. */
  moveData(direction: 'import' | 'export', dir: string): Promise<MovedData>;
}

/** The shared log of the folder, present or former, and the folder's newest record. */
export interface MovedData {
  readonly cluster_id: string;
  readonly last_seq: number;
}

export interface CommandContext extends Omit<CommandDeps, 'defaultDir'> {
  dir(): string;
  /** Sends a request to the node. A request that the schema refuses is wrong usage, whether or not a node runs. */
  ask<N extends OperationName>(name: N, request: Requests[N], progress?: Progress): Promise<Values[N]>;
  done(shown: Rendered): void;
}

export function examples(...lines: readonly string[]): string {
  return `\nExamples:\n${lines.map((line) => `  $ ptf ${line}`).join('\n')}`;
}

export function signed(command: Command): Command {
  return command.option('--by <name>', 'name of the operator, for the audit log');
}

export async function showing<T>(
  { terminal }: CommandContext,
  what: string,
  work: (progress: Progress) => Promise<T>,
): Promise<T> {
  const progress = terminal.progress(what);
  return work(progress).finally(() => progress.end());
}

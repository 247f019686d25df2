/** What every command of `ptf-peer` works with: the terminal, the surroundings of the process and its end. */
import { loadPeerConfig, type PeerConfig, type Surroundings } from '../config/peer-config.js';
import type { ExitCode } from '../peer-error.js';

/** How far long work has come, on a line of its own that goes when the work is done. */
export interface Progress {
  to(done: number, total: number): void;
  end(): void;
}

export interface Terminal {
  out(text: string): void;
  err(text: string): void;
  /** Characters in a line; Infinity where the output is no terminal. */
  readonly width: number;
  /** Shows how far something has come; nothing where standard error is no terminal. */
  progress(what: string): Progress;
  /** Asks a person for a secret, which is not shown; null where there is nobody to ask. */
  readonly askSecret: ((question: string) => Promise<string>) | null;
}

export interface PeerDeps extends Surroundings {
  readonly terminal: Terminal;
  readonly version: string;
  /** Bytes that the process takes: all that is resident, and the objects on the heap. */
  readonly memory: () => { readonly rss: number; readonly heapUsed: number };
  /** Aborted by SIGINT, SIGTERM and SIGHUP: a command that runs on ends, and one that can be resumed stops. */
  readonly ending: AbortSignal;
}

export interface Session extends PeerDeps {
  /** `--config`, where it was given. */
  readonly configOption: () => string | undefined;
  /** Whether one JSON document is asked for. */
  readonly json: () => boolean;
  /** Reads the configuration. Rejects with `wrong_usage` where something is missing. */
  readonly config: () => Promise<PeerConfig>;
  /** Says what the command ends with; 0 where nobody says anything. */
  readonly end: (code: ExitCode) => void;
}

export function sessionOf(
  deps: PeerDeps,
  options: () => { config?: string; json?: boolean },
  end: (code: ExitCode) => void,
): Session {
  const configOption = () => options().config;
  return {
    ...deps,
    configOption,
    json: () => options().json === true,
    config: () => loadPeerConfig(deps, configOption()),
    end,
  };
}

/** Resolves once the signal is aborted. */
export function untilAborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
}

/** Examples below the help of a command. */
export function examples(...lines: readonly string[]): string {
  return `\nExamples:\n${lines.map((line) => `  ptf-peer ${line}`).join('\n')}`;
}

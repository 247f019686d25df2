/** Declares the context of every command of `ptf-peer`: terminal, environment, signal to end, and exit code. */
import type { PeerConfig, Surroundings } from '../config/peer-config.js';
import type { ExitCode } from '../peer-error.js';

/** Progress of long work, on a line of its own that disappears when the work is done. */
export interface Progress {
  to(done: number, total: number): void;
  end(): void;
}

export interface Terminal {
  out(text: string): void;
  err(text: string): void;
  /** Characters per line; Infinity if the output is no terminal. */
  readonly width: number;
  /** Shows the progress of `what`; shows nothing if standard error is no terminal. */
  progress(what: string): Progress;
  /** Asks the user for a secret, which is not echoed; null if there is no terminal. */
  readonly askSecret: ((question: string) => Promise<string>) | null;
}

export interface PeerDeps extends Surroundings {
  readonly terminal: Terminal;
  readonly version: string;
  /** Memory of the process in bytes: the resident set, and the used heap. */
  readonly memory: () => { readonly rss: number; readonly heapUsed: number };
  /** Aborted by SIGINT, SIGTERM and SIGHUP: a long-running command ends, and one that can be resumed stops. */
  readonly ending: AbortSignal;
}

export interface Session extends PeerDeps {
  readonly configOption: () => string | undefined;
  readonly json: () => boolean;
  /** Reads the configuration. Rejects with `wrong_usage` if a value is missing. */
  readonly config: () => Promise<PeerConfig>;
  readonly end: (code: ExitCode) => void;
}

/** Declares the context of every command of `ptf-peer`: terminal, environment, signal to end, and exit code. */
import type { Terminal } from '../../terminal.js';
import type { PeerConfig, Surroundings } from '../config/peer-config.js';
import type { ExitCode } from '../peer-error.js';
import type { SourceOptions } from '../sources/source.js';

export interface PeerDeps extends Surroundings {
  readonly terminal: Terminal;
  readonly input: SourceOptions['input'];
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

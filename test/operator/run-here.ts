/** Runs the operator command in this process, with what it prints kept, beside a node where one is served. */
import { pino } from 'pino';
import type { OperatorApi, VerifyReport } from '../../src/group/api.js';
import { type ExitCode, runCommand } from '../../src/operator/cli/command.js';
import type { CommandDeps } from '../../src/operator/cli/command-context.js';
import type { ConfigurationFacts } from '../../src/operator/cli/findings.js';
import { startOperatorSocket } from '../../src/operator/protocol/socket-server.js';

export interface Ran {
  readonly code: ExitCode;
  readonly out: string;
  readonly err: string;
}

export const configuration: ConfigurationFacts = {
  faults: [],
  warnings: [],
  production: false,
  group: { groupId: 'local', identityMode: 'privacy-first', environment: 'dev' },
  diskFreeMinBytes: 1e6,
  address: null,
  folders: [],
  signs: [],
};

export const runtime = { node: 'v24.1.0', platform: 'linux', version: '9.8.7', memoryBytes: 8e9 };

/** A store of nine records that was found intact. */
export const intactReport: VerifyReport = {
  ok: true,
  lastSeq: 9,
  batches: 2,
  records: 9,
  auditEntries: 1,
  snapshots: [],
  faults: [],
};

/** Opens the operator socket of a group in a folder, as its node does. A player has no id but its hash. */
export function serveOperator(dir: string, group: OperatorApi) {
  const pseudonymise = (id: string) => (id.length === 64 ? Buffer.from(id, 'hex') : null);
  return startOperatorSocket({ dir, log: pino({ level: 'silent' }), group, version: runtime.version, pseudonymise });
}

/** The lines that a command printed, with ` | ` for each run of blanks between columns. */
export const linesOf = ({ out }: Ran): string[] => out.trimEnd().replace(/ {2,}/g, ' | ').split('\n');

const notAskedFor = () => Promise.reject(new Error('not asked for'));

/** `over` replaces parts of what a process would give the command; a terminal of 200 characters with nobody at it. */
export async function runHere(
  args: readonly string[],
  dir: string,
  over: Partial<Omit<CommandDeps, 'terminal'>> & { readonly terminal?: Partial<CommandDeps['terminal']> } = {},
): Promise<Ran> {
  let out = '';
  let err = '';
  const code = await runCommand(args, {
    runtime,
    configuration: () => configuration,
    defaultDir: () => dir,
    lastLine: () => undefined,
    foreignEntry: () => undefined,
    verifyFolder: notAskedFor,
    startProblems: async () => [],
    keepSecret: notAskedFor,
    backups: { backUp: notAskedFor, restore: notAskedFor },
    adoptFolder: notAskedFor,
    moveData: notAskedFor,
    ...over,
    terminal: {
      out: (text) => {
        out += text;
      },
      err: (text) => {
        err += text;
      },
      width: 200,
      stream: async (text) => {
        out += text;
        return true;
      },
      progress: () => ({ to: () => {}, end: () => {} }),
      confirm: null,
      askSecret: null,
      input: notAskedFor,
      ...over.terminal,
    },
  });
  return { code, out, err };
}

/**
 * Runs the operator command in this process, with what it prints kept: for what a process of its own could not be told
 * to be.
 */
import { type ExitCode, runCommand } from '../../src/operator/cli/command.js';
import type { CommandDeps } from '../../src/operator/cli/command-context.js';
import type { ConfigurationFacts } from '../../src/operator/cli/findings.js';

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
    verifyFolder: () => Promise.reject(new Error('not asked for')),
    startProblems: async () => [],
    keepSecret: () => {
      throw new Error('not asked for');
    },
    backups: {
      backUp: () => Promise.reject(new Error('not asked for')),
      restore: () => Promise.reject(new Error('not asked for')),
    },
    adoptFolder: () => Promise.reject(new Error('not asked for')),
    moveData: () => Promise.reject(new Error('not asked for')),
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
      input: () => Promise.reject(new Error('not asked for')),
      ...over.terminal,
    },
  });
  return { code, out, err };
}

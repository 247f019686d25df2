/** Where and with what a result was measured: stands in every result document. */
import { execFileSync } from 'node:child_process';
import { cpus, release, type as systemName } from 'node:os';
import { fileURLToPath } from 'node:url';

export interface Environment {
  readonly node: string;
  readonly system: string;
  readonly cpu: string;
  readonly cores: number;
  /**
   * Of this project, wherever it is run from. Null outside a git checkout of its own; ends in `+` where the tree has
   * changes.
   */
  readonly commit: string | null;
}

const root = fileURLToPath(new URL('../../', import.meta.url));

/** To be asked before a run: what is built then is measured, whatever the checkout becomes meanwhile. */
export function environment(): Environment {
  const cores = cpus();
  return {
    node: process.version,
    system: `${systemName()} ${release()}`,
    cpu: cores[0]?.model.trim() ?? 'unknown',
    cores: cores.length,
    commit: commit(),
  };
}

function commit(): string | null {
  const git = (...args: string[]) =>
    execFileSync('git', args, { cwd: root, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });
  try {
    // A checkout around an unpacked project tells nothing of it.
    if (git('rev-parse', '--show-prefix').trim() !== '') return null;
    const changes = git('status', '--porcelain', '--untracked-files=no');
    return `${git('rev-parse', '--short', 'HEAD').trim()}${changes === '' ? '' : '+'}`;
  } catch {
    // No git, or no checkout: the result stands without it.
    return null;
  }
}

/** Where and with what a result was measured: stands in every result document. */
import { execFileSync } from 'node:child_process';
import { cpus, release, type as systemName } from 'node:os';

export interface Environment {
  readonly node: string;
  readonly system: string;
  readonly cpu: string;
  readonly cores: number;
  /** Null outside a git checkout; ends in `+` where the tree has changes. */
  readonly commit: string | null;
}

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
    execFileSync('git', args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });
  try {
    const changes = git('status', '--porcelain', '--untracked-files=no');
    return `${git('rev-parse', '--short', 'HEAD').trim()}${changes === '' ? '' : '+'}`;
  } catch {
    // No git, or no checkout: the result stands without it.
    return null;
  }
}

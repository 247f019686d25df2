/** Describes the machine and the build of a measurement. Every result document contains it. */
import { execFileSync } from 'node:child_process';
import { cpus, release, type as systemName } from 'node:os';
import { fileURLToPath } from 'node:url';

export interface Environment {
  readonly node: string;
  readonly system: string;
  readonly cpu: string;
  readonly cores: number;
  /** Commit of this project. Null outside its own git checkout; ends in `+` if the tree has changes. */
  readonly commit: string | null;
}

const root = fileURLToPath(new URL('../../', import.meta.url));

/** Returns the environment. Call it before a run, because the checkout may change during the run. */
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
    // A checkout that contains the unpacked project is not the project's own.
    if (git('rev-parse', '--show-prefix').trim() !== '') return null;
    const changes = git('status', '--porcelain', '--untracked-files=no');
    return `${git('rev-parse', '--short', 'HEAD').trim()}${changes === '' ? '' : '+'}`;
  } catch {
    // Without git or a checkout the result has no commit.
    return null;
  }
}

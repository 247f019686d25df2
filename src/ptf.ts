#!/usr/bin/env node
/** The operator command's process: arguments, environment, terminal and exit code. What it does stands in `operator/`. */
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline/promises';
import { SingleBar } from 'cli-progress';
import { withDotenv } from './config.js';
import { OperatorError } from './operator/client.js';
import { runCommand } from './operator/command.js';
import type { Progress } from './operator/session.js';
import { variables } from './variables.js';
import { version } from './version.js';
import { verifyInChild } from './workers/verification.js';

/** A file's text; undefined where there is none. */
function readText(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw error;
  }
}

/** `DATA_DIR` as the node reads it. */
function defaultDir(): string {
  const { name, fallback } = variables.dataDir;
  let text: string | undefined;
  try {
    text = withDotenv(process.env, readText, '.env')[name]?.trim();
  } catch {
    throw new OperatorError('wrong_usage', '.env is there but cannot be read; name the folder with --data-dir', 2);
  }
  return text === undefined || text === '' ? fallback : text;
}

async function confirm(question: string): Promise<boolean> {
  const lines = createInterface({ input: process.stdin, output: process.stderr });
  // The end of the input, by Ctrl-D or Ctrl-C, is a no; whether the question then rejects depends on the release of Node.
  const ended = once(lines, 'close').then(() => '');
  const asked = lines.question(`${question} [y/N] `).catch(() => '');
  const answer = await Promise.race([asked, ended]);
  lines.close();
  return /^y(es)?$/i.test(answer.trim());
}

/** A bar on the terminal's line, gone when the work is done. */
function progressOf(what: string): Progress {
  const bar = new SingleBar({
    format: `${what} {bar} {percentage}%, {duration_formatted}`,
    clearOnComplete: true,
    hideCursor: true,
    stream: process.stderr,
    gracefulExit: true,
  });
  let started = false;
  return {
    to(done, total) {
      if (!started) bar.start(total, done);
      started = true;
      bar.setTotal(total);
      bar.update(done);
    },
    end: () => bar.stop(),
  };
}

const noProgress: Progress = { to: () => {}, end: () => {} };

// A reader that has seen enough, as `head` has.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error;
});

process.exitCode = await runCommand(process.argv.slice(2), {
  terminal: {
    out: (text) => process.stdout.write(text),
    err: (text) => process.stderr.write(text),
    width: process.stdout.isTTY ? process.stdout.columns : Number.POSITIVE_INFINITY,
    progress: process.stderr.isTTY ? progressOf : () => noProgress,
    confirm: process.stdin.isTTY ? confirm : null,
  },
  defaultDir,
  version,
  verifyFolder: (dir, progress) => verifyInChild(dir, 'full', progress?.to),
});

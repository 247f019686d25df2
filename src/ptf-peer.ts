/** Runs the command `ptf-peer` as a process; its commands are in `peer/`. */
import { existsSync, readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { clearLine, cursorTo } from 'node:readline';
import { runPeerCommand } from './peer/cli/peer-command.js';
import type { Progress } from './peer/cli/session.js';
import { askSecret, terminalWidth } from './terminal.js';

function packageVersion(): string {
  for (let folder = new URL('.', import.meta.url); ; folder = new URL('..', folder)) {
    const file = new URL('package.json', folder);
    if (existsSync(file)) return (JSON.parse(readFileSync(file, 'utf8')) as { version: string }).version;
    if (folder.pathname === '/') return 'unknown';
  }
}

/** Drawn here, because a library for it would double the packages that a game server installs. */
function progressOf(what: string): Progress {
  let drawnAt = Number.NEGATIVE_INFINITY;
  const goBack = () => {
    cursorTo(process.stderr, 0);
    clearLine(process.stderr, 1);
  };
  return {
    to(done, total) {
      const now = performance.now();
      if (now - drawnAt < redrawMs && done < total) return;
      drawnAt = now;
      const part = total === 0 ? 1 : done / total;
      const full = Math.round(part * barLength);
      const bar = '#'.repeat(full) + '-'.repeat(barLength - full);
      goBack();
      process.stderr.write(`${what} [${bar}] ${Math.floor(part * 100)}%, ${done} of ${total}`);
    },
    end: goBack,
  };
}

const redrawMs = 100;
const barLength = 24;

const ending = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  // The second signal ends the process at once.
  process.once(signal, () => ending.abort());
}
for (const stream of [process.stdout, process.stderr]) {
  // The reader of the output, such as `head`, has closed the stream, or the terminal is gone.
  stream.on('error', () => undefined);
}

process.exitCode = await runPeerCommand(process.argv.slice(2), {
  env: process.env,
  home: homedir(),
  version: packageVersion(),
  memory: () => process.memoryUsage(),
  ending: ending.signal,
  terminal: {
    out: (text) => process.stdout.write(text),
    err: (text) => process.stderr.write(text),
    width: terminalWidth(process.stdout),
    progress: process.stderr.isTTY ? progressOf : () => ({ to: () => {}, end: () => {} }),
    askSecret: process.stdin.isTTY ? (question) => askSecret(process, question) : null,
  },
});

/** Runs the command `ptf-peer` as a process; its commands are in `peer/`. */
import { existsSync, readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { runPeerCommand } from './peer/cli/peer-command.js';
import { reportLostOutput, terminalOf } from './terminal.js';

function packageVersion(): string {
  for (let folder = new URL('.', import.meta.url); ; folder = new URL('..', folder)) {
    const file = new URL('package.json', folder);
    if (existsSync(file)) return (JSON.parse(readFileSync(file, 'utf8')) as { version: string }).version;
    if (folder.pathname === '/') return 'unknown';
  }
}

const ending = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  // The second signal ends the process at once.
  process.once(signal, () => ending.abort());
}
reportLostOutput(process, 'ptf-peer');

process.exitCode = await runPeerCommand(process.argv.slice(2), {
  env: process.env,
  home: homedir(),
  version: packageVersion(),
  memory: () => process.memoryUsage(),
  ending: ending.signal,
  terminal: terminalOf(process),
  input: process.stdin,
});

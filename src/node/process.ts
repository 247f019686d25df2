/**
 * Runs the process of a node: reads the environment, starts the node and handles signals. Exit codes: 0 stopped as
 * requested, 1 refused or failed, 2 faults in the configuration; a second signal ends the process by that signal.
 */
import { resolve } from 'node:path';
import { destination } from 'pino';
import { limits } from '../limits.js';
import { readText } from '../store/files/small-file.js';
import { keepLastLine } from '../store/ownership/owner-record.js';
import { type Config, describeConfig, type Environ, loadConfig, withDotenv } from './config.js';
import { createLog } from './logger.js';
import { type RunningNode, startNode } from './node.js';
import { readyText } from './operator-access.js';
import { RejoinError, StartEndedError, StartRefusedError } from './startup.js';
import type { Remark } from './variables.js';

/** `npm start` forwards a terminal's Ctrl-C, which the node got already: the second signal is an echo. */
const underNpm = process.env.npm_lifecycle_event === 'start';

/** Threads would delay an exit. A signal to the first process of a container may have no effect, but an abort has. */
function endAtOnce(signal: NodeJS.Signals): void {
  process.removeAllListeners(signal);
  process.kill(process.pid, signal);
  process.abort();
}

function readEnvironment(): Environ {
  try {
    return withDotenv(process.env, readText, '.env');
  } catch {
    return exitWithProblems([{ variable: '.env', text: 'exists but cannot be read' }]);
  }
}

function exitWithProblems(problems: readonly Remark[]): never {
  for (const { variable, text } of problems) process.stderr.write(`${variable}: ${text}\n`);
  process.exit(2);
}

function run(config: Config, warnings: readonly Remark[]): void {
  // Synchronous, so that the last line before an exit is never lost.
  const stdout = destination({ fd: 1, sync: true });
  let lastLine = '';
  const write = (line: string): void => {
    lastLine = line;
    stdout.write(line);
  };
  const log = createLog(config.logLevel, { write });
  const keepLine = () => keepLastLine(resolve(config.dataDir), lastLine);
  process.on('exit', keepLine);

  let stoppingSince: number | undefined;
  /** Ends a start that only waits, such as for a copy of another node's data. */
  const ending = new AbortController();
  const begin = () => startNode(config, { log, onFatal: fail, ending: ending.signal });

  /** An exit would wait for the threads, so the process is killed if they do not end in time. */
  const exitFailed = (running: Promise<RunningNode>): void => {
    setTimeout(endAtOnce, limits.failedExitMs, 'SIGKILL');
    running.then((node) => node.abandon()).finally(() => process.exit(1));
  };

  /** The new start fetches what the folder lacks. If the close takes too long, the process ends instead. */
  const startAgain = (why: string): void => {
    log.warn({ why }, 'starting again');
    const before = starting;
    const late = setTimeout(() => {
      log.fatal(`the node did not close within ${limits.shutdownMs} ms, and so cannot start again in this process`);
      exitFailed(before);
    }, limits.shutdownMs);
    // A start that failed has closed what it opened.
    const closed = before
      .then(
        (node) => node.close(),
        () => undefined,
      )
      .finally(() => clearTimeout(late));
    starting = closed.then(begin);
    starting.catch(fail);
  };

  const fail = (error: unknown): void => {
    if (stoppingSince !== undefined && (error instanceof RejoinError || error instanceof StartEndedError)) return;
    if (error instanceof RejoinError) {
      startAgain(error.message);
      return;
    }
    if (error instanceof StartRefusedError) log.fatal(error.message);
    else log.fatal({ err: error }, 'the node cannot continue');
    keepLine();
    exitFailed(starting);
  };
  process.on('uncaughtException', fail);
  process.on('unhandledRejection', fail);

  const stop = (signal: 'SIGTERM' | 'SIGINT'): void => {
    if (stoppingSince !== undefined) {
      if (underNpm && performance.now() - stoppingSince < limits.signalEchoMs) return;
      endAtOnce(signal);
    }
    stoppingSince = performance.now();
    log.info({ signal }, 'stopping');
    setTimeout(() => {
      log.fatal(`the node did not stop within ${limits.shutdownMs} ms`);
      exitFailed(starting);
    }, limits.shutdownMs);
    ending.abort();
    // A start in progress ends first, because its recovery holds the data folder.
    starting
      .then((node) => node.close())
      .catch((error: unknown) => {
        if (!(error instanceof StartEndedError || error instanceof RejoinError)) throw error;
      })
      .then(() => {
        log.info('stopped');
        process.exit(0);
      })
      .catch(fail);
  };
  process.on('SIGTERM', stop);
  process.on('SIGINT', stop);

  log.info({ config: describeConfig(config) }, 'starting');
  for (const { variable, text } of warnings) log.warn({ variable }, `${variable} ${text}`);
  let starting = begin();
  starting.then((node) => {
    keepLine();
    if (process.stdout.isTTY) stdout.write(readyText(node.address, node.dashboardAddress, resolve(config.dataDir)));
  }, fail);
}

const outcome = loadConfig(readEnvironment(), readText);
if (outcome.ok) run(outcome.config, outcome.warnings);
else exitWithProblems([...outcome.problems, ...outcome.warnings]);

/**
 * The process: environment in, signals, exit code out. It joins nothing itself; `node.ts` does. Exit codes: 0 stopped
 * as asked, 1 refused or failed, 2 faults in the configuration, 128 + number for a second signal.
 */
import { readFileSync } from 'node:fs';
import { constants } from 'node:os';
import { type Config, describeConfig, type Environ, loadConfig, withDotenv } from './config.js';
import { limits } from './limits.js';
import { createLog } from './log.js';
import { StartRefusedError, startNode } from './node.js';

/** `npm start` hands a terminal's Ctrl-C on, which the terminal sent to the node already: the second is an echo. */
const underNpm = process.env.npm_lifecycle_event === 'start';
const echoMs = 200;

/** A file's text; undefined where there is none. */
function readText(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw error;
  }
}

function readEnvironment(): Environ {
  try {
    return withDotenv(process.env, readText, '.env');
  } catch {
    return exitWithFaults([{ variable: '.env', text: 'is there but cannot be read' }]);
  }
}

function exitWithFaults(faults: readonly { readonly variable: string; readonly text: string }[]): never {
  for (const { variable, text } of faults) process.stderr.write(`${variable}: ${text}\n`);
  process.exit(2);
}

function run(config: Config, warnings: readonly { readonly variable: string; readonly text: string }[]): void {
  const log = createLog(config.logLevel);

  const fail = (error: unknown): never => {
    if (error instanceof StartRefusedError) log.fatal(error.message);
    else log.fatal({ err: error }, 'the node cannot go on');
    process.exit(1);
  };
  process.on('uncaughtException', fail);
  process.on('unhandledRejection', fail);

  /**
   * For a log that cannot be written. An exit waits for the threads, and one of the lowest priority may keep it waiting for
   * seconds on a busy machine: whoever does not end in time is not waited for.
   */
  const failSoon = (error: unknown): void => {
    log.fatal({ err: error }, 'the node cannot go on');
    setTimeout(() => process.kill(process.pid, 'SIGKILL'), limits.failedExitMs);
    starting.then((node) => node.abandon()).finally(() => process.exit(1));
  };

  log.info({ config: describeConfig(config) }, 'starting');
  for (const { variable, text } of warnings) log.warn({ variable }, `${variable} ${text}`);
  const starting = startNode(config, { log, onFatal: failSoon });
  starting.catch(fail);

  let stoppingSince: number | undefined;
  const stop = (signal: 'SIGTERM' | 'SIGINT'): void => {
    if (stoppingSince !== undefined) {
      if (underNpm && performance.now() - stoppingSince < echoMs) return;
      process.exit(128 + constants.signals[signal]);
    }
    stoppingSince = performance.now();
    log.info({ signal }, 'stopping');
    setTimeout(() => {
      log.fatal(`the node did not stop within ${limits.shutdownMs} ms`);
      process.exit(1);
    }, limits.shutdownMs);
    // A start that is under way ends first: its recovery holds the data folder.
    starting
      .then((node) => node.close())
      .then(() => {
        log.info('stopped');
        process.exit(0);
      })
      .catch(fail);
  };
  process.on('SIGTERM', stop);
  process.on('SIGINT', stop);
}

const outcome = loadConfig(readEnvironment(), readText);
if (outcome.ok) run(outcome.config, outcome.warnings);
else exitWithFaults(outcome.faults);

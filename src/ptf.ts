#!/usr/bin/env node
/** Runs the operator command `ptf` as a process; its commands are in `operator/`. */
import { existsSync } from 'node:fs';
import { totalmem } from 'node:os';
import { createInterface } from 'node:readline/promises';
import { messageOf } from './errors.js';
import {
  configurationOf,
  dataDirOf,
  type OperatorEnvironment,
  operatorEnvironment,
} from './node/operator-environment.js';
import { folderWork } from './node/operator-folder.js';
import { version } from './node/version.js';
import { runCommand } from './operator/cli/command.js';
import { OperatorError } from './operator/cli/node-client.js';
import { foreignEntry } from './store/backup/backup-folder.js';
import { readText } from './store/files/small-file.js';
import { readLastLine } from './store/ownership/owner-record.js';
import { lineFrom, reportLostOutput, terminalOf } from './terminal.js';

function environment(): OperatorEnvironment {
  try {
    return operatorEnvironment(process.env, readText);
  } catch (error) {
    const text = `PTF_ENV_FILE or .env cannot be read: ${messageOf(error)}; name the folder with --data-dir`;
    throw new OperatorError('wrong_usage', text, 2);
  }
}

async function confirm(question: string): Promise<boolean> {
  const lines = createInterface({ input: process.stdin, output: process.stderr });
  return /^y(es)?$/i.test((await lineFrom(lines, `${question} [y/N] `)).trim());
}

async function input(charactersMax: number): Promise<string> {
  let text = '';
  for await (const chunk of process.stdin.setEncoding('utf8')) {
    text += chunk;
    if (text.length > charactersMax) break;
  }
  return text;
}

const done = 'a change that was asked for is made all the same; rotate a key that was to be shown';
reportLostOutput(process, 'ptf', `; ${done}`);

process.exitCode = await runCommand(process.argv.slice(2), {
  terminal: {
    ...terminalOf(process),
    stream: (text) => new Promise((written) => process.stdout.write(text, (error) => written(!error))),
    confirm: process.stdin.isTTY ? confirm : null,
    input,
  },
  defaultDir: () => dataDirOf(environment()),
  configuration: () => configurationOf(environment(), readText, existsSync),
  lastLine: readLastLine,
  runtime: {
    node: process.version,
    platform: process.platform,
    version,
    // Without a limit, `constrainedMemory` is 0 or larger than the memory.
    memoryBytes: Math.min(totalmem(), process.constrainedMemory() || Number.POSITIVE_INFINITY),
  },
  foreignEntry,
  ...folderWork(environment),
});

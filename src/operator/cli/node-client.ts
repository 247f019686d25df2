/** The command's end of the operator's socket: one request, one answer. */
import { request as httpRequest } from 'node:http';
import { limits } from '../../limits.js';
import { type CommandName, commandPath, type Requests, type Values } from '../protocol/protocol.js';
import { findPlace } from '../protocol/socket-path.js';
import type { Progress } from './session.js';

/** What a command ends with where it is not done: its stable code, and the exit code that goes with it. */
export class OperatorError extends Error {
  override readonly name = 'OperatorError';

  constructor(
    readonly code: string,
    message: string,
    readonly exitCode: 1 | 2 | 3 = 1,
    readonly details: unknown = undefined,
  ) {
    super(message);
  }
}

/** No node serves the folder: nothing was asked, and nothing was done. */
export class NoNodeError extends OperatorError {
  constructor(dir: string) {
    super('no_node', `no node runs on ${dir}; start one, or name its folder with --data-dir or DATA_DIR`, 3);
  }
}

/** Commands whose work grows with the store: they may take as long as they need. */
const slow: ReadonlySet<CommandName> = new Set([
  'erase',
  'audit-tail',
  'audit-page',
  'weights-page',
  'simulate',
  'verify',
  'cluster-scrub',
  'cluster-step-down',
]);

/**
 * The value of a command; `progress` hears how far long work has come. Rejects with `NoNodeError`, or with an
 * `OperatorError` that has the code of the refusal.
 */
export async function callNode<C extends CommandName>(
  dir: string,
  command: C,
  body: Requests[C],
  progress?: Progress,
): Promise<Values[C]> {
  const last = await post(dir, command, JSON.stringify(body), progress);
  const { ok, value, code, error, details } = parsed(last);
  if (ok === true) return value as Values[C];
  if (typeof code === 'string' && typeof error === 'string') throw new OperatorError(code, error, 1, details);
  throw new OperatorError('no_answer', 'the node gave an answer that this command does not understand');
}

/** The members of an answer; none where it is not a JSON object. */
function parsed(text: string): Readonly<Record<string, unknown>> {
  try {
    return { ...JSON.parse(text) };
  } catch {
    return {};
  }
}

function report(line: string, progress: Progress | undefined): void {
  const { progress: progressLine } = parsed(line);
  if (Array.isArray(progressLine)) progress?.to(Number(progressLine[0]), Number(progressLine[1]));
}

/** The place of the node's socket. */
function placeOf(dir: string): string | undefined {
  try {
    return findPlace(dir);
  } catch (error) {
    throw isDenied(error) ? denied(dir) : error;
  }
}

function isDenied(error: unknown): boolean {
  return error instanceof Error && 'code' in error && (error.code === 'EACCES' || error.code === 'EPERM');
}

function denied(path: string): OperatorError {
  return new OperatorError('access_denied', `${path} is closed to this user; run as the user of the node`);
}

/** The last line of what the node says; those before it tell of progress. */
async function post(dir: string, command: CommandName, body: string, progress?: Progress): Promise<string> {
  const socketPath = placeOf(dir);
  if (socketPath === undefined) throw new NoNodeError(dir);
  return new Promise((resolve, reject) => {
    const request = httpRequest({
      socketPath,
      method: 'POST',
      path: commandPath + command,
      headers: {
        'Content-Type': 'application/json',
        'Content-Length': Buffer.byteLength(body),
        Expect: '100-continue',
      },
      agent: false,
      timeout: limits.requestTimeoutMs,
    });
    // Somebody is there to do the work, and may take as long as that needs.
    if (slow.has(command)) request.on('continue', () => request.setTimeout(0));
    const lost = (): void =>
      reject(new OperatorError('no_answer', 'the node did not answer; whether it did what was asked is not known'));
    request.on('timeout', () => request.destroy(new Error('silent')));
    request.on('error', (error: NodeJS.ErrnoException) => {
      if (error.syscall !== 'connect') lost();
      else reject(isDenied(error) ? denied(socketPath) : new NoNodeError(dir));
    });
    request.on('response', (response) => {
      let text = '';
      response.setEncoding('utf8');
      response.on('data', (chunk: string) => {
        const lines = (text + chunk).split('\n');
        text = lines.pop() ?? '';
        for (const line of lines) report(line, progress);
      });
      response.on('end', () => resolve(text));
      response.on('error', lost);
    });
    request.end(body);
  });
}

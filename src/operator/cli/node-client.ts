/** Calls a running node over the operator's socket: sends one request and reads one answer. */
import { request as httpRequest } from 'node:http';
import { hasCode, NamedError } from '../../errors.js';
import { limits } from '../../limits.js';
import { type OperationName, operations, type Requests, type Values } from '../../operations/table.js';
import type { Progress } from '../../terminal.js';
import { eachLine } from '../../text-lines.js';
import { commandPath, type SocketPath, socketPathOf } from '../protocol/socket-path.js';

export class OperatorError extends NamedError {
  constructor(
    readonly code: string,
    message: string,
    readonly exitCode: 1 | 2 | 3 = 1,
    readonly details: unknown = undefined,
  ) {
    super(message);
  }
}

/** No node serves the folder: nothing was sent, and nothing was changed. */
export class NoNodeError extends OperatorError {
  constructor(dir: string) {
    super('no_node', `no node runs on ${dir}; start one, or name its folder with --data-dir or DATA_DIR`, 3);
  }
}

/** Rejects with `NoNodeError`, or with an `OperatorError` that has the code of the refusal. */
export async function callNode<N extends OperationName>(
  dir: string,
  name: N,
  body: Requests[N],
  progress?: Progress,
): Promise<Values[N]> {
  const last = await post(dir, name, JSON.stringify(body), progress);
  const { ok, value, code, error, details } = parsed(last);
  if (ok === true) return value as Values[N];
  if (typeof code === 'string' && typeof error === 'string') throw new OperatorError(code, error, 1, details);
  throw new OperatorError(
    'no_answer',
    'the node gave an answer that this command does not understand; use the ptf of the same version as the node',
  );
}

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

function placeOf(dir: string): SocketPath {
  try {
    return socketPathOf(dir);
  } catch (error) {
    throw unreached(error, dir);
  }
}

function unreached(error: unknown, dir: string): OperatorError {
  if (!hasCode(error, 'EACCES', 'EPERM')) return new NoNodeError(dir);
  return new OperatorError('access_denied', `${dir} is not accessible to this user; run as the user of the node`);
}

/** Returns the last line of the node's output; the lines before it report progress. */
async function post(dir: string, name: OperationName, body: string, progress?: Progress): Promise<string> {
  const { path: socketPath, end } = placeOf(dir);
  return new Promise((resolve, reject) => {
    const request = httpRequest({
      socketPath,
      method: 'POST',
      path: commandPath + name,
      headers: {
        'Content-Type': 'application/json',
        'Content-Length': Buffer.byteLength(body),
        Expect: '100-continue',
      },
      agent: false,
      timeout: limits.requestTimeoutMs,
    });
    // The node has begun the work, which may take as long as it needs.
    if (operations[name].isSlow === true) request.on('continue', () => request.setTimeout(0));
    const lost = (): void =>
      reject(new OperatorError('no_answer', 'the node did not answer; whether it carried out the command is unknown'));
    request.on('timeout', () => request.destroy(new Error('silent')));
    request.on('error', (error: NodeJS.ErrnoException) =>
      error.syscall === 'connect' ? reject(unreached(error, dir)) : lost(),
    );
    request.on('close', end);
    request.on('response', (response) => {
      eachLine(response.setEncoding('utf8'), (line) => report(line, progress)).then(resolve, lost);
    });
    request.end(body);
  });
}

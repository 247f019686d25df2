/**
 * The claim on a spool's folder: a Unix socket in it that the owner listens on, so that the kernel itself says whether
 * the owner lives. Each starter raises its own flag first and looks at the others' after
 * (docs/decisions/0162-spool-folder-claim.md).
 */
import { lstat, readdir, rm } from 'node:fs/promises';
import { connect, createServer, type Server } from 'node:net';
import { join } from 'node:path';
import { bounds } from '../../bounds.js';
import { fullJitterMs, pause, type Runtime } from '../../transport/runtime.js';
import { TrustError } from '../../trust-error.js';

const pattern = /^claim-[0-9a-f]{8}\.sock$/;
const never = new AbortController().signal;

export interface Claim {
  /** Gives the folder up. */
  release(): Promise<void>;
}

/** Claims the folder for this process; rejects with `spool_in_use` where another one has it. */
export async function claimFolder(folder: string, runtime: Runtime): Promise<Claim> {
  for (let attempt = 0; ; attempt++) {
    const claim = await tryOnce(folder, runtime);
    if (claim !== null) return claim;
    // Two that start together may both have stepped back.
    if (attempt === bounds.spoolClaimTries) {
      throw new TrustError('spool_in_use', `another process works on the spool in ${folder}`);
    }
    await pause(runtime, fullJitterMs(runtime, attempt, bounds.spoolClaimPauseMs, bounds.backoffCapMs), never);
  }
}

async function tryOnce(folder: string, runtime: Runtime): Promise<Claim | null> {
  const name = `claim-${runtime.uuid().replaceAll('-', '').slice(-8)}.sock`;
  const path = join(folder, name);
  if (Buffer.byteLength(path) > bounds.socketPathBytes) {
    throw new TrustError(
      'invalid_argument',
      `the spool's folder has too long a path (${bounds.socketPathBytes} bytes with a socket's name)`,
    );
  }
  const server = await listen(path);
  if (server === null) return null;
  const release = () => new Promise<void>((resolve) => server.close(() => resolve()));
  try {
    const others = (await readdir(folder)).filter((other) => pattern.test(other) && other !== name);
    for (const other of others) {
      if (await answers(join(folder, other))) {
        await release();
        return null;
      }
      await rm(join(folder, other), { force: true });
    }
    // Whoever looked before this one listened took its flag for a dead one's.
    await lstat(path);
    return { release };
  } catch (error) {
    await release();
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return null;
    throw error;
  }
}

/** Null where the name is taken. */
function listen(path: string): Promise<Server | null> {
  return new Promise((resolve, reject) => {
    const server = createServer((socket) => socket.destroy());
    server.unref();
    server.once('error', (error: NodeJS.ErrnoException) =>
      error.code === 'EADDRINUSE' ? resolve(null) : reject(error),
    );
    server.listen(path, () => resolve(server));
  });
}

/** Whether somebody listens on the socket. Only a refused connection, or none to connect to, says that nobody does. */
function answers(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(path);
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', (error: NodeJS.ErrnoException) =>
      resolve(error.code !== 'ECONNREFUSED' && error.code !== 'ENOENT'),
    );
  });
}

/**
 * Acquires a spool's folder for one process: the owner listens on a Unix socket in the folder, so that the kernel
 * itself shows whether the owner is alive. Each process first creates its own socket and then looks at the others
 * (docs/decisions/0162-spool.md).
 */
import { once } from 'node:events';
import { lstat, readdir, rm } from 'node:fs/promises';
import { connect, createServer, type Server } from 'node:net';
import { join } from 'node:path';
import { bounds } from '../../bounds.js';
import { fullJitterMs, pause, type Runtime } from '../../transport/time.js';
import { invalidArgument, TrustError } from '../../trust-error.js';

const pattern = /^claim-[0-9a-f]{8}\.sock$/;

/** Releases an acquired folder. */
export type Release = () => Promise<void>;

/** Acquires the folder for this process; rejects with `spool_in_use` if another process owns it. */
export async function acquireFolder(folder: string, runtime: Runtime): Promise<Release> {
  for (let attempt = 0; ; attempt++) {
    const release = await tryOnce(folder, runtime);
    if (release !== null) return release;
    // Two processes that start at the same time may each have found the other and withdrawn.
    if (attempt === bounds.spoolAcquireTries) {
      throw new TrustError('spool_in_use', `another process uses the spool in ${folder}`);
    }
    await pause(runtime, fullJitterMs(runtime, attempt, bounds.spoolAcquirePauseMs, bounds.backoffCapMs));
  }
}

async function tryOnce(folder: string, runtime: Runtime): Promise<Release | null> {
  const name = `claim-${runtime.uuid().replaceAll('-', '').slice(-8)}.sock`;
  const path = join(folder, name);
  if (Buffer.byteLength(path) > bounds.socketPathBytes) {
    throw invalidArgument(
      `the path of the spool's folder is too long (${bounds.socketPathBytes} bytes including a socket's name)`,
    );
  }
  const server = await listen(path);
  if (server === null) return null;
  const release = () => new Promise<void>((resolve) => server.close(() => resolve()));
  try {
    const others = (await readdir(folder)).filter((other) => pattern.test(other) && other !== name);
    for (const other of others) {
      if (await isAnswered(join(folder, other))) {
        await release();
        return null;
      }
      await rm(join(folder, other), { force: true });
    }
    // A process that looked before this one listened may have removed this socket as that of a dead process.
    await lstat(path);
    return release;
  } catch (error) {
    await release();
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return null;
    throw error;
  }
}

/** Resolves with null if the name is taken. */
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

/** True if a process listens on the socket; false only for a refused connection or a missing socket. */
export function isAnswered(path: string): Promise<boolean> {
  const socket = connect(path);
  const answered = once(socket, 'connect').then(
    () => true,
    (error: NodeJS.ErrnoException) => error.code !== 'ECONNREFUSED' && error.code !== 'ENOENT',
  );
  return answered.finally(() => socket.destroy());
}

/** The operator's socket, through a descriptor of the data folder if its path is too long, see proc(5). */
import { closeSync, openSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { limits } from '../../limits.js';

export const commandPath = '/v1/';

const socketName = 'operator.sock';

export interface SocketPath {
  /** The path to listen on or to connect to, until `end`. */
  readonly path: string;
  end(): void;
}

/** Throws, with the code of open(2), if the folder's path is long and this user cannot open the folder. */
export function socketPathOf(dir: string): SocketPath {
  const path = join(resolve(dir), socketName);
  if (Buffer.byteLength(path) <= limits.socketPathBytes) return { path, end: () => {} };
  const folder = openSync(dir, 'r');
  return { path: `/proc/self/fd/${folder}/${socketName}`, end: () => closeSync(folder) };
}

/** Removes the socket, which a killed node leaves. Only the owner of the folder may call this: nobody else listens. */
export function removeSocket(dir: string): void {
  rmSync(join(dir, socketName), { force: true });
}

/** Looks around a data folder without a node: who listens on the node's port, and where else a node may run. */
import { connect } from 'node:net';
import { resolve } from 'node:path';
import { limits } from '../../limits.js';
import type { ConfigurationFacts, Surroundings } from './findings.js';
import { callNode, NoNodeError } from './node-client.js';

export async function surroundingsOf(dir: string, { address, folders }: ConfigurationFacts): Promise<Surroundings> {
  const others = [...new Set(folders.map((folder) => resolve(folder)))].filter((folder) => folder !== dir);
  const running = await Promise.all(others.map(isRunning));
  const isBusy = address !== null && (await answers(address));
  return {
    busyAddress: isBusy ? `${address.host}:${address.port}` : null,
    nodes: others.filter((_, i) => running[i]),
  };
}

/** True if a node runs on the folder, even if this user may not ask it. */
function isRunning(folder: string): Promise<boolean> {
  return callNode(folder, 'status', {}).then(
    () => true,
    (error: unknown) => !(error instanceof NoNodeError),
  );
}

function answers({ host, port }: { readonly host: string; readonly port: number }): Promise<boolean> {
  return new Promise((done) => {
    const local = host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '::1' : host;
    const socket = connect({ host: local, port, timeout: limits.doctorConnectMs });
    const end = (is: boolean) => {
      socket.destroy();
      done(is);
    };
    socket.once('connect', () => end(true));
    socket.once('timeout', () => end(false));
    socket.once('error', () => end(false));
  });
}

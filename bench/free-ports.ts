/** Ports for servers that do not choose one by themselves. */
import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type Server } from 'node:net';

/**
 * Below the ports that systems give to outgoing connections (Linux: from 32,768 on): a port that was free a moment ago
 * is then not taken by a connection before its server listens.
 */
const firstPort = 20_000;
const lastPort = 32_700;
const triesMax = 1_000;

/** Returns `count` different ports of the loopback address that were free just now. */
export async function freePorts(count: number): Promise<number[]> {
  const servers = new Map<number, Server>();
  for (let tries = 0; servers.size < count; tries++) {
    if (tries === triesMax) throw new Error(`no free port from ${firstPort} to ${lastPort} within ${triesMax} tries`);
    const port = randomInt(firstPort, lastPort + 1);
    const server = createServer();
    server.listen(port, '127.0.0.1');
    const isFree = await once(server, 'listening').then(
      () => true,
      () => false,
    );
    if (isFree) servers.set(port, server);
  }
  await Promise.all([...servers.values()].map((server) => new Promise((done) => server.close(done))));
  return [...servers.keys()];
}

export async function freePort(): Promise<number> {
  const [port] = await freePorts(1);
  return port!;
}

/** Ports for servers that do not choose one by themselves. */
import { once } from 'node:events';
import { createServer } from 'node:net';

/** Returns `count` different ports of the loopback address that were free just now. */
export async function freePorts(count: number): Promise<number[]> {
  const servers = await Promise.all(
    Array.from({ length: count }, async () => {
      const server = createServer().listen(0, '127.0.0.1');
      await once(server, 'listening');
      return server;
    }),
  );
  const ports = servers.map((server) => (server.address() as { readonly port: number }).port);
  await Promise.all(servers.map((server) => new Promise((done) => server.close(done))));
  return ports;
}

/** Returns a port of the loopback address that was free just now. */
export async function freePort(): Promise<number> {
  const [port] = await freePorts(1);
  return port!;
}

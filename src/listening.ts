/** Makes a server listen, for the node's public port, its metrics and the dashboard. */
import { once } from 'node:events';
import type { AddressInfo, Server } from 'node:net';

/** Resolves with the address in use; `port` 0 picks a free one. Rejects if the address is unavailable. */
export async function listening(server: Server, host: string, port: number): Promise<{ host: string; port: number }> {
  const up = once(server, 'listening');
  server.listen(port, host);
  await up;
  const { address, port: used } = server.address() as AddressInfo;
  return { host: address, port: used };
}

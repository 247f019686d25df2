/** Closes the operator's servers: the socket and the dashboard. */
import type { Server } from 'node:http';
import { limits } from '../../limits.js';

/** Completes requests in progress within a short time, then closes every connection. */
export async function closeServer(server: Server): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  // A verification may take minutes; the shutdown of a node does not wait for it.
  const cut = setTimeout(() => server.closeAllConnections(), limits.connectionsCheckingIntervalMs);
  await closed;
  clearTimeout(cut);
}

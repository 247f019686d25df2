/** Runs the separate HTTP server from which Prometheus reads the metrics. */
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { Logger } from 'pino';
import { serverBounds } from '../../limits.js';
import { parseTarget } from '../request/head.js';
import type { Metrics } from './metrics.js';

export async function startMetricsServer(
  metrics: Pick<Metrics, 'text' | 'contentType'>,
  host: string,
  port: number,
  log: Logger,
): Promise<{ readonly host: string; readonly port: number; close(): Promise<void> }> {
  const server: Server = createServer(serverBounds, (request, response) => {
    const readable = request.method === 'GET' || request.method === 'HEAD';
    if (parseTarget(request.url ?? '')?.path !== '/metrics') {
      response.writeHead(404).end();
    } else if (!readable) {
      response.writeHead(405, { Allow: 'GET, HEAD' }).end();
    } else {
      metrics.text().then(
        (text) => response.writeHead(200, { 'Content-Type': metrics.contentType }).end(text),
        (error: unknown) => {
          log.error({ err: error }, 'the metrics could not be read');
          response.writeHead(500).end();
        },
      );
    }
  });
  const up = once(server, 'listening');
  server.listen(port, host);
  await up;
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the metrics server has no address');
  return {
    host: address.address,
    port: address.port,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

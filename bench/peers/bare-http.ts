/**
 * The ceiling: `node:http` alone. A GET returns ready bytes; a POST is read and parsed, but neither validated nor
 * stored.
 */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

// A text, because node:http sends it with the head in one write; a buffer would be a second write.
const score =
  '{"player_id":"76561190000000001","score":37.52,"confidence":0.4137,"verdict":"suspicious","event_count":3,"updated_at":"2026-01-01T00:00:00.000Z"}';

const server = createServer((request, response) => {
  if (request.method === 'GET') {
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': score.length }).end(score);
    return;
  }
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => {
    const body = chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks);
    const event = JSON.parse(body.toString()) as { event_id: string };
    const answer = `{"event_id":"${event.event_id}","status":"accepted"}`;
    response.writeHead(201, { 'content-type': 'application/json', 'content-length': answer.length }).end(answer);
  });
});

server.listen(0, '127.0.0.1', () => {
  console.log(JSON.stringify({ msg: 'listening', port: (server.address() as AddressInfo).port }));
});
process.once('SIGTERM', () => {
  server.close();
  server.closeAllConnections();
});

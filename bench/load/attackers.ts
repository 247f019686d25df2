/**
 * Attackers that try to exclude other callers. Each takes as much room as it can and takes it again when it loses it.
 * The caller bounds how long they run.
 */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { subjectHash } from '../../src/client/ids/subject.js';
import { limits } from '../../src/limits.js';
import { salt } from '../cluster/node-group.js';
import { type Credentials, fixedTimestamp, gameId, playerId, post, timestampOf } from './requests.js';

export interface Attack {
  readonly statuses: ReadonlyMap<number, number>;
  readonly opened: () => number;
  end(): Promise<void>;
}

/** An attack that runs again begins with other ids: repeated events cost less than new ones. */
const firstNumber = Date.now() % 50_000_000;

/**
 * Keeps `count` connections open. Calls `begin` with each new connection, including those that replace a closed one.
 */
export async function keepOpen(
  port: number,
  count: number,
  begin: (socket: Socket) => void,
  localAddress = '127.0.0.1',
): Promise<Attack> {
  const sockets = new Set<Socket>();
  const statuses = new Map<number, number>();
  const running: Promise<void>[] = [];
  let isOver = false;
  let opened = 0;
  const keep = async (first: () => void): Promise<void> => {
    while (!isOver) {
      const socket = await open(port, localAddress).catch(() => undefined);
      first();
      // The kernel refused the connection; retry shortly.
      if (socket === undefined) {
        await new Promise((resolve) => setTimeout(resolve, 10));
        continue;
      }
      opened += 1;
      sockets.add(socket);
      socket.on('data', (chunk: Buffer) => countAnswer(statuses, chunk));
      const closed = new Promise((resolve) => socket.once('close', resolve));
      if (isOver) socket.destroy();
      else begin(socket);
      await closed;
      sockets.delete(socket);
    }
  };
  while (running.length < count) {
    const some = Array.from({ length: Math.min(100, count - running.length) }, () => {
      return new Promise<void>((resolve) => running.push(keep(resolve)));
    });
    await Promise.all(some);
  }
  return {
    statuses,
    opened: () => opened,
    async end() {
      isOver = true;
      for (const socket of sockets) socket.destroy();
      await Promise.all(running);
    },
  };
}

async function open(port: number, localAddress: string): Promise<Socket> {
  const socket = connect({ port, host: '127.0.0.1', localAddress });
  await once(socket, 'connect');
  // Errors on the socket are expected during an attack.
  return socket.on('error', () => undefined);
}

/** Answers of this API are small and start at the beginning of a chunk. */
function countAnswer(statuses: Map<number, number>, chunk: Buffer): void {
  const status = Number(/^HTTP\/1\.1 (\d{3})/.exec(chunk.subarray(0, 16).toString('latin1'))?.[1]);
  if (!Number.isNaN(status)) statuses.set(status, (statuses.get(status) ?? 0) + 1);
}

/** Sends a request on each connection, and the next one after every answer. */
function repeat(port: number, count: number, next: () => string): Promise<Attack> {
  return keepOpen(port, count, (socket) => {
    socket.on('data', () => socket.write(next()));
    socket.write(next());
  });
}

function batchOf({ apiKey }: Credentials, body: string): string {
  return post('/api/v1/events/batch', `x-peer-api-key: ${apiKey}\r\n`, body);
}

/** Sends the head of a batch of the maximum size, and only `bytes` of its body. */
export function halfBatches(port: number, caller: Credentials, count: number, bytes = 1): Promise<Attack> {
  const whole = batchOf(caller, '{'.padEnd(limits.batchBodyBytes));
  const begin = whole.slice(0, whole.length - limits.batchBodyBytes + bytes);
  return keepOpen(port, count, (socket) => socket.write(begin));
}

/** Sends full batches of new events, one after the other on each connection. */
export function floodOfBatches(port: number, caller: Credentials, count: number): Promise<Attack> {
  let batches = firstNumber;
  const mark = '@@@@@@@@';
  const events = Array.from({ length: limits.batchEventsMax }, (_, place) => attackEvent(caller, `${mark}-${place}`));
  const request = batchOf(caller, `{"events":[${events}]}`);
  return repeat(port, count, () => request.replaceAll(mark, String(batches++).padStart(mark.length, '0')));
}

/** Opens verdict streams, and reads them for as long as they last, or nothing of them. */
export function verdictStreams(port: number, { apiKey }: Credentials, count: number, reads: boolean): Promise<Attack> {
  const request = `GET /api/v1/verdicts/stream HTTP/1.1\r\nHost: x\r\nX-Peer-API-Key: ${apiKey}\r\n\r\n`;
  return keepOpen(port, count, (socket) => {
    socket.on('data', (chunk: Buffer) => {
      // A refusal leaves the connection open.
      if (chunk.subarray(0, 12).toString('latin1') === 'HTTP/1.1 503') socket.destroy();
      else if (!reads) socket.pause();
    });
    socket.write(request);
  });
}

/** Reads matches that name the first player as often as a match may, one after the other on each connection. */
export function repeatedMatches(port: number, count: number): Promise<Attack> {
  const ids = new Array<string>(limits.matchIdsMax).fill(playerId(0)).join(',');
  const request = `GET /api/v1/trust-scores?ids=${ids} HTTP/1.1\r\nHost: x\r\n\r\n`;
  return keepOpen(port, count, (socket) => {
    // An answer ends with the end of its rows.
    socket.on('data', (chunk: Buffer) => {
      if (chunk.at(-1) === 0x7d) socket.write(request);
    });
    socket.write(request);
  });
}

/**
 * Sends many events about one player, each with a timestamp of its own, then repeats the oldest ones, one after the
 * other on each connection.
 */
export async function oldRepeats(port: number, caller: Credentials, count: number): Promise<Attack> {
  const batches = 39;
  const event = (id: string, i: number) =>
    attackEvent(caller, id, { player_id: 'a player of many events', timestamp: timestampOf(i) });
  for (let batch = 0; batch < batches; batch++) {
    const events = Array.from({ length: limits.batchEventsMax }, (_, i) =>
      event(`first-${batch}-${i}`, batch * limits.batchEventsMax + i),
    );
    const body = `{"events":[${events.join(',')}]}`;
    await fetch(`http://127.0.0.1:${port}/api/v1/events/batch`, {
      method: 'POST',
      headers: { 'x-peer-api-key': caller.apiKey, 'content-type': 'application/json' },
      body,
    });
  }
  let sent = firstNumber;
  return repeat(port, count, () => {
    const body = event(`again-${sent}`, sent++ % limits.batchEventsMax);
    return post('/api/v1/events', `x-peer-api-key: ${caller.apiKey}\r\n`, body);
  });
}

/** Asks for tunnels to a node without the secret of the nodes, from an address of its own. */
export function tunnels(port: number, count: number): Promise<Attack> {
  const request = 'CONNECT ptf-cluster:1 HTTP/1.1\r\nHost: ptf-cluster:1\r\n\r\n';
  return keepOpen(port, count, (socket) => socket.end(request), '127.0.0.9');
}

/** Reports a player of its own on each connection and has the player erased, which takes longest of all commands. */
export function slowCommands(port: number, caller: Credentials, count: number): Promise<Attack> {
  let players = firstNumber;
  const key = `x-peer-api-key: ${caller.apiKey}\r\n`;
  return keepOpen(port, count, (socket) => {
    const report = (): void => {
      const id = `slow-${players++}`;
      socket.write(post('/api/v1/events', key, attackEvent(caller, id)));
      socket.once('data', () => {
        const hash = subjectHash(`player-${id}`, salt);
        socket.write(`DELETE /api/v1/subjects/${hash} HTTP/1.1\r\nHost: x\r\n${key}\r\n`);
        socket.once('data', report);
      });
    };
    report();
  });
}

export function idleConnections(port: number, count: number, localAddress?: string): Promise<Attack> {
  return keepOpen(port, count, () => undefined, localAddress);
}

/** Returns an event as JSON in ASCII, with other values in place of those of every event. */
export function attackEvent({ peerId }: Pick<Credentials, 'peerId'>, eventId: string, others: object = {}): string {
  return JSON.stringify({
    schema_version: '1.0.0',
    event_id: eventId,
    event_type: 'report_cheating',
    peer_id: peerId,
    player_id: `player-${eventId}`,
    game_id: gameId,
    severity: 1,
    timestamp: fixedTimestamp,
    ...others,
  });
}

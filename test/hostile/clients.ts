/**
 * Clients that mean harm, each a function of a node's port that ends with what it saw. Sizes are bounded by their
 * callers.
 */
import { connect, type Socket } from 'node:net';

/** A connection that never fails its process, whatever the other side does. */
export function open(
  port: number,
  options: { readonly allowHalfOpen?: boolean; readonly localAddress?: string } = {},
): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect({ port, host: '127.0.0.1', ...options }, () => resolve(socket));
    socket.once('error', reject);
    socket.on('error', () => {});
  });
}

/** Opens many, a few at a time: a burst longer than the listen queue would wait for the kernel to try again. */
export async function openMany(port: number, count: number): Promise<Socket[]> {
  const sockets: Socket[] = [];
  while (sockets.length < count) {
    const next = Array.from({ length: Math.min(100, count - sockets.length) }, () => open(port));
    sockets.push(...(await Promise.all(next)));
  }
  return sockets;
}

/** All that comes back until the connection is closed, and after how many ms it was. */
export function heard(socket: Socket): Promise<{ readonly text: string; readonly ms: number }> {
  const startedAt = performance.now();
  return new Promise((resolve) => {
    let text = '';
    socket.on('data', (chunk) => {
      text += chunk.toString('latin1');
    });
    const end = (): void => resolve({ text, ms: performance.now() - startedAt });
    if (socket.closed) end();
    else socket.once('close', end);
  });
}

/**
 * Sends `request` again and again without reading anything, until `bytesMax` were taken by the other side or it ends
 * the connection. Resolves to the bytes that were taken.
 */
export async function pipelineUnread(port: number, request: string, bytesMax: number): Promise<number> {
  const socket = await open(port);
  socket.pause();
  const chunk = Buffer.from(request.repeat(Math.ceil(64_000 / request.length)));
  let taken = 0;
  await new Promise<void>((resolve) => {
    const more = (error?: Error | null): void => {
      if (!error) taken += chunk.length;
      if (error || taken >= bytesMax) resolve();
      else socket.write(chunk, more);
    };
    socket.write(chunk, more);
  });
  socket.destroy();
  return taken;
}

/**
 * One byte of a script a second on each connection, evenly spread, until the other side has closed all; resolves to the
 * ms after which it closed each.
 */
export async function drip(sockets: readonly Socket[], scripts: readonly string[]): Promise<number[]> {
  const fates = Promise.all(sockets.map(async (socket) => (await heard(socket)).ms));
  const everyMs = 10;
  const perTick = Math.ceil((sockets.length * everyMs) / 1000);
  let sent = 0;
  const timer = setInterval(() => {
    for (let i = 0; i < perTick; i++, sent++) {
      const place = sent % sockets.length;
      const script = scripts[place % scripts.length]!;
      const socket = sockets[place]!;
      if (socket.writable) socket.write(script[Math.floor(sent / sockets.length) % script.length]!);
    }
  }, everyMs);
  try {
    return await fates;
  } finally {
    clearInterval(timer);
  }
}

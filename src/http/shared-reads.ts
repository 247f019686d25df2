/**
 * Reads connections into one buffer. A socket of Node's makes a buffer for each read: a microsecond of every request, and half of what
 * collecting its garbage takes. One that a program opens itself is spared that by `onread` (`net.Socket`); one that a server accepts is
 * the same but for the option, so what the option does is done here. Where a Node has it no more, reading goes the usual way.
 */
import type { Socket } from 'node:net';
import { limits } from '../limits.js';

const shared = Buffer.allocUnsafeSlow(limits.readBytes);

/** Descriptions of the symbols under which `node:net` keeps buffer, callback and source of further buffers. */
const slots = ['kBuffer', 'kBufferCb', 'kBufferGen'];

/**
 * Calls `take` with what arrives, which is good for as long as the call lasts. From the moment somebody listens for `data`, what arrives is
 * theirs, as from any other socket.
 */
export function readShared(socket: Socket, take: (chunk: Buffer) => void): void {
  if (!prepare(socket, onRead)) {
    socket.on('data', take);
    return;
  }
  socket.resume();

  function onRead(bytes: number): boolean {
    const chunk = arrived(bytes);
    if (socket.listenerCount('data') > 0) return socket.push(Buffer.from(chunk));
    take(chunk);
    return true;
  }
}

/** Of reads that are as long as most requests are. To make one took a hundredth of a request's time. */
const views: (Buffer | undefined)[] = new Array(4096).fill(undefined);

/** The first so many bytes of what is shared. */
function arrived(bytes: number): Buffer {
  if (bytes >= views.length) return shared.subarray(0, bytes);
  const view = views[bytes] ?? shared.subarray(0, bytes);
  views[bytes] = view;
  return view;
}

/** The same bytes, good for as long as anybody wants. */
export function kept(chunk: Buffer): Buffer {
  return chunk.buffer === shared.buffer ? Buffer.from(chunk) : chunk;
}

/** False where this Node keeps its sockets in another way. */
function prepare(socket: Socket, onRead: (bytes: number) => boolean): boolean {
  const handle: unknown = Reflect.get(socket, '_handle');
  const [buffer, callback, source] = emptySlots(socket);
  if (buffer === undefined || callback === undefined || source === undefined || !takesBuffers(handle)) return false;
  Reflect.set(socket, buffer, shared);
  Reflect.set(socket, callback, onRead);
  handle.useUserBuffer(shared);
  return true;
}

/** The symbols of `slots`, each undefined where there is none or something is in it. */
function emptySlots(socket: Socket): (symbol | undefined)[] {
  const empty = Object.getOwnPropertySymbols(socket).filter((symbol) => Reflect.get(socket, symbol) === null);
  return slots.map((name) => empty.find(({ description }) => description === name));
}

function takesBuffers(handle: unknown): handle is { useUserBuffer(buffer: Uint8Array): void } {
  return (
    typeof handle === 'object' &&
    handle !== null &&
    'useUserBuffer' in handle &&
    typeof handle.useUserBuffer === 'function'
  );
}

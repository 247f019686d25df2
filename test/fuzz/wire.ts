/** One conversation on one connection, and what came back, split into answers. */
import { connect } from 'node:net';
import { setImmediate as breathe } from 'node:timers/promises';

export interface RawAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** As latin1. */
  readonly body: string;
}

/** A connection that the node neither answered nor closed. */
export class Stuck extends Error {}

const stuckMs = 30_000;

/** Sends the writes, then ends its own half, and resolves to all that came back until the node closed, as latin1. */
export function converse(port: number, writes: readonly Buffer[]): Promise<string> {
  return new Promise((resolve, reject) => {
    let received = '';
    const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true, noDelay: true });
    const timer = setTimeout(() => {
      socket.destroy();
      reject(new Stuck(`the node did not close within ${stuckMs} ms; it had answered ${JSON.stringify(received)}`));
    }, stuckMs);
    socket.setEncoding('latin1');
    socket.on('data', (chunk: string) => {
      received += chunk;
    });
    // A node that has said all it wants to say may close while we are still sending.
    socket.on('error', () => {});
    socket.once('end', () => socket.destroy());
    socket.once('close', () => {
      clearTimeout(timer);
      resolve(received);
    });
    socket.once('connect', async () => {
      for (const [place, bytes] of writes.entries()) {
        if (place > 0) await breathe();
        if (socket.writable) socket.write(bytes);
      }
      if (socket.writable) socket.end();
    });
  });
}

/**
 * The answers in a text, interim ones left out. `methods` tells which of them come without a body. Throws where the
 * text is no row of whole answers.
 */
export function answersOf(text: string, methods: readonly string[]): RawAnswer[] {
  const answers: RawAnswer[] = [];
  let rest = text;
  while (rest !== '') {
    const end = rest.indexOf('\r\n\r\n');
    const [line = '', ...fields] = rest.slice(0, end).split('\r\n');
    const status = Number(/^HTTP\/1\.1 (\d{3}) [\x20-\x7e]*$/.exec(line)?.[1]);
    if (end < 0 || !(status >= 100)) throw new Error(`no whole answer: ${JSON.stringify(rest.slice(0, 400))}`);
    rest = rest.slice(end + 4);
    if (status < 200) continue;
    const headers: Record<string, string> = {};
    for (const field of fields) {
      const found = /^([!#$%&'*+.^_`|~0-9A-Za-z-]+): ?([\x20-\x7e\x80-\xff]*)$/.exec(field);
      if (found === null) throw new Error(`no field of an answer: ${JSON.stringify(field)}`);
      const name = found[1]!.toLowerCase();
      if (name in headers) throw new Error(`the field ${name} twice in one answer`);
      headers[name] = found[2]!;
    }
    const stated = Number(headers['content-length']);
    // Input that is no valid request is refused regardless of its method.
    const isOfHead = methods[answers.length] === 'HEAD' && !(status === 400 && rest.length === stated);
    const length = status === 204 || status === 304 || isOfHead ? 0 : stated;
    if (!(length <= rest.length)) throw new Error(`an answer shorter than its length: ${JSON.stringify(rest)}`);
    answers.push({ status, headers, body: rest.slice(0, length) });
    rest = rest.slice(length);
  }
  return answers;
}

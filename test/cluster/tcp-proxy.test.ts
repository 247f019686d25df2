/** The proxy of the fault harness: each of its states. */
import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { until } from '../support/until.js';
import { TcpProxy } from './tcp-proxy.js';

let echo: Server;
/** The bytes that the target received, and the number of its connections that the other end has closed. */
let heard = '';
let ended = 0;
let proxy: TcpProxy;

test.before(async () => {
  echo = createServer((socket) => {
    socket.on('error', () => undefined);
    socket.on('data', (chunk) => {
      heard += chunk;
      socket.write(chunk);
    });
    socket.on('end', () => void ended++);
  }).listen(0, '127.0.0.1');
  await once(echo, 'listening');
});
test.before.each(async () => {
  heard = '';
  proxy = await TcpProxy.open((echo.address() as { readonly port: number }).port);
});
test.after.each(() => proxy.close());
test.after(() => void echo.close());

async function open(): Promise<Socket> {
  const socket = connect({ port: proxy.port, host: '127.0.0.1' });
  socket.on('error', () => undefined);
  await once(socket, 'connect');
  return socket;
}

/** Resolves once the connection has ended. `once` would reject at an error. */
const closedOf = (socket: Socket): Promise<void> => new Promise((resolve) => socket.on('close', () => resolve()));

async function answerTo(socket: Socket, text: string): Promise<string> {
  socket.write(text);
  const [chunk] = await once(socket, 'data');
  return String(chunk);
}

test('a cut link resets open connections and new ones', async () => {
  const socket = await open();
  await answerTo(socket, 'one');
  const closed = closedOf(socket);
  proxy.set('cut');
  await closed;
  const next = connect({ port: proxy.port, host: '127.0.0.1' });
  next.on('error', () => undefined);
  await closedOf(next);
  proxy.heal();
  const healed = await open();
  assert.is(await answerTo(healed, 'two'), 'two');
  healed.destroy();
});

test('a link that is silent in one direction drops its bytes, and those of the other arrive', async () => {
  const socket = await open();
  let answered = await answerTo(socket, 'one');
  socket.on('data', (chunk) => {
    answered += chunk;
  });
  proxy.set('back-silent');
  socket.write('asked');
  await until(() => heard === 'oneasked');
  proxy.set('to-silent');
  const before = ended;
  socket.end('lost');
  await until(() => ended > before);
  assert.equal([heard, answered], ['oneasked', 'one']);
});

test('a slow link keeps the order of bytes', async () => {
  proxy.slow(5);
  const socket = await open();
  let answered = '';
  const whole = new Promise<void>((resolve) => {
    socket.on('data', (chunk) => {
      answered += chunk;
      if (answered.length === 30) resolve();
    });
  });
  for (let i = 0; i < 10; i++) socket.write(`${i}--`);
  await whole;
  assert.is(answered, '0--1--2--3--4--5--6--7--8--9--');
  socket.destroy();
});

test.run();

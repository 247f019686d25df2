/** Runs the local HTTP server of a sidecar. Paths may contain player ids: none reaches a log or an error. */
import { hash, randomBytes, timingSafeEqual } from 'node:crypto';
import { chmod, lstat, rm } from 'node:fs/promises';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { bounds, isAnswered } from '../../client/for-peer.js';
import { codeOf, secretInFile } from '../config/peer-file.js';
import { isoOf } from '../formats/reading/time-cells.js';
import { PeerError, wrongUsage } from '../peer-error.js';
import { collected } from '../sources/decode.js';
import { LocalError, refusalOf } from './local-error.js';
import type { Sidecar } from './sidecar.js';
import { allowOf, bodyIn, reportOf } from './sidecar-bodies.js';

export interface LocalServerOptions {
  readonly sidecar: Sidecar;
  readonly token: string;
  /** The secret in the paths of game servers that cannot send a token; null if they get no answers. */
  readonly pathSecret: string | null;
  readonly gameIds: readonly string[];
  /** A loopback address. */
  readonly host: string;
  /** 0 chooses a free port. */
  readonly port: number;
  /** A Unix socket of mode 0600 besides the port. */
  readonly socketPath: string | undefined;
  readonly log: (line: string) => void;
}

interface Answer {
  readonly status: number;
  readonly body: unknown;
}

/** Listens on both addresses, until `close` is called. Rejects with a `PeerError` if one is in use. */
export async function startLocalServer(options: LocalServerOptions) {
  const isToken = tokenTest(options.token);
  const isSecret = options.pathSecret === null ? null : tokenTest(options.pathSecret);
  const servers: Server[] = [];
  const listen = async (where: { host: string; port: number } | { path: string }) => {
    const server = serverOf((request) => route(request, options, isToken, isSecret), options.log);
    servers.push(server);
    await listening(server, where);
    return server;
  };
  const close = () => Promise.all(servers.map(closed));
  try {
    const tcp = await listen({ host: options.host, port: options.port });
    if (options.socketPath !== undefined) {
      const bytes = Buffer.byteLength(options.socketPath);
      if (bytes > bounds.socketPathBytes) {
        throw wrongUsage(`--socket must have at most ${bounds.socketPathBytes} bytes, and has ${bytes}: name another`);
      }
      const found = await lstat(options.socketPath).catch(() => null);
      if (found?.isSocket() === false) throw wrongUsage(`${options.socketPath} exists and is no socket; name another`);
      // The socket of a killed sidecar goes. One on which a process still answers stays, and `listen` then fails.
      if (!(await isAnswered(options.socketPath))) await rm(options.socketPath, { force: true });
      await listen({ path: options.socketPath });
      await chmod(options.socketPath, 0o600);
    }
    return { port: (tcp.address() as AddressInfo).port, close };
  } catch (error) {
    await close();
    throw error;
  }
}

function serverOf(answer: (request: IncomingMessage) => Promise<Answer>, log: (line: string) => void): Server {
  const server = createServer({ maxHeaderSize: bounds.sidecarHeadBytes, requestTimeout: bounds.sidecarRequestMs });
  const idle = boundConnections(server);
  server.on('request', (request, response) => {
    const { socket } = request;
    idle.delete(socket);
    response.once('close', () => {
      if (!socket.destroyed) idle.add(socket);
    });
    answer(request).then(
      ({ status, body }) => send(response, status, body),
      (error: unknown) => {
        const { status, code, message, details } = refusalOf(error);
        const name = codeOf(error) ?? (error instanceof Error ? error.name : typeof error);
        // A client that disconnects is no failure.
        if (code === 'internal_error' && request.errored === null) log(`a request failed: ${name}`);
        if (status === 401) response.setHeader('www-authenticate', 'Bearer');
        if (status === 405) response.setHeader('allow', String(details?.allow));
        // The rest of the body is not read.
        if (!request.complete) response.setHeader('connection', 'close');
        send(response, status, { error: message, code, ...(details === undefined ? {} : { details }) });
      },
    );
  });
  return server;
}

/** Closes the longest idle connection for each one beyond the bound. Returns the idle ones, to be updated. */
function boundConnections(server: Server): Set<Socket> {
  const idle = new Set<Socket>();
  let open = 0;
  server.on('connection', (socket: Socket) => {
    if (open >= bounds.sidecarConnections) {
      const [oldest = socket] = idle;
      idle.delete(oldest);
      oldest.destroy();
      if (oldest === socket) return;
    }
    open++;
    idle.add(socket);
    socket.once('close', () => {
      open--;
      idle.delete(socket);
    });
  });
  return idle;
}

function send(response: ServerResponse, status: number, body: unknown): void {
  const isText = typeof body === 'string';
  const text = isText ? body : JSON.stringify(body);
  response
    .writeHead(status, {
      'content-type': isText ? 'text/plain; charset=utf-8' : 'application/json',
      'content-length': Buffer.byteLength(text),
      'cache-control': 'no-store',
    })
    .end(text);
}

interface Call {
  readonly sidecar: Sidecar;
  readonly gameIds: readonly string[];
  /** The rest of the path, decoded. */
  readonly id: () => string;
  readonly ids: () => readonly string[];
  readonly json: () => Promise<unknown>;
}

type LocalRoute = readonly [
  method: 'GET' | 'POST' | 'DELETE',
  path: RegExp,
  status: number,
  body: (call: Call) => Promise<unknown>,
];

const localRoutes: readonly LocalRoute[] = [
  ['GET', /^\/v1\/players$/, 200, async ({ sidecar, ids }) => ({ data: await sidecar.players(ids()) })],
  ['GET', /^\/v1\/persons$/, 200, async ({ sidecar, ids }) => sidecar.person(ids())],
  ['GET', /^\/v1\/players\/(.+)$/, 200, async ({ sidecar, id }) => sidecar.player(id())],
  ['POST', /^\/v1\/reports$/, 202, takeReport],
  ['POST', /^\/v1\/allow$/, 201, takeAllowEntry],
  [
    'DELETE',
    /^\/v1\/allow\/(.+)$/,
    200,
    async ({ sidecar, id }) => ({ player_id: id(), removed: await sidecar.disallow(id()) }),
  ],
  ['GET', /^\/v1\/status$/, 200, async ({ sidecar }) => sidecar.status],
];

async function takeReport({ sidecar, gameIds, json }: Call): Promise<object> {
  const ids = await sidecar.report(reportOf(await json(), gameIds));
  return { event_id: ids[0], ...(ids.length > 1 ? { event_ids: ids } : {}), status: 'spooled' };
}

async function takeAllowEntry({ sidecar, json }: Call): Promise<object> {
  const entry = allowOf(await json());
  await sidecar.allow(entry);
  return { player_id: entry.playerId, until: isoOf(entry.until), note: entry.note };
}

async function route(
  request: IncomingMessage,
  { sidecar, gameIds }: LocalServerOptions,
  isToken: (text: string) => boolean,
  isSecret: ((text: string) => boolean) | null,
): Promise<Answer> {
  const [, path = '', query = ''] = /^([^?]*)\??(.*)$/.exec(request.url ?? '/') ?? [];
  const [, secret = '', game = ''] = /^\/answers\/([^/]+)\/(.+)$/.exec(path) ?? [];
  if (isSecret !== null && game !== '' && isSecret(secret)) {
    only(request, 'GET');
    return gameAnswer(sidecar, game);
  }
  authorize(request, isToken);
  const found = localRoutes.find(([, pattern]) => pattern.test(path));
  if (found === undefined) {
    throw new LocalError(404, 'route_not_found', 'the sidecar has no such route; see ptf-peer sidecar --help');
  }
  const [method, pattern, status, bodyOf] = found;
  only(request, method);
  const id = () => decoded(pattern.exec(path)![1]!);
  const call = { sidecar, gameIds, id, ids: () => idsOf(query), json: () => jsonOf(request) };
  return { status, body: await bodyOf(call) };
}

/** Answers that unmodified game servers understand. Bans are short, since the server asks again. */
async function gameAnswer(sidecar: Sidecar, game: string): Promise<Answer> {
  const until = Math.floor(Date.now() / 1_000) + bounds.answeredBanS;
  const reasonOf = (verdict: string) => `${verdict} in the group of servers`;
  if (game === 'squad') {
    const barred = await sidecar.barred();
    const lines = barred.map(({ player_id: id, verdict }) => `${id}:${until} //${reasonOf(verdict)}\n`);
    return { status: 200, body: lines.join('') };
  }
  const [, steamId] = /^rust\/(\d{17})$/.exec(game) ?? [];
  const [found] = steamId === undefined ? [] : await sidecar.barred([steamId]);
  if (found === undefined) throw new LocalError(404, 'not_banned', 'the player is not banned');
  return { status: 200, body: { steamId, reason: reasonOf(found.verdict), expiryDate: until } };
}

function authorize({ headers }: IncomingMessage, isToken: (text: string) => boolean): void {
  const { authorization } = headers;
  if (authorization === undefined || authorization === '') {
    throw new LocalError(401, 'missing_token', 'the header Authorization must be "Bearer" and the local token');
  }
  const [, token] = /^Bearer +(\S+)$/i.exec(authorization) ?? [];
  if (token === undefined || !isToken(token)) {
    throw new LocalError(401, 'invalid_token', 'the local token is wrong; read the token file of this sidecar');
  }
}

function only({ method }: IncomingMessage, allowed: 'GET' | 'POST' | 'DELETE'): void {
  if (method === allowed || (method === 'HEAD' && allowed === 'GET')) return;
  throw new LocalError(405, 'method_not_allowed', `this path accepts ${allowed}`, { allow: allowed });
}

/** The ids of `ids`, decoded and then split at commas, and those of each `id`, which may contain commas. */
function idsOf(query: string): string[] {
  const values = (name: string) =>
    query.split('&').flatMap((one) => (one.startsWith(`${name}=`) ? [decoded(one.slice(name.length + 1))] : []));
  const ids = [...values('ids').flatMap((list) => (list === '' ? [] : list.split(','))), ...values('id')];
  if (ids.length === 0 || ids.length > bounds.sidecarReadPlayers) {
    const text = `ids must name 1 to ${bounds.sidecarReadPlayers} players, separated by commas`;
    throw new LocalError(400, 'invalid_parameter', text, { parameter: 'ids' });
  }
  return ids;
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw new LocalError(400, 'invalid_parameter', 'a player id in a path must be percent-encoded UTF-8');
  }
}

async function jsonOf(request: IncomingMessage): Promise<unknown> {
  const bytesMax = bounds.sidecarBodyBytes;
  const tooLarge = () => new LocalError(413, 'payload_too_large', `the body must have at most ${bytesMax} bytes`);
  return bodyIn((await collected(request, bytesMax, tooLarge)).toString('utf8'));
}

function listening(server: Server, where: { host: string; port: number } | { path: string }): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      const name = 'path' in where ? where.path : `${where.host}:${where.port}`;
      const taken = error.code === 'EADDRINUSE';
      const text = taken ? `another process listens on ${name}` : `cannot listen on ${name}: ${error.code}`;
      reject(new PeerError(taken ? 'address_in_use' : 'cannot_listen', text, 2));
    });
    server.listen(where, resolve);
  });
}

function closed(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeIdleConnections();
    setTimeout(() => server.closeAllConnections(), bounds.closeMs).unref();
  });
}

/** Creates the token if there is no file. Throws `wrong_usage` for a file that other users may read. */
export async function tokenIn(path: string): Promise<string> {
  return checkToken(await secretInFile(path, () => randomBytes(32).toString('base64url')), path);
}

/** Returns the token. Throws `wrong_usage` if it is too short or a header cannot carry it. */
export function checkToken(token: string, where: string): string {
  if (!/^[\x21-\x7e]{16,}$/.test(token) || token.length > bounds.sidecarTokenLength) {
    throw wrongUsage(`${where} must have 16 to ${bounds.sidecarTokenLength} printable characters without blanks`);
  }
  return token;
}

/** Returns a test for the token, whose time does not depend on the tested text. */
function tokenTest(token: string): (text: string) => boolean {
  const expected = hash('sha256', token, 'buffer');
  return (text) => timingSafeEqual(hash('sha256', text, 'buffer'), expected);
}

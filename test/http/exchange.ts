/**
 * The one way in which the HTTP tests ask and read: every answer is held against the table of routes (its body against
 * the schema of its row, its code against the codes of its route, its headers against the rules that hold for all) and
 * noted.
 */
import { connect, type Socket } from 'node:net';
import { getGlobalDispatcher } from 'undici';
import * as assert from 'uvu/assert';
import { errorSchema, problemSchema } from '../../src/contract/error-bodies.js';
import { everyRoute, type Route, routes } from '../../src/contract/routes.js';
import { type ErrorCode, errors } from '../../src/errors.js';
import type { Schema } from '../../src/validation/schema.js';
import { type Validator, validatorOf } from '../../src/validation/validator.js';
import { noteSeen } from './contract-coverage.js';

export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** The body as sent. */
  readonly text: string;
  /** The body parsed, where it is JSON. */
  // biome-ignore lint/suspicious/noExplicitAny: a test reads what it expects, and fails where that is not there.
  readonly body: any;
}

export interface Ask {
  readonly method?: string;
  readonly key?: string;
  /** Sent as JSON, with its media type. */
  readonly json?: unknown;
  /** Sent as it is, with no header of its own. */
  readonly raw?: string | Uint8Array;
  readonly headers?: Readonly<Record<string, string>>;
}

const validators = new Map<Schema, Validator<unknown>>();

function validatorFor(schema: Schema): Validator<unknown> {
  const known = validators.get(schema) ?? validatorOf(schema);
  validators.set(schema, known);
  return known;
}

const patterns = Object.values<Route>(routes).map((route) => ({
  route,
  pattern: new RegExp(`^${route.path.replaceAll('.', '\\.').replace(/\{\w+\}/g, '[^/]+')}$`),
}));

function routeOf(method: string, target: string): Route | undefined {
  const path = target.split('?')[0] ?? '';
  const asked = method === 'HEAD' ? 'GET' : method;
  return patterns.find(({ route, pattern }) => route.method === asked && pattern.test(path))?.route;
}

/** Asks over HTTP. `path` goes out as it is, not normalised. */
export async function ask(url: string, path: string, how: Ask = {}): Promise<Answer> {
  const method = how.method ?? (how.json === undefined && how.raw === undefined ? 'GET' : 'POST');
  const headers: Record<string, string> = { ...how.headers };
  if (how.key !== undefined) headers['X-Peer-API-Key'] = how.key;
  if (how.json !== undefined) headers['Content-Type'] ??= 'application/json';
  const sent = how.json === undefined ? how.raw : JSON.stringify(how.json);
  // The dispatcher itself: `request` would take the path through `URL`, which mends what a test spoils.
  const response = await getGlobalDispatcher().request({
    origin: url,
    path,
    // undici's type knows the common methods only.
    method: method as 'GET',
    headers,
    ...(sent === undefined ? {} : { body: sent }),
  });
  const fields = Object.fromEntries(
    Object.entries(response.headers).map(([name, value]) => [
      name,
      Array.isArray(value) ? value.join(', ') : `${value}`,
    ]),
  );
  const isStream = fields['content-type']?.startsWith('text/event-stream') === true && method !== 'HEAD';
  const text = isStream ? await firstEvent(response.body) : await response.body.text();
  return hold(method, path, response.statusCode, fields, text);
}

/** Reads the first event of an endless stream and closes the connection. */
async function firstEvent(body: AsyncIterable<Uint8Array>): Promise<string> {
  let text = '';
  for await (const chunk of body) {
    text += Buffer.from(chunk).toString();
    if (text.includes('\n\n')) break;
  }
  return text;
}

/** Holds an answer against the contract, and notes it. */
export function hold(
  method: string,
  path: string,
  status: number,
  headers: Record<string, string>,
  text: string,
): Answer {
  const place = `${method} ${path.slice(0, 200)} -> ${status}`;
  const route = routeOf(method, path);
  assert.match(headers['x-request-id'] ?? '', /^[A-Za-z0-9._-]{1,128}$/, `${place}: request id`);
  assert.is(headers['x-content-type-options'], 'nosniff', place);
  assert.is(headers['x-frame-options'], 'DENY', place);
  assert.is(headers['referrer-policy'], 'no-referrer', place);
  assert.equal([headers.server, headers['x-powered-by']], [undefined, undefined], `${place}: names the software`);
  assert.match(headers['content-security-policy'] ?? '', /default-src 'none'.*frame-ancestors 'none'/, place);
  assert.match(headers['cache-control'] ?? '', /^(no-store|private, no-store|public, max-age=2)$/, `${place}: caching`);
  assert.match(headers.vary ?? '', /Accept/, `${place}: vary`);
  const isJson = /^application\/(?:problem\+)?json/.test(headers['content-type'] ?? '');
  const body = isJson && text !== '' ? JSON.parse(text) : undefined;
  let code: ErrorCode | undefined;
  if (status >= 400) {
    if (method !== 'HEAD') code = holdError(place, route, status, headers, body);
  } else if (status === 204 || status === 304) {
    assert.is(text, '', place);
  } else {
    const success = route?.success[status];
    assert.ok(success, `${place}: no such row`);
    const type = success?.schema === undefined ? (success?.contentType ?? '') : 'application/json';
    // The row of the files of the page stands for several types.
    if (type !== 'application/octet-stream')
      assert.is(headers['content-type']?.split(';')[0], type.split(';')[0], place);
    if (success?.schema !== undefined && method !== 'HEAD') holdSchema(place, success.schema, body);
  }
  if (method !== 'HEAD') noteSeen(route, status, code);
  return { status, headers, text, body };
}

function holdError(
  place: string,
  route: Route | undefined,
  status: number,
  headers: Record<string, string>,
  body: { readonly code?: ErrorCode } | undefined,
): ErrorCode {
  const isProblem = headers['content-type']?.startsWith('application/problem+json');
  holdSchema(place, isProblem ? problemSchema : errorSchema, body);
  const code = body?.code;
  if (code === undefined) throw new Error(`${place}: no code`);
  assert.is(errors[code].status, status, `${place}: ${code}`);
  const known: readonly ErrorCode[] = [...(route?.codes ?? []), ...everyRoute];
  assert.ok(known.includes(code), `${place}: ${code} is not a code of this route`);
  assert.match(headers['cache-control'] ?? '', /no-store$/, place);
  if (status === 401) assert.ok(headers['www-authenticate'], place);
  if (status === 405) assert.ok(headers.allow, place);
  if (status === 429 || status === 503) assert.match(headers['retry-after'] ?? '', /^\d+$/, place);
  if (status === 429) assert.match(headers.ratelimit ?? '', /^"\w+";r=0;t=\d+$/, place);
  return code;
}

function holdSchema(place: string, schema: Schema, body: unknown): void {
  const outcome = validatorFor(schema)(body);
  if (!outcome.ok) assert.unreachable(`${place}: ${outcome.text} in ${JSON.stringify(body)?.slice(0, 400)}`);
}

/**
 * Writes bytes on a socket of their own and reads until the other side closes (or `until` says that it has seen
 * enough). Each answer is held against the contract; `method` and `path` tell which row the answers belong to.
 */
export async function askRaw(
  port: number,
  pieces: readonly (string | Uint8Array)[],
  row: { readonly method?: string; readonly path?: string; readonly until?: (text: string) => boolean } = {},
): Promise<Answer[]> {
  const text = await new Promise<string>((resolve, reject) => {
    let received = '';
    const socket = connect(port, '127.0.0.1', () => {
      for (const piece of pieces) socket.write(piece);
    });
    socket.setEncoding('latin1');
    socket.on('data', (chunk: string) => {
      received += chunk;
      if (row.until?.(received)) socket.destroy();
    });
    // A server that has said all it wants to say may close while we are still sending.
    socket.on('error', (error) => (received === '' ? reject(error) : resolve(received)));
    socket.on('close', () => resolve(received));
  });
  return split(text).map(({ status, headers, body }) =>
    hold(row.method ?? 'GET', row.path ?? '/', status, headers, Buffer.from(body, 'latin1').toString()),
  );
}

/** All that comes back on a connection until the other side closes it. The caller closes its half then. */
export function received(socket: Socket): Promise<string> {
  return new Promise((resolve) => {
    let text = '';
    socket.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk;
    });
    socket.on('error', () => {});
    socket.on('end', () => socket.end());
    socket.on('close', () => resolve(text));
  });
}

interface RawAnswer {
  readonly status: number;
  readonly headers: Record<string, string>;
  readonly body: string;
}

/** Answers one after the other, each with its Content-Length. */
function split(text: string): RawAnswer[] {
  const answers: RawAnswer[] = [];
  let rest = text;
  while (rest !== '') {
    const end = rest.indexOf('\r\n\r\n');
    if (end < 0) throw new Error(`no whole head in ${rest.slice(0, 200)}`);
    const [line = '', ...fields] = rest.slice(0, end).split('\r\n');
    const headers = Object.fromEntries(
      fields.map((field) => {
        const colon = field.indexOf(':');
        return [field.slice(0, colon).toLowerCase(), field.slice(colon + 1).trim()];
      }),
    );
    const status = Number(line.split(' ')[1]);
    const length = Number(headers['content-length'] ?? 0);
    const body = rest.slice(end + 4, end + 4 + length);
    rest = rest.slice(end + 4 + length);
    if (status !== 100) answers.push({ status, headers, body });
  }
  return answers;
}

/** The operator's socket: who may open it, where it lies, and what it says to good and bad requests. */
import { existsSync, mkdirSync, readdirSync, readlinkSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer as createHttpServer, request as httpRequest } from 'node:http';
import { join } from 'node:path';
import { pino } from 'pino';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { granted, refused } from '../../../src/errors.js';
import type { OperatorApi } from '../../../src/group/api.js';
import { UnreadError } from '../../../src/group/ports/storage.js';
import { limits } from '../../../src/limits.js';
import { callNode, NoNodeError, OperatorError } from '../../../src/operator/cli/node-client.js';
import { commandPath } from '../../../src/operator/protocol/socket-path.js';
import { startOperatorSocket } from '../../../src/operator/protocol/socket-server.js';
import { rejectionAs } from '../../store/log-contract.js';
import { temporaryFolder } from '../../support/process.js';
import { until } from '../../support/until.js';
import { recordedGroup } from '../recorded-group.js';
import { intactReport } from '../run-here.js';

type OperatorSocket = Awaited<ReturnType<typeof startOperatorSocket>>;

const logged: string[] = [];
const log = pino({ level: 'error' }, { write: (line) => void logged.push(line) });
let folder = '';
const open: OperatorSocket[] = [];
let unlocked = 0;
const unlockDashboard = () => {
  unlocked++;
};

test.before.each(() => {
  folder = temporaryFolder();
  logged.length = 0;
});
test.after.each(async () => {
  for (const socket of open.splice(0)) await socket.close();
});

async function start(group: OperatorApi, over: { dir?: string; version?: string } = {}): Promise<OperatorSocket> {
  const asked = { group, version: '9.8.7', pseudonymise: () => null, unlockDashboard };
  const socket = await startOperatorSocket({ dir: folder, log, ...asked, ...over });
  open.push(socket);
  return socket;
}

interface Answer {
  readonly status: number | undefined;
  readonly body: Record<string, unknown>;
}

/** Sends `body` as it stands. */
function send(socketPath: string, path: string, body: string, method = 'POST'): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const request = httpRequest({ socketPath, path, method, agent: false }, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (chunk: string) => {
        text += chunk;
      });
      response.on('end', () => resolve({ status: response.statusCode, body: JSON.parse(text) }));
    });
    request.on('error', reject);
    request.end(body);
  });
}

const rejection = (promise: Promise<unknown>) => rejectionAs(OperatorError, promise);

test('an operator unlocks the dashboard of the node', async () => {
  await start(recordedGroup(0).group);
  assert.equal(await callNode(folder, 'dashboard-unlock', {}), { ok: true });
  assert.is(unlocked, 1);
});

test('only its own user may open the socket, which lies in the data folder', async () => {
  const { path } = await start(recordedGroup(0).group);
  assert.is(path, join(folder, 'operator.sock'));
  assert.ok(statSync(path).isSocket());
  assert.is(statSync(path).mode & 0o777, 0o600);
});

test('a command reaches the group and its value is returned', async () => {
  const { group, calls } = recordedGroup(1);
  await start(group);
  const value = await callNode(folder, 'peers-rotate-key', { peer_id: 'peer-0', overlap_ms: 60_000, by: 'alice' });
  assert.equal(calls.at(-1), ['rotateKey', 'peer-0', 60_000, 'operator:alice']);
  const { api_key, overlap_ms, registered_at } = value;
  assert.equal([api_key, overlap_ms, registered_at], ['the-key', 60_000, '1970-01-01T00:00:00.000Z']);
});

test('peers come in pages that join without gap or repeat', async () => {
  await start(recordedGroup(5).group);
  const first = await callNode(folder, 'peers-list', { from: 0, limit: 3 });
  assert.is(first.next_from, 3);
  const second = await callNode(folder, 'peers-list', { from: 3, limit: 3 });
  assert.is(second.next_from, null);
  const ids = [...first.data, ...second.data].map((peer) => peer.peer_id);
  assert.equal(ids, ['peer-0', 'peer-1', 'peer-2', 'peer-3', 'peer-4']);
});

test('a refusal of the group keeps its code, text and details', async () => {
  const changePeer: OperatorApi['changePeer'] = async () =>
    refused('unknown_peer', { text: 'no peer has this id', details: { reason: 'r' } });
  await start(recordedGroup(0, { changePeer }).group);
  const error = await rejection(callNode(folder, 'peers-status', { peer_id: 'x', status: 'active' }));
  assert.equal([error.code, error.message, error.exitCode], ['unknown_peer', 'no peer has this id', 1]);
  assert.equal(error.details, { reason: 'r' });
});

test('a broken invariant is an internal error without its text, and the socket continues to work', async () => {
  const status = (): never => {
    throw new Error('inner words');
  };
  await start(recordedGroup(1, { status }).group);
  const error = await rejection(callNode(folder, 'status', {}));
  assert.is(error.code, 'internal_error');
  assert.not.match(error.message, 'inner');
  assert.is((await callNode(folder, 'peers-list', { from: 0, limit: 1 })).data.length, 1);
});

test('bad requests are refused with a code and ask nothing of the group', async () => {
  const { group, calls } = recordedGroup(1);
  const { path } = await start(group);
  const cases: readonly [path: string, body: string, status: number, code: string][] = [
    ['/v1/reboot', '{}', 404, 'route_not_found'],
    ['/v1/toString', '{}', 404, 'route_not_found'],
    ['/', '{}', 404, 'route_not_found'],
    ['/v1/status', '', 400, 'malformed_json'],
    ['/v1/status', '{', 400, 'malformed_json'],
    ['/v1/status', '[]', 400, 'schema_validation_failed'],
    ['/v1/status', '{"__proto__":1}', 400, 'schema_validation_failed'],
    ['/v1/erase', '{"subject_hash":"zz"}', 400, 'schema_validation_failed'],
    ['/v1/peers-status', '{"peer_id":"p","status":"gone"}', 400, 'schema_validation_failed'],
    ['/v1/peers-rotate-key', '{"peer_id":"p","overlap_ms":86400001}', 400, 'schema_validation_failed'],
    ['/v1/peers-rotate-key', '{"peer_id":"p","overlap_ms":0,"by":"a\\nb"}', 400, 'schema_validation_failed'],
    ['/v1/peers-add', '{"peer_name":"n","game_ids":["a","a"]}', 400, 'schema_validation_failed'],
    ['/v1/audit-page', '{"after":0,"limit":201}', 400, 'schema_validation_failed'],
    ['/v1/status', JSON.stringify('x'.repeat(limits.eventBodyBytes)), 413, 'payload_too_large'],
  ];
  for (const [target, body, status, code] of cases) {
    const answer = await send(path, target, body);
    assert.equal([answer.status, answer.body.ok, answer.body.code], [status, false, code], `${target} ${body}`);
    assert.type(answer.body.error, 'string');
  }
  assert.is((await send(path, '/v1/status', '{}', 'PUT')).body.code, 'method_not_allowed');
  assert.equal(calls, []);
});

test('a faulty field is named by its pointer', async () => {
  const { path } = await start(recordedGroup(0).group);
  const missing = await send(path, '/v1/peers-add', '{"game_ids":["a"]}');
  assert.equal(missing.body.details, { field: '/peer_name', violation: 'required' });
  const inner = await send(path, '/v1/peers-add', '{"peer_name":"n","game_ids":["a",""]}');
  assert.equal(inner.body.details, { field: '/game_ids/1', violation: 'minLength', actual: 0, limit: 1 });
});

test('where the path is too long for a socket, the folder is reached by a descriptor, which is closed again', async () => {
  const dir = join(folder, 'd'.repeat(limits.socketPathBytes));
  mkdirSync(dir);
  const descriptors = () => readdirSync('/proc/self/fd').length;
  const before = descriptors();
  const socket = await start(recordedGroup(2).group, { dir });
  assert.ok(Buffer.byteLength(socket.path) <= limits.socketPathBytes);
  const [, descriptor] = /^(\/proc\/self\/fd\/\d+)\//.exec(socket.path)!;
  assert.is(readlinkSync(descriptor!), dir);
  assert.is(statSync(socket.path).mode & 0o777, 0o600);
  assert.is((await callNode(dir, 'status', {})).counts.peers, 2);
  await socket.close();
  open.pop();
  assert.is(existsSync(descriptor!) && readlinkSync(descriptor!) === dir, false);
  assert.equal(readdirSync(dir), []);
  assert.is((await rejection(callNode(dir, 'status', {}))).code, 'no_node');
  assert.is((await rejection(callNode(join(dir, 'nowhere'), 'status', {}))).code, 'no_node');
  await until(() => descriptors() <= before);
});

test('the socket of a killed node is replaced', async () => {
  writeFileSync(join(folder, 'operator.sock'), 'no socket at all');
  await start(recordedGroup(1).group);
  assert.is((await callNode(folder, 'status', {})).counts.peers, 1);
});

test('nothing is left after closing, and then there is no node', async () => {
  const socket = await start(recordedGroup(0).group);
  await socket.close();
  open.pop();
  assert.equal(readdirSync(folder), []);
  const error = await rejection(callNode(folder, 'status', {}));
  assert.instance(error, NoNodeError);
  assert.is(error.exitCode, 3);
  assert.is((await rejection(callNode(join(folder, 'nowhere'), 'status', {}))).code, 'no_node');
});

test('a socket without a listener is no node', async () => {
  const { path } = await start(recordedGroup(0).group);
  rmSync(path);
  writeFileSync(path, '');
  assert.is((await rejection(callNode(folder, 'status', {}))).code, 'no_node');
});

/** Calls a node that answers with these pieces of a body, one after the other. */
async function answered(...pieces: readonly (string | Buffer)[]) {
  const length = pieces.reduce((sum, piece) => sum + Buffer.byteLength(piece), 0);
  const server = createHttpServer(async (_, response) => {
    response.writeHead(200, { 'Content-Length': length });
    for (const piece of pieces) {
      await new Promise<void>((resolve) => response.write(piece, () => resolve()));
      // The client reads each piece alone.
      for (let turn = 0; turn < 3; turn++) await new Promise((resolve) => setImmediate(resolve));
    }
    response.end();
  });
  await new Promise<void>((resolve) => server.listen(join(folder, 'operator.sock'), resolve));
  try {
    return await callNode(folder, 'status', {});
  } finally {
    server.close();
  }
}

test('an invalid answer is reported as such', async () => {
  for (const body of ['[]', '', 'no JSON', '{"ok":false}', '{"ok":false,"code":"c"}', '{"ok":1,"value":{}}']) {
    const error = await rejection(answered(body));
    assert.equal([error.code, error.exitCode], ['no_answer', 1], body);
  }
});

test('a character that comes in two pieces is read as one', async () => {
  const bytes = Buffer.from('{"ok":true,"value":{"version":"ü"}}');
  const half = bytes.indexOf(0xc3) + 1;
  assert.equal(await answered(bytes.subarray(0, half), bytes.subarray(half)), { version: 'ü' });
});

test('long work reports progress before its answer, which may still be a refusal', async () => {
  let fails = false;
  const verify: OperatorApi['verify'] = async (onProgress) => {
    onProgress?.(1, 4);
    onProgress?.(4, 4);
    return fails ? refused('overloaded') : granted(intactReport);
  };
  await start(recordedGroup(1, { verify }).group);
  const heard: number[][] = [];
  const progress = { to: (done: number, total: number) => heard.push([done, total]), end: () => {} };
  assert.is((await callNode(folder, 'verify', {}, progress)).last_seq, intactReport.lastSeq);
  assert.equal(heard, [
    [1, 4],
    [4, 4],
  ]);
  fails = true;
  assert.is((await rejection(callNode(folder, 'verify', {}))).code, 'overloaded');
});

test('a command whose answer cannot be written is disconnected, and waits for nothing', async () => {
  const socket = await start(recordedGroup(1).group, { version: 1n as unknown as string });
  const failure = await send(socket.path, `${commandPath}status`, '{}').catch((error: unknown) => error);
  assert.is((failure as NodeJS.ErrnoException).code, 'ECONNRESET');
  assert.match(logged.join(), 'the operator could not be answered');
});

test('a failed command is logged, and a store that cannot be read is reported with the reason', async () => {
  await start(recordedGroup(1, { verify: () => Promise.reject(new UnreadError('the disk is full')) }).group);
  const error = await rejection(callNode(folder, 'verify', {}));
  assert.equal([error.code, error.message], ['dependency_unavailable', 'the disk is full']);
  assert.match(logged.join(), 'an operator command failed');
});

test('a body of the largest size is read, in pieces or whole', async () => {
  const { path } = await start(recordedGroup(1).group);
  const body = `{}${' '.repeat(limits.eventBodyBytes - 2)}`;
  assert.is((await send(path, '/v1/status', body)).status, 200);
  assert.is((await send(path, '/v1/status', `${body} `)).status, 413);
});

test.run();

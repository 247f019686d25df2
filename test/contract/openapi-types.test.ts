/**
 * The types that `openapi-typescript` makes of the OpenAPI document compile under --strict, and the bodies that a node
 * takes and answers are of these types.
 */
import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { openApiDocument } from '../../src/contract/openapi.js';
import { type OperationId, type Route, routes } from '../../src/contract/routes.js';
import { type ErrorCode, errors } from '../../src/errors.js';
import { type Answer, type Ask, ask } from '../http/exchange.js';
import { type FaceOptions, startFace } from '../http/face.js';
import { newPlayer, type PeerClient, registerPeer } from '../http/peer-client.js';
import { startTestNode } from '../support/node.js';

const root = fileURLToPath(new URL('../../../', import.meta.url));

interface Generator {
  default(document: object): Promise<unknown>;
  astToString(ast: unknown): string;
}

let folder = '';
test.before(async () => {
  folder = mkdtempSync(join(tmpdir(), 'ptf-openapi-types-'));
  const { default: generate, astToString } = await loadGenerator();
  writeFileSync(join(folder, 'api.ts'), astToString(await generate(openApiDocument('0.0.0'))));
});
test.after(() => rmSync(folder, { recursive: true, force: true }));

/**
 * `openapi-typescript` beside a compiler that has a programming interface, which TypeScript 7 has not: the one that
 * `@microsoft/api-extractor` brings.
 */
async function loadGenerator(): Promise<Generator> {
  const modules = join(folder, 'node_modules');
  const own = join(modules, 'openapi-typescript');
  cpSync(join(root, 'node_modules/openapi-typescript'), own, { recursive: true });
  const link = (name: string, target: string): void => {
    mkdirSync(dirname(join(modules, name)), { recursive: true });
    symlinkSync(target, join(modules, name));
  };
  const extractor = createRequire(join(root, 'node_modules/@microsoft/api-extractor/package.json'));
  link('typescript', dirname(extractor.resolve('typescript/package.json')));
  const manifest = JSON.parse(readFileSync(join(own, 'package.json'), 'utf8')) as { dependencies: object };
  for (const name of Object.keys(manifest.dependencies)) link(name, join(root, 'node_modules', name));
  return import(pathToFileURL(join(own, 'dist/index.mjs')).href) as Promise<Generator>;
}

interface Compiled {
  readonly code: number | null;
  readonly output: string;
}

/** Compiles a program that imports the types from `./api.js`. */
function compile(program: string): Compiled {
  writeFileSync(join(folder, 'program.ts'), `import type { components, operations } from './api.js';\n${program}`);
  const compiler = join(root, 'node_modules/typescript/bin/tsc');
  const strict = ['--strict', '--exactOptionalPropertyTypes', '--noUncheckedIndexedAccess'];
  const form = ['--noEmit', '--pretty', 'false', '--module', 'nodenext', '--target', 'es2022', '--types', ''];
  const run = spawnSync(process.execPath, [compiler, ...strict, ...form, 'program.ts'], {
    cwd: folder,
    encoding: 'utf8',
  });
  return { code: run.status, output: (run.stdout + run.stderr).slice(0, 4_000) };
}

/** Bodies of requests and answers, each as a constant of the type that the document gives it. */
class Bodies {
  readonly #constants: string[] = [];
  readonly #answered = new Set<string>();
  readonly #codes = new Set<string>();

  get program(): string {
    return this.#constants.join('\n');
  }

  takes(id: OperationId, body: unknown): void {
    this.#add(`NonNullable<operations['${id}']['requestBody']>['content']['application/json']`, body);
  }

  async asks(id: OperationId, url: string, path: string, how: Ask = {}): Promise<Answer> {
    const answer = await ask(url, path, how);
    const type = answer.headers['content-type']?.split(';')[0] ?? '';
    this.#add(`operations['${id}']['responses'][${answer.status}]['content']['${type}']`, answer.body);
    this.#answered.add(`${id} ${answer.status}`);
    if (answer.body.details !== undefined) this.#codes.add(answer.body.code);
    return answer;
  }

  wasAnswered(id: string, status: string): boolean {
    return this.#answered.has(`${id} ${status}`);
  }

  hasDetailsOf(code: ErrorCode): boolean {
    return this.#codes.has(code);
  }

  #add(type: string, body: unknown): void {
    this.#constants.push(`export const b${this.#constants.length}: ${type} = ${JSON.stringify(body)};`);
  }
}

async function askNode(bodies: Bodies): Promise<void> {
  const node = await startTestNode();
  try {
    const { url } = node;
    const peer = await registerPeer(url);
    const other = await registerPeer(url, 'Other');
    const registration = { peer_name: 'Third', game_ids: ['arena'], contact_email: 'ops@example.com' };
    bodies.takes('registerPeer', registration);
    await bodies.asks('registerPeer', url, '/api/v1/peers/register', { json: registration });
    await bodies.asks('registerPeer', url, '/api/v1/peers/register', { json: { peer_name: ' a', game_ids: 'a, b' } });
    await askEvents(bodies, peer, other);
    const { key } = peer;
    for (const id of ['getIndex', 'getHealth', 'getReadiness', 'getOpenApi'] as const)
      await bodies.asks(id, url, routes[id].path);
    await bodies.asks('listPeers', url, '/api/v1/peers?limit=1');
    await bodies.asks('listPeers', url, '/api/v1/peers', { key });
    await bodies.asks('listAudit', url, '/api/v1/audit', { headers: { Authorization: 'Bearer x' } });
    await bodies.asks('listAudit', url, '/api/v1/audit', { key });
    await bodies.asks('listAudit', url, '/api/v1/audit');
    const player = newPlayer();
    await peer.submit({ player_id: player });
    const base = `/api/v1/players/${player}`;
    await bodies.asks('getTrustScore', url, `${base}/trust-score`);
    await bodies.asks('getTrustScore', url, `${base}/trust-score?explain=true`);
    await bodies.asks('getTrustScore', url, '/api/v1/players/a%00/trust-score');
    await bodies.asks('getTrustScore', url, '/api/v1/players/nobody/trust-score');
    await bodies.asks('getVerdict', url, `${base}/verdict`);
    await bodies.asks('listPlayerEvents', url, `${base}/events`, { key });
    await bodies.asks('getTrustScores', url, `/api/v1/trust-scores?ids=${player},nobody`);
    await bodies.asks('getTrustScores', url, '/api/v1/trust-scores', {
      headers: { Accept: 'application/problem+json' },
    });
    const disputed = `/api/v1/subjects/${await reported(peer)}/disputes`;
    const dispute = { text: 'not so', peer_id: peer.peerId };
    bodies.takes('openDispute', dispute);
    await bodies.asks('openDispute', url, disputed, { key, json: dispute });
    await bodies.asks('openDispute', url, disputed, { key, json: dispute });
    await bodies.asks('openDispute', url, disputed, { key, json: { text: '' } });
    await bodies.asks('listPlayerEvents', url, `/api/v1/players/${'ab'.repeat(32)}/events`, { key });
    await bodies.asks('eraseSubject', url, `/api/v1/subjects/${'ab'.repeat(32)}`, { method: 'DELETE', key });
  } finally {
    await node.close();
  }
}

async function askEvents(bodies: Bodies, peer: PeerClient, other: PeerClient): Promise<void> {
  const { url, key } = peer;
  const event = { ...peer.event({ event_id: 'mine' }), signature: { any: ['value', null] } };
  bodies.takes('submitEvent', event);
  bodies.takes('submitEvent', peer.event());
  bodies.takes('submitEvent', peer.event({ schema_version: '1.1.0', origin: 'list', reference: 'ticket' }));
  const path = '/api/v1/events';
  await bodies.asks('submitEvent', url, path, { key, json: event });
  await bodies.asks('submitEvent', url, path, { key, json: event });
  await bodies.asks('submitEvent', url, path, { key: other.key, json: { ...event, peer_id: other.peerId } });
  await bodies.asks('submitEvent', url, path, { key, json: { severity: 2, timestamp: 1, unknown: 1 } });
  const headers = { Accept: 'application/problem+json' };
  await bodies.asks('submitEvent', url, path, { key, json: { severity: 2 }, headers });
  const batch = { events: [peer.event(), event] };
  bodies.takes('submitEvents', batch);
  const sent = { events: [...batch.events, {}, null, peer.event({ game_id: 'unknown' })] };
  await bodies.asks('submitEvents', url, `${path}/batch`, { key, json: sent });
  await bodies.asks('submitEvents', url, `${path}/batch`, { key, json: [] });
  await bodies.asks('withdrawEvent', url, `${path}/mine`, { method: 'DELETE', key });
  await bodies.asks('withdrawEvent', url, `${path}/%00`, { method: 'DELETE', key });
  await bodies.asks('listErasedEvents', url, `${path}/erased`, { key });
  await bodies.asks('listErasedEvents', url, `${path}/erased?limit=0`, { key });
}

/** The subject hash of a player with an event. */
async function reported(peer: PeerClient): Promise<string> {
  const player_id = 'ab'.repeat(32);
  await peer.submit({ player_id });
  return player_id;
}

/** An erasure that waits for the operator. */
async function askOperatorMode(bodies: Bodies): Promise<void> {
  const node = await startTestNode({ ERASURE_MODE: 'operator' });
  try {
    const peer = await registerPeer(node.url);
    const path = `/api/v1/subjects/${await reported(peer)}`;
    await bodies.asks('eraseSubject', node.url, path, { method: 'DELETE', key: peer.key });
  } finally {
    await node.close();
  }
}

/** What only a node that is in trouble, or that limits rates, answers. */
async function askTroubled(bodies: Bodies): Promise<void> {
  const fail = (): never => {
    throw new Error('inner words');
  };
  const asked: readonly [options: FaceOptions, times: number][] = [
    [{ group: { isReady: false } }, 1],
    [{ group: { peers: fail } }, 1],
    [{ settings: { rateLimitAddressPerS: 1 } }, 3],
  ];
  for (const [options, times] of asked) {
    const face = await startFace(options);
    try {
      for (let i = 0; i < times; i++) await bodies.asks('listPeers', face.url, '/api/v1/peers');
    } finally {
      await face.drain();
    }
  }
}

test('types of openapi-typescript compile under --strict, and every body is of its type', async () => {
  const bodies = new Bodies();
  await askNode(bodies);
  await askOperatorMode(bodies);
  await askTroubled(bodies);
  const rows = Object.entries<Route>(routes).flatMap(([id, route]) =>
    Object.entries(route.success).flatMap(([status, { schema }]) =>
      schema === undefined ? [] : [[id, status] as const],
    ),
  );
  const unseen = rows.filter(([id, status]) => !bodies.wasAnswered(id, status));
  assert.equal(unseen, [], 'every success of the table is among the bodies');
  const { code, output } = compile(bodies.program);
  assert.is(code, 0, output);
  for (const detailed of detailedCodes) assert.ok(bodies.hasDetailsOf(detailed), detailed);
});

const detailedCodes = [
  'schema_validation_failed',
  'invalid_parameter',
  'duplicate_event',
  'duplicate_dispute',
  'rate_limited',
  'internal_error',
  'dependency_unavailable',
] as const satisfies readonly ErrorCode[];

test('the code of an error tells the type of its details', () => {
  const { code, output } = compile(`
    type Error = components['schemas']['Error'];
    export function read(error: Error): string | number | undefined {
      if (error.code === 'schema_validation_failed') return error.details.more?.[0]?.error ?? error.details.field;
      if (error.code === 'duplicate_event' && 'owner' in error.details) return error.details.owner;
      if (error.code === 'internal_error') return error.details.request_id;
      if (error.code === 'rate_limited') return error.details.per_s;
      if (error.code === 'dependency_unavailable') return error.details?.reason;
      return error.code satisfies components['schemas']['ErrorCode'];
    }
    // @ts-expect-error these details are of another code
    export const a: Error = { error: 'x', code: 'duplicate_event', details: { request_id: 'x' } };
    // @ts-expect-error no such code
    export const b: Error = { error: 'x', code: 'nonsense' };
    // @ts-expect-error details that must be there
    export const c: Error = { error: 'x', code: 'schema_validation_failed' };
    // @ts-expect-error no such event type
    export const d: components['schemas']['Event']['event_type'] = 'nonsense';
  `);
  assert.is(code, 0, output);
});

test('the codes of errors are one named schema, which is referenced and written out nowhere else', () => {
  const text = JSON.stringify(openApiDocument('0.0.0'));
  assert.ok(text.includes('"#/components/schemas/ErrorCode"'));
  const lists = text.split(JSON.stringify(Object.keys(errors))).length - 1;
  assert.is(lists, 1);
});

test.run();

/**
 * The types that two generators make of the OpenAPI documents compile under --strict, and the bodies that a node takes
 * and answers are of these types.
 */
import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { generateApi } from 'swagger-typescript-api';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { openApiDocument } from '../../src/contract/openapi.js';
import { openApi30Document } from '../../src/contract/openapi-3-0.js';
import { type OperationId, type Route, routes } from '../../src/contract/routes.js';
import { type ErrorCode, errors } from '../../src/errors.js';
import { temporaryFolder } from '../support/process.js';
import { type AnsweredBody, everyBody, type PerBody, type TakenBody } from './every-body.js';

const root = fileURLToPath(new URL('../../../', import.meta.url));

const document = openApiDocument('0.0.0');
const document30 = openApi30Document(document);

let folder = '';
/** The compiler's errors about each program; nothing for a correct one. */
let faults: ReadonlyMap<string, string> = new Map();
let taken: readonly TakenBody[] = [];
let answered: readonly AnsweredBody[] = [];
test.before(async () => {
  folder = temporaryFolder();
  const { default: generate, astToString } = await loadOpenApiTypescript();
  writeFileSync(join(folder, 'types-3-1.ts'), astToString(await generate(document)));
  writeFileSync(join(folder, 'types-3-0.ts'), astToString(await generate(document30)));
  writeFileSync(join(folder, 'client-3-0.ts'), await swaggerTypescriptApi());
  ({ taken, answered } = await everyBody());
  const openApiTypescript = {
    'bodies-3-1': bodiesOfOpenApiTypescript('types-3-1'),
    'bodies-3-0': bodiesOfOpenApiTypescript('types-3-0'),
    'errors-3-1': errorsOfOpenApiTypescript('types-3-1'),
    'errors-3-0': errorsOfOpenApiTypescript('types-3-0', readsUnitedError),
  };
  const swagger = {
    'bodies-of-client': `import * as api from './client-3-0.js';\n${declarations((id) => `api.${requestNames[id]}`, swaggerTypeOf)}`,
    'errors-of-client': `import type { Error, ErrorCode, Event } from './client-3-0.js';\n${readsUnitedError}`,
  };
  faults = new Map([
    ...compile(openApiTypescript, ['--exactOptionalPropertyTypes']),
    // Its client passes undefined for members that are left out, which `exactOptionalPropertyTypes` forbids.
    ...compile(swagger, ['--lib', 'es2022,dom']),
  ]);
});

interface OpenApiTypescript {
  default(document: object): Promise<unknown>;
  astToString(ast: unknown): string;
}

/**
 * `openapi-typescript` beside a compiler that has a programming interface, which TypeScript 7 has not: the one that
 * `@microsoft/api-extractor` brings.
 */
async function loadOpenApiTypescript(): Promise<OpenApiTypescript> {
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
  return import(pathToFileURL(join(own, 'dist/index.mjs')).href) as Promise<OpenApiTypescript>;
}

/** A whole client for `fetch`, with its types, in one file. */
async function swaggerTypescriptApi(): Promise<string> {
  const { files } = await generateApi({
    spec: JSON.parse(JSON.stringify(document30)),
    output: false,
    silent: true,
    httpClientType: 'fetch',
    generateUnionEnums: true,
    extractResponseBody: true,
    extractResponseError: true,
  });
  assert.is(files.length, 1);
  return files[0]!.fileContent;
}

/**
 * Compiles the programs in one run and returns what the compiler says of each, by name; of a fault in the generated
 * types it says so for every program.
 */
function compile(programs: Readonly<Record<string, string>>, options: readonly string[]): Map<string, string> {
  for (const [name, text] of Object.entries(programs)) writeFileSync(join(folder, `${name}.ts`), text);
  const compiler = join(root, 'node_modules/typescript/bin/tsc');
  const form = ['--noEmit', '--pretty', 'false', '--module', 'nodenext', '--target', 'es2022', '--types', ''];
  const files = Object.keys(programs).map((name) => `${name}.ts`);
  const args = [compiler, '--strict', '--noUncheckedIndexedAccess', ...form, ...options, ...files];
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { cwd: folder, encoding: 'utf8' });
  const lines = `${stdout}${stderr}`.split('\n');
  const isGenerated = /^(?:types|client)-/;
  const faults = files.map((file) =>
    lines.filter((line) => isGenerated.test(line) || line.startsWith(file)).join('\n'),
  );
  assert.ok(status === 0 || faults.some((text) => text !== ''), lines.join('\n'));
  return new Map(Object.keys(programs).map((name, i) => [name, (faults[i] ?? '').slice(0, 4_000)]));
}

/** A program that declares each body as a constant of the type that a generator gives it. */
function declarations(
  typeOfTaken: (id: OperationId) => string,
  typeOfAnswer: (answer: AnsweredBody) => string,
): string {
  const all = [
    ...taken.map(({ id, body }) => [typeOfTaken(id), body] as const),
    ...answered.map((answer) => [typeOfAnswer(answer), answer.body] as const),
  ];
  return all.map(([type, body], i) => `export const b${i}: ${type} = ${JSON.stringify(body)};`).join('\n');
}

function bodiesOfOpenApiTypescript(types: string): string {
  const program = declarations(
    (id) => `NonNullable<operations['${id}']['requestBody']>['content']['application/json']`,
    ({ id, status, contentType }) => `operations['${id}']['responses'][${status}]['content']['${contentType}']`,
  );
  return `import type { operations } from './${types}.js';\n${program}`;
}

function errorsOfOpenApiTypescript(types: string, program = readsError): string {
  const aliases = ['Error', 'ErrorCode', 'Event'].map((one) => `type ${one} = components['schemas']['${one}'];`);
  return `import type { components } from './${types}.js';\n${aliases.join('\n')}\n${program}`;
}

/** Names of the types of requests, which swagger-typescript-api takes from the schemas. */
const requestNames: PerBody<string> = {
  registerPeer: 'Registration',
  submitEvent: 'Event',
  submitEvents: 'EventBatch',
  openDispute: 'Dispute',
};

/** Its types of answers are those of the first success and of the plain error; the others have names of their own. */
function swaggerTypeOf({ id, status, contentType }: AnsweredBody): string {
  const prefix = id.charAt(0).toUpperCase() + id.slice(1);
  if (status >= 400) return contentType === 'application/problem+json' ? 'api.Problem' : `api.${prefix}Error`;
  return id === 'eraseSubject' && status === 202 ? 'api.PendingErasure' : `api.${prefix}Data`;
}

const readsError = `
  export function read(error: Error): string | number | undefined {
    if (error.code === 'schema_validation_failed') return error.details.more?.[0]?.error ?? error.details.field;
    if (error.code === 'duplicate_event' && 'owner' in error.details) return error.details.owner;
    if (error.code === 'internal_error') return error.details.request_id;
    if (error.code === 'rate_limited') return error.details.per_s;
    if (error.code === 'dependency_unavailable') return error.details?.reason;
    return error.code satisfies ErrorCode;
  }
  // @ts-expect-error these details are of another code
  export const a: Error = { error: 'x', code: 'duplicate_event', details: { request_id: 'x' } };
  // @ts-expect-error no such code
  export const b: Error = { error: 'x', code: 'nonsense' };
  // @ts-expect-error details that must be there
  export const c: Error = { error: 'x', code: 'schema_validation_failed' };
  // @ts-expect-error no such event type
  export const d: Event['event_type'] = 'nonsense';
`;

/** 3.0 has no unions, so that the details have the members of every code. */
const readsUnitedError = `
  export function read({ code, details }: Error): string | number | undefined {
    if (code === 'schema_validation_failed') return details?.more?.[0]?.error ?? details?.field;
    if (code === 'duplicate_event') return details?.owner;
    if (code === 'rate_limited') return details?.per_s;
    return details?.request_id ?? details?.reason ?? (code satisfies ErrorCode);
  }
  // @ts-expect-error no such code
  export const b: Error = { error: 'x', code: 'nonsense' };
  // @ts-expect-error no such event type
  export const d: Event['event_type'] = 'nonsense';
`;

test('every success of the table and every kind of details is among the bodies', () => {
  const rows = Object.entries<Route>(routes).flatMap(([id, route]) =>
    Object.entries(route.success).flatMap(([status, { schema }]) => (schema === undefined ? [] : [`${id} ${status}`])),
  );
  const seen = answered.map(({ id, status }) => `${id} ${status}`);
  assert.equal(
    rows.filter((row) => !seen.includes(row)),
    [],
  );
  const bodies = answered.map(({ body }) => body as { readonly code?: string; readonly details?: object });
  const detailed = bodies.filter(({ details }) => details !== undefined).map(({ code }) => code);
  assert.equal(
    detailedCodes.filter((code) => !detailed.includes(code)),
    [],
  );
});

const detailedCodes = [
  'schema_validation_failed',
  'invalid_parameter',
  'missing_api_key',
  'duplicate_event',
  'duplicate_dispute',
  'rate_limited',
  'internal_error',
  'dependency_unavailable',
] as const satisfies readonly ErrorCode[];

for (const version of ['3.1', '3.0']) {
  const name = version.replace('.', '-');

  test(`types of openapi-typescript from ${version} compile under --strict, and every body is of its type`, () => {
    assert.is(faults.get(`bodies-${name}`), '');
  });
}

test('the code of an error determines the type of its details (3.1)', () => assert.is(faults.get('errors-3-1'), ''));

test('the details of an error have the members of every code, and its code is one of the list (3.0)', () => {
  assert.is(faults.get('errors-3-0'), '');
  assert.is(faults.get('errors-of-client'), '');
});

test('a client of swagger-typescript-api compiles under --strict, and every body is of its type', () => {
  assert.is(faults.get('bodies-of-client'), '');
});

test('every body satisfies its schema of 3.0', () => {
  const ajv = new Ajv2020({ strict: false, validateFormats: false });
  ajv.addSchema(JSON.parse(JSON.stringify(document30)), 'document');
  for (const { id, status, contentType, body } of answered) {
    const { path, method } = routes[id];
    const parts = ['paths', path, method.toLowerCase(), 'responses', status, 'content', contentType, 'schema'];
    const pointer = parts.map((part) => encodeURIComponent(String(part).replaceAll('/', '~1'))).join('/');
    const validate = ajv.compile({ $ref: `document#/${pointer}` });
    assert.ok(validate(body), `${id} ${status}: ${ajv.errorsText(validate.errors)}`);
  }
});

test('the codes of errors are one named schema, which is only referenced', () => {
  const text = JSON.stringify(document);
  assert.ok(text.includes('"#/components/schemas/ErrorCode"'));
  const lists = text.split(JSON.stringify(Object.keys(errors))).length - 1;
  assert.is(lists, 1);
});

test.run();

import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { type detailsByCode, errorSchema } from '../../src/contract/error-bodies.js';
import { openApiDocument } from '../../src/contract/openapi.js';
import { everyRoute, type Route, routes } from '../../src/contract/routes.js';
import { changedPlayerSchema } from '../../src/contract/verdict-stream.js';
import { type ErrorDetails, errors } from '../../src/errors.js';
import type { FromSchema } from '../../src/validation/schema.js';
import { validatorOf } from '../../src/validation/validator.js';

/** A type without intersections. */
type Plain<T> = T extends object ? { readonly [Name in keyof T]: Plain<T[Name]> } : T;
type IsSame<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
type Described = typeof detailsByCode;
type Differing = {
  [Code in keyof Described]: IsSame<Plain<ErrorDetails[Code]>, Plain<FromSchema<Described[Code]>>> extends true
    ? never
    : Code;
}[keyof Described];
// The schemas of details and the types that refusals use are the same: `npm run types` names a code where they differ.
true satisfies [Differing] extends [never] ? true : Differing;

interface Response {
  readonly description: string;
  readonly headers?: object;
  readonly content?: {
    readonly 'application/json'?: { readonly examples?: Readonly<Record<string, { readonly value: unknown }>> };
  };
}

interface Operation {
  readonly operationId: string;
  readonly security: readonly object[];
  readonly parameters: readonly {
    readonly name: string;
    readonly in: string;
    readonly schema: object;
    readonly required: boolean;
    readonly allowReserved?: boolean;
  }[];
  readonly requestBody?: { readonly content: object; readonly required: boolean };
  readonly responses: Readonly<Record<string, Response>>;
}

interface Document {
  readonly openapi: string;
  readonly info: { readonly version: string };
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, object>>; readonly securitySchemes: object };
}

const document: Document = JSON.parse(JSON.stringify(openApiDocument('1.2.3')));
const table = Object.entries<Route>(routes).filter(([, route]) => !route.page);

function operation(route: Route): Operation {
  const found = document.paths[route.path]?.[route.method.toLowerCase()];
  if (found === undefined) throw new Error(`${route.method} ${route.path} is not described`);
  return found;
}

test('the document is OpenAPI 3.1 of the running version', () => {
  assert.match(document.openapi, /^3\.1\.\d$/);
  assert.is(document.info.version, '1.2.3');
});

test('the description has exactly the rows of the table', () => {
  const described = Object.values(document.paths).flatMap((path) => Object.values(path).map((one) => one.operationId));
  assert.equal(described.sort(), table.map(([id]) => id).sort());
});

test('every status that a row can yield has a response, with its codes', () => {
  for (const [, route] of table) {
    const { responses } = operation(route);
    for (const status of Object.keys(route.success)) assert.ok(responses[status], `${route.path} ${status}`);
    for (const code of [...route.codes, ...everyRoute]) {
      const response = responses[String(errors[code].status)];
      assert.ok(response?.description.includes(`\`${code}\``), `${route.path} ${code}`);
    }
  }
});

test('every parameter of a path is declared', () => {
  for (const [, route] of table) {
    const declared = operation(route).parameters.filter((one) => one.in === 'path');
    const inPath = [...route.path.matchAll(/\{(\w+)\}/g)].map((found) => found[1]);
    assert.equal(
      declared.map((one) => one.name),
      inPath,
    );
    for (const one of declared) assert.ok(one.schema, `${route.path} ${one.name}`);
  }
});

test('every example of an error satisfies its schema', () => {
  const validate = validatorOf(errorSchema);
  const examples = table.flatMap(([, route]) =>
    Object.values(operation(route).responses).flatMap(({ content }) =>
      Object.values(content?.['application/json']?.examples ?? {}),
    ),
  );
  assert.ok(examples.length > 0);
  for (const { value } of examples) assert.ok(validate(value).ok, JSON.stringify(value));
});

test('every reference leads to a schema, and every schema is referred to', () => {
  const text = JSON.stringify(document);
  const referred = new Set([...text.matchAll(/"#\/components\/schemas\/(\w+)"/g)].map((found) => found[1]));
  assert.equal([...referred].sort(), Object.keys(document.components.schemas).sort());
});

test('only the routes that need a key ask for one', () => {
  for (const [id, route] of table) {
    const { security } = operation(route);
    assert.is(
      security.some((one) => 'peerKey' in one),
      route.auth !== 'none',
      id,
    );
    // An empty list is what Swagger UI shows without a padlock.
    const isOpen = security.length === 0 || security.some((one) => Object.keys(one).length === 0);
    assert.is(isOpen, route.auth !== 'required', id);
    if (route.auth === 'none' && id !== 'registerPeer') assert.equal(security, [], id);
  }
});

test('the lowest and the highest score of a changed player are valid, and nothing beyond', () => {
  const isValid = validatorOf(changedPlayerSchema);
  const player = { subject_hash: 'ab'.repeat(32), confidence: 0, verdict: 'neutral' };
  assert.equal(
    [-0.1, 0, 100, 100.1].map((score) => isValid({ ...player, score }).ok),
    [false, true, true, false],
  );
  assert.equal(
    [-0.1, 1, 1.1].map((confidence) => isValid({ ...player, score: 50, confidence }).ok),
    [false, true, false],
  );
});

test('a response names the header that tells its caller what to do: a key, another method, a later time', () => {
  const later = 'Retry-After';
  const headers = { 401: ['WWW-Authenticate'], 405: ['Allow'], 429: [later, 'RateLimit'], 503: [later] };
  const { responses } = operation(routes.submitEvent);
  for (const [status, { headers: named }] of Object.entries(responses)) {
    const found = Object.keys(named ?? {}).filter((name) => Object.values(headers).flat().includes(name));
    assert.equal(found, headers[Number(status) as keyof typeof headers] ?? [], status);
  }
  for (const status of Object.keys(headers)) assert.ok(responses[status], status);
});

test('the table states who may call each route, whether it is cached, and whether it always answers', () => {
  const rows = Object.entries<Route>(routes).map(([id, { method, auth, cache, whileNotReady, page, body }]) =>
    [id, method, auth, cache, whileNotReady && 'always', page && 'page', body && `${body.bytesMax}`]
      .filter((part) => part !== undefined && part !== false)
      .join(' '),
  );
  assert.equal(rows, [
    'getIndex GET none none always',
    'getHealth GET none none always',
    'getReadiness GET none none always',
    'registerPeer POST none none 16384',
    'listPeers GET optional public',
    'listAudit GET required none',
    'submitEvent POST required none 16384',
    'submitEvents POST required none 1048576',
    'withdrawEvent DELETE required none',
    'listErasedEvents GET required none',
    'eraseSubject DELETE required none',
    'openDispute POST required none 16384',
    'getTrustScore GET optional public',
    'getVerdict GET optional public',
    'listPlayerEvents GET optional public',
    'getTrustScores GET optional public',
    'streamVerdicts GET required none',
    'getOpenApi GET none public always',
    'getOpenApi30 GET none public always',
    'getDocs GET none public always page',
    'getDocsAsset GET none public always page',
  ]);
});

test('an operation states its parameters, headers and body as its route needs them', () => {
  const parametersOf = (route: Route) => operation(route).parameters.map((one) => `${one.in} ${one.name}`);
  const signed = ['header Signature-Input', 'header Signature'];
  assert.equal(parametersOf(routes.submitEvent), [...signed, 'header Content-Digest']);
  assert.equal(parametersOf(routes.withdrawEvent), ['path event_id', ...signed]);
  assert.equal(parametersOf(routes.registerPeer), []);
  assert.equal(parametersOf(routes.getTrustScores), ['query ids', 'query id']);
  assert.equal(parametersOf(routes.streamVerdicts), ['header Last-Event-ID']);
  for (const [, route] of table) {
    const { parameters, requestBody, responses } = operation(route);
    for (const one of parameters) {
      assert.is(one.required, one.in === 'path', `${route.path} ${one.name}`);
      assert.is(one.allowReserved, one.name === 'ids' ? true : undefined, one.name);
    }
    assert.is(requestBody?.required, route.body === undefined ? undefined : true, route.path);
    assert.is('304' in responses, route.cache === 'public', route.path);
    for (const [status, { headers = {} }] of Object.entries(responses)) {
      if (status === '304') continue;
      assert.ok('X-Request-Id' in headers, `${route.path} ${status}`);
      assert.is('ETag' in headers, status in route.success && route.cache === 'public', `${route.path} ${status}`);
    }
  }
});

test.run();

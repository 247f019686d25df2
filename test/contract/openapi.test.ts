import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { errorSchema } from '../../src/contract/error-bodies.js';
import { openApiDocument } from '../../src/contract/openapi.js';
import { everyRoute, type Route, routes } from '../../src/contract/routes.js';
import { changedPlayerSchema } from '../../src/contract/verdict-stream.js';
import { errors } from '../../src/errors.js';
import { validatorOf } from '../../src/validation/validator.js';

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
  readonly parameters: readonly { readonly name: string; readonly in: string; readonly schema: object }[];
  readonly requestBody?: { readonly content: object };
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
  const headers = { 401: 'WWW-Authenticate', 405: 'Allow', 429: 'Retry-After', 503: 'Retry-After' };
  const { responses } = operation(routes.submitEvent);
  for (const [status, { headers: named }] of Object.entries(responses)) {
    const expected = headers[Number(status) as keyof typeof headers];
    const found = Object.keys(named ?? {}).filter((name) => Object.values(headers).includes(name));
    assert.equal(found, expected === undefined ? [] : [expected], status);
  }
  for (const status of Object.keys(headers)) assert.ok(responses[status], status);
});

test.run();

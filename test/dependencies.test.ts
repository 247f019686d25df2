/**
 * The packages that a release runs or is built with are those that were reviewed, and the check of it finds what it is
 * for.
 */
import { readFileSync } from 'node:fs';
import { test } from 'uvu';
import * as assert from 'uvu/assert';

interface Check {
  dependencyFaults(manifest: unknown, lock: unknown, node: readonly [number, number]): string[];
  admits(range: string, node: readonly [number, number]): boolean;
}

const check: Check = await import(new URL('../../scripts/lib/dependencies.mjs', import.meta.url).href);

const read = (name: string): unknown => JSON.parse(readFileSync(new URL(`../../${name}`, import.meta.url), 'utf8'));

test('the lock file holds nothing that was not reviewed', () => {
  assert.equal(check.dependencyFaults(read('package.json'), read('package-lock.json'), [20, 19]), []);
});

test('a loose version, a script, a licence, a missing digest and a newer Node are found', () => {
  const good = { version: '1.0.0', license: 'MIT', integrity: 'sha512-x', engines: { node: '>=18' } };
  const faults = (manifest: object, one: object): string[] =>
    check.dependencyFaults(
      { scarfSettings: { enabled: false }, ...manifest },
      { packages: { '': {}, 'node_modules/a': one } },
      [20, 19],
    );
  assert.equal(faults({ dependencies: { a: '1.0.0' } }, good), []);
  assert.equal(faults({ dependencies: { a: '^1.0.0' } }, good), ['a ^1.0.0 is no exact version']);
  assert.equal(faults({ overrides: { b: { a: '1.0.0' } } }, good), []);
  assert.equal(faults({ overrides: { b: { a: '^1.0.0' } } }, good), ['a ^1.0.0 is no exact version']);
  assert.equal(faults({ scarfSettings: {} }, good), ['scarfSettings.enabled is not false']);
  assert.equal(faults({}, { ...good, hasInstallScript: true }), ['a runs a script at install']);
  assert.equal(faults({}, { ...good, license: 'GPL-3.0' }), ['a has the licence GPL-3.0']);
  assert.equal(faults({}, { ...good, license: undefined }), ['a has the licence of nobody']);
  assert.equal(faults({}, { ...good, license: '(MIT OR GPL-3.0)' }), []);
  assert.equal(faults({}, { ...good, license: 'MIT AND GPL-3.0' }), ['a has the licence MIT AND GPL-3.0']);
  assert.equal(faults({}, { ...good, integrity: undefined }), ['a has no digest']);
  assert.equal(faults({}, { ...good, engines: { node: '>=22' } }), ['a asks for Node >=22']);
});

test('ranges of Node are read as npm reads them', () => {
  for (const range of ['>=20', '>= 20.19.0', '^18 || >=20', '18 || 20 || >=22', '*', '^20.17.0 || >=22.9.0', '20.x'])
    assert.ok(check.admits(range, [20, 19]), range);
  for (const range of ['>=22', '>=20.20', '^18', '18', '^18 || ^22']) assert.not(check.admits(range, [20, 19]), range);
});

test.run();

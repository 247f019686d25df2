/** The files of the bench depend on each other in one direction. */
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';

/** The first chain of imports that ends where it begins; null where there is none. */
function cycleIn(imports: ReadonlyMap<string, readonly string[]>): readonly string[] | null {
  const finished = new Set<string>();
  const visit = (file: string, path: readonly string[]): readonly string[] | null => {
    if (path.includes(file)) return [...path.slice(path.indexOf(file)), file];
    if (finished.has(file)) return null;
    for (const other of imports.get(file) ?? []) {
      const found = visit(other, [...path, file]);
      if (found !== null) return found;
    }
    finished.add(file);
    return null;
  };
  for (const file of imports.keys()) {
    const found = visit(file, []);
    if (found !== null) return found;
  }
  return null;
}

test('no file of the bench imports itself through others, for its types neither', () => {
  const files = readdirSync('bench', { recursive: true, encoding: 'utf8' }).filter((path) => path.endsWith('.ts'));
  const imports = new Map(
    files.map((path) => {
      const names = [...readFileSync(join('bench', path), 'utf8').matchAll(/ from '(\.[^']+)\.js'/g)];
      return [path, names.map(([, name]) => `${normalize(join(dirname(path), name!))}.ts`)] as const;
    }),
  );
  assert.ok(imports.get('main.ts')!.includes('compare.ts'));
  assert.equal(cycleIn(imports), null);
  const circle = new Map([
    ['a', ['b', 'c']],
    ['b', []],
    ['c', ['a']],
  ]);
  assert.equal(cycleIn(circle), ['a', 'c', 'a']);
});

test.run();

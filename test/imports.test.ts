/** Imports lead in one direction: no two folders need each other. Biome's noImportCycles says the same of files. */
import { readdirSync, readFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';

type Graph = ReadonlyMap<string, readonly string[]>;

/** The first chain of imports that ends where it begins; null if there is none. */
function cycleIn(graph: Graph): readonly string[] | null {
  const finished = new Set<string>();
  const visit = (node: string, path: readonly string[]): readonly string[] | null => {
    if (path.includes(node)) return [...path.slice(path.indexOf(node)), node];
    if (finished.has(node)) return null;
    for (const other of graph.get(node) ?? []) {
      const found = visit(other, [...path, node]);
      if (found !== null) return found;
    }
    finished.add(node);
    return null;
  };
  for (const node of graph.keys()) {
    const found = visit(node, []);
    if (found !== null) return found;
  }
  return null;
}

/** Per file of `src` the files that it imports, types included. */
function importsOfSrc(): Graph {
  const files = readdirSync('src', { recursive: true, encoding: 'utf8' }).filter((path) => path.endsWith('.ts'));
  return new Map(
    files.map((path) => {
      const text = readFileSync(join('src', path), 'utf8');
      const names = [...text.matchAll(/(?:\bfrom|\bimport)\s*\(?\s*'(\.[^']+)\.js'/g)].map(([, name]) => name!);
      return [path, names.map((name) => `${posix.join(posix.dirname(path), name)}.ts`)];
    }),
  );
}

/** The same between folders. A folder and one inside it are one concept, so that their imports are left out. */
function foldersOf(graph: Graph): Graph {
  const folders = new Map<string, string[]>();
  for (const [path, imported] of graph) {
    const from = posix.dirname(path);
    const others = imported
      .map((file) => posix.dirname(file))
      .filter((to) => to !== from && !`${to}/`.startsWith(`${from}/`) && !`${from}/`.startsWith(`${to}/`));
    folders.set(from, [...(folders.get(from) ?? []), ...others.filter((to) => to !== '.')]);
  }
  return folders;
}

test('no two folders of src need each other', () => {
  const folders = foldersOf(importsOfSrc());
  assert.ok(folders.get('group/actor')!.includes('group/ports'));
  assert.equal(cycleIn(folders), null);
});

test('no folder of src holds more than 15 files of code', () => {
  const folders = new Map<string, number>();
  for (const path of importsOfSrc().keys()) {
    folders.set(posix.dirname(path), (folders.get(posix.dirname(path)) ?? 0) + 1);
  }
  assert.equal(
    [...folders].filter(([, files]) => files > 15),
    [],
  );
});

test('a circle is found', () => {
  assert.equal(
    cycleIn(
      new Map([
        ['a', ['b', 'c']],
        ['b', []],
        ['c', ['a']],
      ]),
    ),
    ['a', 'c', 'a'],
  );
  const folders = foldersOf(
    new Map([
      ['x/a.ts', ['y/b.ts', 'x/in/d.ts']],
      ['y/b.ts', ['x/c.ts']],
    ]),
  );
  assert.equal(folders.get('x'), ['y']);
  assert.equal(cycleIn(folders), ['x', 'y', 'x']);
});

test.run();

/**
 * The oracle may know what is on the wire and nothing of how the service comes to it: of `src/` it imports types alone.
 */
import { readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { fileURLToPath } from 'node:url';
import { test } from 'uvu';
import * as assert from 'uvu/assert';

/** Files that say what must be, and compare; what they import belongs to them. */
const oracle = ['oracle.ts', 'ledger.ts', 'reads.ts', 'listings.ts', 'trust.ts', 'audit-trail.ts'];
const folder = fileURLToPath(new URL('../../../test/sim/', import.meta.url));

interface Import {
  readonly from: string;
  readonly isType: boolean;
}

function importsOf(text: string): Import[] {
  const pattern = /^(?:import|export) (type )?[^;]*?from '([^']+)';|\bimport\(\s*'([^']+)'/gm;
  return [...text.matchAll(pattern)].map(([, type, from, dynamic]) => ({
    from: from ?? dynamic ?? '',
    isType: type !== undefined,
  }));
}

/** Finds the imports of `src/` in the files, except types, and in the files that they import. */
function codeOfService(files: readonly string[], textOf: (file: string) => string): string[] {
  const found: string[] = [];
  const seen = new Set(files);
  for (const file of seen) {
    for (const { from, isType } of importsOf(textOf(file))) {
      if (isType) continue;
      if (from.startsWith('./')) seen.add(basename(from).replace(/\.js$/, '.ts'));
      else if (from.startsWith('.') && from !== '../support/random.js') found.push(`${file}: ${from}`);
    }
  }
  return found;
}

test('the oracle shares no code with the service', () => {
  assert.equal(
    codeOfService(oracle, (file) => readFileSync(`${folder}${file}`, 'utf8')),
    [],
  );
});

test('code of the service is found, beside types and behind another file', () => {
  const files: Record<string, string> = {
    'a.ts': "import type { A } from '../../src/a.js';\nimport { b } from './b.js';",
    'b.ts': "import {\n  type C,\n  c,\n} from '../../src/c.js';\nexport { d } from '../support/given.js';",
  };
  assert.equal(
    codeOfService(['a.ts'], (file) => files[file]!),
    ['b.ts: ../../src/c.js', 'b.ts: ../support/given.js'],
  );
});

test.run();

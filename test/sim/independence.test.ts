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

/** Imports of `src/` in the files and in those that they import, except types. */
function codeOfService(): string[] {
  const found: string[] = [];
  const seen = new Set(oracle);
  for (const file of seen) {
    const text = readFileSync(`${folder}${file}`, 'utf8');
    for (const [, from] of text.matchAll(/^(?:import|export) (?!type )[^;]*?from '([^']+)';/gm)) {
      if (from!.startsWith('./')) seen.add(basename(from!).replace(/\.js$/, '.ts'));
      else if (from!.startsWith('.') && from !== '../support/random.js') found.push(`${file}: ${from}`);
    }
  }
  // Files of the oracle that only others of it import are seen as well.
  assert.ok(seen.has('fit-witnesses.ts'));
  return found;
}

test('the oracle shares no code with the service', () => {
  assert.equal(codeOfService(), []);
});

test.run();

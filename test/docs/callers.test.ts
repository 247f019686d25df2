/** Checks the pages for callers of the node and of the client against the code. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import * as stream from '../../src/contract/verdict-stream.js';

const root = fileURLToPath(new URL('../../../', import.meta.url));
const read = (path: string) => readFileSync(join(root, path), 'utf8');

interface Closure {
  readonly closureOf: (entries: readonly string[]) => { readonly packages: Iterable<string> };
}

const { closureOf }: Closure = await import(new URL('../../../scripts/lib/closure.mjs', import.meta.url).href);

test("the client's guide names the packages that the client imports, and each of its own error codes", () => {
  const guide = read('docs/CLIENT.md');
  const named = /needs \w+ packages \(([^;)]+);/.exec(guide)?.[1]?.split(/, | and /) ?? [];
  assert.equal(named.sort(), [...closureOf([join(root, 'dist/client/entry.js')]).packages].sort());
  const codes = /type ClientErrorCode =([^;]+);/.exec(read('docs/CLIENT-REFERENCE.md'))?.[1]?.match(/\w+/g) ?? [];
  assert.ok(codes.length > 8);
  const sentence = /^Rejections are `TrustError`s[\s\S]*?`outcomeUnknown`/m.exec(guide)?.[0] ?? '';
  assert.equal(
    codes.filter((code) => !sentence.includes(`\`${code}\``)),
    [],
  );
});

test('the page of the verdict stream names every member of each frame, and of each row', () => {
  const page = read('docs/VERDICT-STREAM.md');
  const { changedPlayerSchema, removedPlayerSchema, eventSchemas } = stream;
  const rows: Readonly<Record<string, readonly object[]>> = {
    snapshot: [changedPlayerSchema.properties],
    change: [changedPlayerSchema.properties, removedPlayerSchema.properties],
  };
  for (const [event, { properties }] of Object.entries(eventSchemas)) {
    const line = page.split('\n').find((one) => one.startsWith(`| \`${event}\``)) ?? '';
    const members = [properties, ...(rows[event] ?? [])].flatMap(Object.keys);
    assert.equal(
      members.filter((member) => !new RegExp(`\\b${member}\\b`).test(line)),
      [],
      event,
    );
  }
});

test.run();

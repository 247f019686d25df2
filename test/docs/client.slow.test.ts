/** Checks the client's reference page against the docstrings, and the guide's programs against a node. */
import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, renameSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { startTestNode } from '../../src/testing/test-node.js';
import { temporaryFolder } from '../support/process.js';

const root = fileURLToPath(new URL('../../../', import.meta.url));
const reference = () => readFileSync(join(root, 'docs/CLIENT-REFERENCE.md'), 'utf8');

test('the client reference equals the output of docs:client, and every public symbol has a docstring', () => {
  const folder = temporaryFolder();
  const made = join(folder, 'reference.md');
  const run = spawnSync(process.execPath, ['scripts/docs-client.mjs', '--to', made], { cwd: root, encoding: 'utf8' });
  assert.is(run.status, 0, run.stderr);
  assert.ok(readFileSync(made, 'utf8') === reference(), 'docs/CLIENT-REFERENCE.md is stale: run `npm run docs:client`');
});

test('every method that the guide names is in the reference of the client', () => {
  const guide = readFileSync(join(root, 'docs/CLIENT.md'), 'utf8');
  const methods = [...guide.matchAll(/`client\.(\w+)\(/g)].map(([, name]) => name!);
  assert.ok(methods.length >= 8);
  const section = reference().split('\n### TrustClient\n')[1]?.split('\n### ')[0] ?? '';
  const known = new Set(Array.from(section.matchAll(/^- ``(\w+)[(<]/gm), ([, name]) => name));
  assert.equal(
    methods.filter((name) => !known.has(name)),
    [],
  );
});

test('the programs of the guide run unchanged, except for the address and the read budget', async () => {
  const guide = readFileSync(join(root, 'docs/CLIENT.md'), 'utf8');
  const blocks = [...guide.matchAll(/```js\n([\s\S]*?)```/g)].map(([, code = '']) => code);
  const folder = temporaryFolder();
  mkdirSync(join(folder, 'node_modules'));
  symlinkSync(root, join(folder, 'node_modules', 'peer-trust-federation'));
  const packing = spawnSync(process.execPath, ['scripts/pack-client.mjs', '--to', folder], { cwd: root });
  assert.is(packing.status, 0, String(packing.stderr));
  const client = join(folder, 'node_modules', 'peer-trust-client');
  renameSync(join(folder, 'peer-trust-client'), client);
  symlinkSync(join(root, 'node_modules'), join(client, 'node_modules'));
  const node = await startTestNode();
  try {
    const [peer] = await node.seed({ bad: ['player-2'], good: ['player-1'] });
    const env = { TRUST_PEER_ID: peer!.peerId, TRUST_API_KEY: peer!.apiKey, TRUST_GROUP_SALT: node.groupSalt };
    const run = (code: string): string => {
      // 100 ms are little for a process that begins on a busy machine.
      const patient = code
        .replace("'http://127.0.0.1:8080'", `'${node.url}', readBudgetMs: 60_000`)
        .replace('node.client(peer)', 'node.client(peer, { readBudgetMs: 60_000 })');
      assert.match(patient, 'readBudgetMs');
      writeFileSync(join(folder, 'program.mjs'), patient);
      const options = { cwd: folder, env, encoding: 'utf8' } as const;
      const { status, stdout, stderr } = spawnSync(process.execPath, ['program.mjs'], options);
      assert.is(status, 0, stderr);
      return stdout;
    };
    const [start = '', , policy = '', tests = ''] = blocks;
    const played = run(`${start}\n${policy}\nawait spool.drained(); await spool.close(); await client.close();`);
    assert.match(played, /^player-2 untrusted [\d.]+ node$/m);
    assert.match(played, 'would supervise untrusted');
    assert.match(run(tests), 'untrusted');
  } finally {
    await node.close();
  }
});

test.run();

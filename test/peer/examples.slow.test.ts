/**
 * The one-file examples for other languages: compiled where Debian has the toolchain, and run beside a real sidecar.
 */
import { copyFileSync, existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { startTestNode, type TestNode } from '../../src/testing/test-node.js';
import { execute, type Ran } from '../support/child-process.js';
import { until } from '../support/until.js';
import { endChildren, PeerWorld, SidecarProcess } from './peer-world.js';

const root = fileURLToPath(new URL('../../../', import.meta.url));
const examples = join(root, 'examples', 'sidecar');
const gson = '/usr/share/java/gson.jar';
const timeoutMs = 300_000;

interface Example {
  readonly file: string;
  /** Programs and files that it needs; where one is missing the test is skipped. */
  readonly needs: readonly string[];
  readonly compile?: readonly string[];
  readonly run: readonly string[];
}

/** Each is run in a folder that holds its file, with players as arguments. */
const programs: readonly Example[] = [
  { file: 'trust_sidecar.py', needs: ['python3'], run: ['python3', 'trust_sidecar.py'] },
  {
    file: 'trust_sidecar.go',
    needs: ['go'],
    compile: ['go', 'build', '-o', 'example', 'trust_sidecar.go'],
    run: ['./example'],
  },
  {
    file: 'TrustSidecar.java',
    needs: ['javac', 'java', gson],
    compile: ['javac', '-cp', gson, 'TrustSidecar.java'],
    run: ['java', '-cp', `${gson}:.`, 'TrustSidecar'],
  },
  {
    file: 'TrustSidecar.cs',
    needs: ['mcs', 'mono'],
    compile: ['mcs', '-r:System.Net.Http', '-r:System.Runtime.Serialization', 'TrustSidecar.cs'],
    run: ['mono', 'TrustSidecar.exe'],
  },
];

let node: TestNode;
let world: PeerWorld;
let sidecar: SidecarProcess;
let token = '';

test.before(async () => {
  node = await startTestNode();
  const [peer] = await node.seed({ bad: ['STEAM_0:1:77 001'], good: ['angel'] });
  world = new PeerWorld();
  world.writeConfig({ url: node.url, ...peer!, groupSalt: node.groupSalt });
  sidecar = await new SidecarProcess(world).listening();
  await until(async () => (await sidecar.call('/v1/status')).body.stream.phase === 'live');
  token = readFileSync(join(world.stateDir, 'sidecar', 'token'), 'utf8').trim();
});
test.after(async () => {
  endChildren();
  await node.close();
});

function run([command = '', ...args]: readonly string[], cwd: string, env: Record<string, string> = {}): Promise<Ran> {
  const all = { PATH: process.env.PATH, HOME: cwd, GOCACHE: join(cwd, 'go-cache'), ...env };
  return execute(command, args, { cwd, env: all, timeout: timeoutMs });
}

async function missingOf(needs: readonly string[]): Promise<string | undefined> {
  for (const need of needs) {
    const isThere = need.startsWith('/')
      ? existsSync(need)
      : (await run(['sh', '-c', `command -v ${need}`], '/')).code === 0;
    if (!isThere) return need;
  }
  return undefined;
}

function folderOf(file: string): string {
  const folder = join(world.folder, `example ${file}`);
  mkdirSync(folder);
  copyFileSync(join(examples, file), join(folder, file));
  return folder;
}

const reports = async (player: string): Promise<number> => (await node.client().explain(player))?.event_count ?? 0;

for (const { file, needs, compile, run: command } of programs) {
  test(`the example ${file} reads a match, reports a player once, and lets players pass without a sidecar`, async () => {
    const missing = await missingOf(needs);
    if (missing !== undefined) {
      process.stdout.write(`SKIPPED: ${missing} is not installed, so that ${file} did not run\n`);
      return;
    }
    const folder = folderOf(file);
    if (compile !== undefined) {
      const compiled = await run(compile, folder);
      assert.is(compiled.code, 0, compiled.out + compiled.err);
    }
    const given = { TRUST_SIDECAR_URL: sidecar.url, TRUST_SIDECAR_TOKEN: token };
    const reported = `reported by ${file}`;
    const players = ['STEAM_0:1:77 001', 'angel', 'an, angel', ' not an id', reported];
    const first = await run([...command, ...players], folder, given);
    const expected = [
      'STEAM_0:1:77 001 untrusted restrict',
      'angel trusted pass',
      'an, angel neutral pass',
      ' not an id neutral pass',
      `${reported} neutral pass`,
      'reported',
      '',
    ].join('\n');
    assert.is(first.out, expected, first.err);
    await until(async () => (await reports(reported)) === 1);
    await run([...command, reported], folder, given);
    await until(async () => (await sidecar.call('/v1/status')).body.spool.pending === 0);
    assert.is(await reports(reported), 1);
    const alone = await run([...command, 'angel'], folder, { ...given, TRUST_SIDECAR_URL: 'http://127.0.0.1:9' });
    assert.is(alone.out, 'angel neutral pass\nnot reported\n', alone.err);
    const wrong = await run([...command, 'angel'], folder, { ...given, TRUST_SIDECAR_TOKEN: 'a-wrong-token' });
    assert.is(wrong.out, 'angel neutral pass\nnot reported\n', wrong.err);
    const nobody = await run(command, folder, given);
    assert.match(nobody.err, /^usage: trust_?sidecar\S* PLAYER\.\.\.\s/i);
    assert.equal([nobody.out, nobody.code], ['', 1]);
  });
}

test('the example trust.lua runs in the calls of FiveM: players join, and a command reports one once', async () => {
  const missing = await missingOf(['lua5.4']);
  const modules = await run(['lua5.4', '-e', "require('socket.http') require('cjson')"], '/');
  if (missing !== undefined || modules.code !== 0) {
    process.stdout.write(
      `SKIPPED: ${missing ?? 'lua-socket or lua-cjson'} is not installed, so that trust.lua did not run\n`,
    );
    return;
  }
  const folder = folderOf('trust.lua');
  const runtime = join(root, 'test', 'peer', 'fivem-runtime.lua');
  const given = { TRUST_SIDECAR_URL: sidecar.url, TRUST_SIDECAR_TOKEN: token };
  const play = (env = given) =>
    run(['lua5.4', runtime, 'trust.lua', 'STEAM_0:1:77 001', 'reported by trust.lua'], folder, env);
  const { out, err } = await play();
  assert.is(
    out,
    [
      'STEAM_0:1:77 001: trust: untrusted, would restrict',
      'joined',
      'reported by trust.lua: trust: neutral, would pass',
      'joined',
      'trust: reported',
      '',
    ].join('\n'),
    err,
  );
  await play();
  await until(async () => (await reports('reported by trust.lua')) === 1);
  const alone = await play({ ...given, TRUST_SIDECAR_URL: 'http://127.0.0.1:9' });
  assert.match(alone.out, 'joined');
  assert.match(alone.out, 'not reported');
});

test.run();

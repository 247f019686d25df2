/** The process of a node: exit codes, signals, and starts that follow one another. The node itself is scripted. */
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { limits } from '../../src/limits.js';
import { passEpochOn } from '../../src/store/ownership/owner.js';
import { readLastLine } from '../../src/store/ownership/owner-record.js';
import { watched } from '../support/child-process.js';
import { temporaryFolder } from '../support/process.js';
import type { ScriptedStart } from './scripted-node.js';

const entry = fileURLToPath(new URL('./scripted-process.js', import.meta.url));

interface Circumstances {
  /** A signal for each message, sent when the process logs the message. */
  readonly signals?: Readonly<Record<string, NodeJS.Signals>>;
  readonly bounds?: Partial<Record<keyof typeof limits, number>>;
  readonly env?: Readonly<Record<string, string>>;
}

/** Runs a process whose starts follow a script. Returns how it ended, and the messages that it logged. */
async function run(script: readonly ScriptedStart[], { signals = {}, bounds = {}, env = {} }: Circumstances = {}) {
  const dir = temporaryFolder();
  await passEpochOn(dir, 1);
  const scripted = { TEST_SCRIPT: JSON.stringify(script), TEST_BOUNDS: JSON.stringify(bounds) };
  const child = spawn(process.execPath, [entry], {
    cwd: dir,
    env: { PATH: process.env.PATH, DATA_DIR: dir, ERASURE_MODE: 'own', ...scripted, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const { ended } = watched(child);
  const messages: string[] = [];
  createInterface({ input: child.stdout }).on('line', (line) => {
    const { msg } = JSON.parse(line) as { msg: string };
    if (msg !== 'starting') messages.push(msg);
    const signal = signals[msg];
    if (signal !== undefined) child.kill(signal);
  });
  const { code, err } = await ended;
  return { end: code, messages, errors: err, lastLine: readLastLine(dir) ?? '' };
}

/** Runs a process that gets SIGTERM once its node has started. */
const stopped = (start: ScriptedStart, { signals, ...more }: Circumstances = {}) =>
  run([start], { signals: { started: 'SIGTERM', ...signals }, ...more });

test('faults of the variables are named one per line, and the process ends with 2', async () => {
  const { end, errors, messages } = await run([], { env: { PORT: 'x', PEER_MAX: '5', LEASE_S: '1' } });
  const named = errors.trimEnd().split('\n');
  assert.equal([end, messages], [2, []]);
  assert.equal(
    named.map((line) => line.split(': ')[0]),
    ['PORT', 'LEASE_S', 'PEER_MAX'],
  );
});

test('a node that fails and whose threads do not end is killed, after its last line was written', async () => {
  const { end, messages, lastLine } = await run([{ fails: 'defect', abandon: 'hangs' }], {
    bounds: { failedExitMs: 50 },
  });
  assert.equal([end, messages], ['SIGKILL', ['started', 'the node cannot continue', 'abandoned']]);
  assert.match(lastLine, ': the node cannot continue');
});

test('a node that must rejoin its cluster closes and starts again; a start that is refused ends it', async () => {
  const [again, hangs] = await Promise.all([
    run([{ fails: 'rejoin' }, { start: 'rejoin' }, { start: 'refused' }]),
    run([{ fails: 'rejoin', close: 'hangs' }], { bounds: { shutdownMs: 50 } }),
  ]);
  const restarts = ['starting again', 'closing', 'starting again', 'the port is in use'];
  assert.equal([again.end, again.messages], [1, ['started', ...restarts]]);
  const late = 'the node did not close within 50 ms, and so cannot start again in this process';
  assert.equal([hangs.end, hangs.messages], [1, ['started', 'starting again', 'closing', late, 'abandoned']]);
});

test('a stop ends with 0, whether the node runs, waits for others, or must rejoin meanwhile', async () => {
  const [running, ...waiting] = await Promise.all([
    stopped({ close: 'rejoin' }),
    stopped({ waits: 'ended' }),
    stopped({ waits: 'rejoin' }),
  ]);
  assert.equal([running.end, running.messages], [0, ['started', 'stopping', 'closing', 'stopped']]);
  for (const { end, messages } of waiting) assert.equal([end, messages], [0, ['started', 'stopping', 'stopped']]);
});

test('a stop that fails ends with 1', async () => {
  const { end, messages } = await stopped({ close: 'defect' });
  assert.equal([end, messages.slice(0, 4)], [1, ['started', 'stopping', 'closing', 'the node cannot continue']]);
});

test('a second signal ends a stop at once, unless npm repeats the first; the stop ends in time by itself', async () => {
  const hanging = (env: Record<string, string>, bounds: Circumstances['bounds'] = {}) =>
    stopped({ close: 'hangs' }, { signals: { closing: 'SIGINT' }, env, bounds });
  const npm = { npm_lifecycle_event: 'start' };
  const [direct, repeated, late] = await Promise.all([
    hanging({}),
    hanging(npm, { signalEchoMs: 60_000, shutdownMs: 400 }),
    hanging(npm, { signalEchoMs: 0 }),
  ]);
  assert.equal([direct.end, repeated.end, late.end], ['SIGINT', 1, 'SIGINT']);
  const unstopped = 'the node did not stop within 400 ms';
  assert.equal(repeated.messages, ['started', 'stopping', 'closing', unstopped, 'abandoned']);
});

test.run();

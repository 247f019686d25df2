/**
 * Checks the pages under docs/operating against the command: each of their `ptf` lines is run against a node, and the
 * output that they quote is what the command prints.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { registerPeer } from '../http/peer-client.js';
import { blocksOf } from '../support/markdown.js';
import { startTestNode, type TestNode } from '../support/node.js';
import { temporaryFolder } from '../support/process.js';

const docs = new URL('../../../docs/', import.meta.url);
const page = readdirSync(new URL('operating/', docs))
  .map((name) => readFileSync(new URL(`operating/${name}`, docs), 'utf8'))
  .join('\n');
const entry = fileURLToPath(new URL('../../src/ptf.js', import.meta.url));

/** Commands that need what no test can give them here, and where they are tested. */
const elsewhere: readonly (readonly [start: string, where: string])[] = [
  ['backup', 'test/operator'],
  ['restore', 'test/operator'],
  ['dashboard', 'test/operator/dashboard'],
];

const lines = blocksOf(page, ['sh', 'bash'])
  .flatMap((block) => block.split('\n'))
  .map((line) => /^ptf (.*)$/.exec(line.trim())?.[1])
  .filter((line) => line !== undefined);

let node: TestNode;
let folder = '';
test.before(async () => {
  node = await startTestNode({ ERASURE_MODE: 'operator' });
  folder = temporaryFolder();
});
test.after(() => node.close());

/** A peer of its own for each command, and a player that it reported. */
async function peerWithPlayer(): Promise<{ readonly peerId: string; readonly subject: string }> {
  const { peerId, submit } = await registerPeer(node.url);
  const subject = peerId.replaceAll('-', '').repeat(2);
  assert.is((await submit({ player_id: subject })).status, 201);
  return { peerId, subject };
}

/** A dispute about a player; upheld before where a line undoes it. */
async function disputeOf(subject: string, peerId: string, line: string): Promise<string> {
  const opened = await node.group.dispute(null, Buffer.from(subject, 'hex'), 'a text');
  if (!opened.ok) throw new Error(opened.code);
  const { id } = opened.value;
  if (line.includes(' undo ')) await node.group.decideDispute('uphold', id, [peerId], 'test');
  return id;
}

test('every ptf line of the operating pages works as described', async () => {
  assert.ok(lines.length > 20, 'the pages have their commands');
  const failed: string[] = [];
  for (const line of new Set(lines)) {
    if (elsewhere.some(([start]) => line.startsWith(start)) || /\/(?:backup|srv)\//.test(line)) continue;
    const { peerId, subject } = await peerWithPlayer();
    if (line.startsWith('pretrust remove')) await node.group.preTrust('add', peerId, 'test');
    if (line.startsWith('peers reinstate'))
      await node.group.changePeer('peer_status', peerId, { status: 'suspended' }, 'test');
    // A line that names two peers needs two different ones.
    const other = line.includes('PEER_ID PEER_ID') ? (await peerWithPlayer()).peerId : peerId;
    const filled = line
      .replace('PEER_ID PEER_ID', `${peerId} ${other}`)
      .replaceAll('PEER_ID', peerId)
      .replaceAll('SUBJECT_HASH', subject)
      .replaceAll('DISPUTE_ID', line.includes('DISPUTE_ID') ? await disputeOf(subject, peerId, line) : '');
    // By a shell, since lines may redirect and join; all of it within a folder that goes afterwards.
    const command = `fpath=("$PWD"); node ${entry} ${filled}`;
    const child = spawn('bash', ['-c', command], {
      cwd: folder,
      env: { PATH: process.env.PATH, HOME: folder, DATA_DIR: node.dir },
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    const [stderr] = await Promise.all([text(child.stderr), once(child, 'close')]);
    const { exitCode: status } = child;
    if (status !== 0) failed.push(`${line}: ${status} ${stderr}`);
  }
  assert.equal(failed, []);
});

test('the operating pages quote the output of the command', () => {
  const files = [
    'operations/simulation-operation',
    'operator/cli/findings',
    'operator/cli/doctor',
    'operator/dashboard/page/remarks',
    'node/upkeep',
  ];
  const source = files.map((name) => readFileSync(new URL(`../src/${name}.ts`, docs), 'utf8'));
  for (const quoted of ['shares no player with other peers; check its salt', 'changed verdicts', 'at record']) {
    assert.ok(page.includes(quoted) && source.some((code) => code.includes(quoted)), quoted);
  }
  // And the other way round: where the command sends its reader, there is something to read.
  const sent = source.flatMap((code) => [...code.matchAll(/"([A-Z][a-z ]+)"/g)].map(([, heading]) => heading!));
  assert.ok(sent.length >= 3);
  const headings = new Set(Array.from(page.matchAll(/^#+ (.*)$/gm), ([, heading]) => heading!));
  for (const heading of sent) assert.ok(headings.has(heading), heading);
});

test.run();

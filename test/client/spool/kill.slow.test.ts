/**
 * The spool under kills: of the process that adds, at random moments, and of the node. Every event that was accepted
 * arrives, once.
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { EventSpool } from '../../../src/client/write/spool/event-spool.js';
import { startTestNode, type TestNode, type TestPeer } from '../../../src/testing/test-node.js';
import { temporaryFolder } from '../../support/process.js';
import { Random } from '../../support/random.js';

const rounds = 12;
const seed = Number(process.env.SPOOL_KILL_SEED ?? 1);
const adder = fileURLToPath(new URL('./adder.js', import.meta.url));

/** Runs an adder for a while and kills it; gives the ids that it said were accepted. */
async function runAndKill(
  node: TestNode,
  peer: TestPeer,
  folder: string,
  round: number,
  ms: number,
): Promise<string[]> {
  const child = fork(adder, [node.url, folder, peer.peerId, peer.apiKey, String(round)], {
    execArgv: [],
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
  });
  let output = '';
  const opened = new Promise<void>((resolve) => {
    child.stdout!.setEncoding('utf8').on('data', (text: string) => {
      output += text;
      if (output.startsWith('open\n')) resolve();
    });
  });
  const closed = once(child, 'close');
  await Promise.race([opened, closed]);
  // The moment of the kill is what the test is about.
  await delay(ms);
  child.kill('SIGKILL');
  await closed;
  assert.match(output, /^open\n/, 'the folder of a killed process is free');
  // The last line may be cut.
  return output.split('\n').slice(1, -1);
}

async function ownEvents(node: TestNode, peer: TestPeer): Promise<string[]> {
  const ids: string[] = [];
  for (let player = 0; player < 8; player++) {
    let cursor = '';
    do {
      const path = `/api/v1/players/${encodeURIComponent(`player-${player}`)}/events?limit=200${cursor}`;
      const answer = await fetch(node.url + path, { headers: { 'X-Peer-API-Key': peer.apiKey } });
      if (answer.status === 404) break;
      const page = (await answer.json()) as { data: { event_id: string }[]; next_cursor: string | null };
      ids.push(...page.data.map(({ event_id }) => event_id));
      cursor = page.next_cursor === null ? '' : `&cursor=${encodeURIComponent(page.next_cursor)}`;
    } while (cursor !== '');
  }
  return ids;
}

test(`every accepted event arrives once over ${rounds} kills of game server and node (seed ${seed})`, async () => {
  const random = new Random(seed);
  const folder = temporaryFolder();
  const node = await startTestNode();
  const peer = await node.register();
  const accepted: string[] = [];
  for (let round = 0; round < rounds; round++) {
    const isUp = node.isRunning;
    if (isUp && random.below(3) === 0) await node.kill();
    else if (!isUp) await node.start();
    accepted.push(...(await runAndKill(node, peer, folder, round, random.below(400))));
  }
  if (!node.isRunning) await node.start();
  const spool = await EventSpool.open({ folder, to: node.client(peer) });
  const { pending } = spool.progress;
  await spool.drained();
  assert.is(spool.progress.setAside, 0);
  await spool.close();

  const arrived = await ownEvents(node, peer);
  const unique = new Set(arrived);
  assert.is(unique.size, arrived.length, 'nothing arrived twice');
  const lost = accepted.filter((id) => !unique.has(id));
  assert.equal(lost, [], `of ${accepted.length} accepted, ${pending} of them delivered at the end`);
  assert.ok(accepted.length > 100);
  await node.close();
});

test.run();

/**
 * `npm run demo`: a node with its dashboard and twelve simulated game servers in this process, which call the node
 * through HTTP by the real client. A table shows how weights and verdicts follow what the servers do. Everything that
 * the demo writes is in one temporary folder, which goes with it.
 */
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { Command } from 'commander';
import type { TrustClient } from '../../src/client/trust-client.js';
import { startTestNode, type TestNode } from '../../src/testing/test-node.js';
import { endBySignals, temporaryFolder } from '../ending.js';
import { wholeNumber } from '../measurement.js';
import { randomFrom } from '../quality/random.js';
import { characters, GameServers, gameId, makePopulation } from './game-servers.js';
import { type Reading, readGroup } from './readings.js';
import { closingWords, Screen, type Stage } from './screen.js';

const rounds = 42;
const fairRounds = 14;
const secondsMin = 5;
const secondsMax = 3_600;
const paragraphWidthMax = 100;
/** For a machine that is busy: the demo is about weights, never about speed. */
const patient = { attemptMs: 60_000, deadlineMs: 120_000, readBudgetMs: 60_000 };

const ptf = fileURLToPath(new URL('../../src/ptf.js', import.meta.url));

interface Options {
  readonly seconds: number;
  readonly keep: boolean;
}

function print(text: string): void {
  process.stdout.write(`${text}\n`);
}

async function setPassword(dataDir: string): Promise<string> {
  const password = randomBytes(9).toString('base64url');
  const child = spawn(process.execPath, [ptf, 'dashboard', 'set-password', '--data-dir', dataDir], {
    stdio: ['pipe', 'ignore', 'inherit'],
  });
  child.stdin.end(`${password}\n`);
  const [code] = await once(child, 'exit');
  if (code !== 0) throw new Error(`the dashboard's password was not set: ptf ended with ${code}`);
  return password;
}

function dashboardAddress(output: string): string {
  const line = output.split('\n').find((one) => one.includes('"msg":"listening"')) ?? '{}';
  const { dashboard } = JSON.parse(line) as { dashboard?: { host: string; port: number } };
  if (dashboard === undefined) throw new Error('the node says nothing of its dashboard');
  return `http://${dashboard.host}:${dashboard.port}/`;
}

async function registerAll(node: TestNode): Promise<TrustClient[]> {
  const clients: TrustClient[] = [];
  // One after another, so that the group's list has them in the order of the table.
  for (const { name } of characters) clients.push(node.client(await node.register(name, [gameId]), patient));
  return clients;
}

/** Plays all rounds, and returns what was read at the end of the fair part and at the end. */
async function play(node: TestNode, dataDir: string, seconds: number): Promise<readonly [fair: Reading, end: Reading]> {
  const random = randomFrom('demo');
  const population = makePopulation(random);
  const servers = new GameServers(population, random);
  const clients = await registerAll(node);
  const read = (): Promise<Reading> => readGroup(dataDir, clients[0]!, population, servers);
  const feed = clients[0]!.follow();
  await feed.live();

  const screen = new Screen(process.stdout);
  const startedAt = performance.now();
  const stageOf = (round: number): Stage => ({
    progress: round / rounds,
    elapsedS: Math.min(seconds, (performance.now() - startedAt) / 1_000),
    totalS: seconds,
    isFair: round < fairRounds,
  });
  const settledReading = async (): Promise<Reading> => {
    await node.settled();
    // Changes arrive on the stream a moment later.
    await delay(streamPauseMs);
    return read();
  };

  let fair: Reading | undefined;
  for (let round = 0; round < rounds; round++) {
    const isFair = round < fairRounds;
    if (!isFair) fair ??= await settledReading();
    for (const [i, events] of servers.round(isFair).entries()) {
      // One after another, because scoring takes into account which server was first to ban a player.
      const { results } = await clients[i]!.submitMany(events);
      const rejected = results.find(({ status }) => status === 'rejected');
      if (rejected !== undefined) throw new Error(`the node refused an event: ${rejected.code} ${rejected.reason}`);
    }
    const next = startedAt + ((round + 1) / rounds) * seconds * 1_000;
    do {
      screen.show(await read(), stageOf(round));
      await delay(Math.max(0, Math.min(drawEveryMs, next - performance.now())));
    } while (performance.now() < next);
  }
  const end = await settledReading();
  screen.end(end, { progress: 1, elapsedS: seconds, totalS: seconds, isFair: false });
  await feed.close();
  return [fair!, end];
}

/** The node sends changes at most so often here, and this is a little more. */
const streamIntervalMs = 200;
const streamPauseMs = 500;
const drawEveryMs = 1_000;

async function run({ seconds, keep }: Options): Promise<void> {
  const folder = temporaryFolder('ptf-demo-');
  const dataDir = join(folder.path, 'data');
  const node = await startTestNode({
    folder: folder.path,
    groupSalt: randomBytes(32).toString('base64url'),
    variables: {
      GROUP_ID: 'demo',
      DASHBOARD_PORT: '0',
      WEIGHTS_INTERVAL_MS: '1000',
      STREAM_INTERVAL_MS: String(streamIntervalMs),
      // Peers count in full at once: the demo has no day to wait.
      NEW_PEER_DAYS: '0',
    },
  });
  try {
    const password = await setPassword(dataDir);
    print(`A node runs on ${node.url}, with all its data in ${folder.path}.`);
    print(`Its dashboard shows the same: ${dashboardAddress(node.output)} (any name, password ${password})`);
    print(`Twelve game servers play for ${seconds} s. Ctrl-C ends all and removes the folder.\n`);
    const [fair, end] = await play(node, dataDir, seconds);
    const width = Math.min(paragraphWidthMax, process.stdout.columns ?? paragraphWidthMax);
    print(closingWords(fair, end, width));
    if (keep) {
      print(
        `\nThe node and its dashboard run on, until Ctrl-C: ${dashboardAddress(node.output)} (password ${password})`,
      );
      await new Promise(() => setInterval(() => undefined, secondsMax * 1_000));
    }
  } finally {
    await node.close();
    folder.remove();
  }
  print(`\nThe node has ended, and ${folder.path} is removed.`);
}

endBySignals();
await run(
  new Command('demo')
    .description(
      'Runs a node, its dashboard and twelve simulated game servers, and compares verdicts with a plain count of bans.',
    )
    .option('--seconds <n>', 'how long the matches go on', wholeNumber(secondsMin, secondsMax), 75)
    .option('--keep', 'leave node and dashboard running at the end, until Ctrl-C', false)
    .parse()
    .opts<Options>(),
);

/** A real node for tests with its own temporary folder and a free port, in this process or in another one. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import type { GroupApi } from '../../src/group/api.js';
import { limits } from '../../src/limits.js';
import { loadConfig } from '../../src/node/config.js';
import { type NodePorts, startNode } from '../../src/node/node.js';
import type { Address } from '../../src/node/operator-access.js';
import { subjectKeyOf } from './given.js';
import { until } from './until.js';

export interface TestNode extends AsyncDisposable {
  readonly url: string;
  readonly metricsUrl: string | null;
  readonly dashboardUrl: string | null;
  readonly dir: string;
  readonly group: GroupApi;
  /** Stops the node. Removes the folder unless it was given. */
  close(): Promise<void>;
}

/**
 * Starts a node with the given variables over the defaults of development. `DATA_DIR` keeps a folder between runs;
 * `ports` replace those of a real process.
 */
export async function startTestNode(
  overrides: Record<string, string> = {},
  ports: Partial<NodePorts> = {},
): Promise<TestNode> {
  const dir = overrides.DATA_DIR ?? mkdtempSync(join(tmpdir(), 'ptf-test-'));
  const outcome = loadConfig(
    { PORT: '0', LOG_LEVEL: 'fatal', FAST_PATH: process.env.FAST_PATH, ...overrides, DATA_DIR: dir },
    () => undefined,
  );
  if (!outcome.ok) throw new Error(outcome.problems.map(({ variable, text }) => `${variable} ${text}`).join('; '));
  const failures: unknown[] = [];
  const node = await startNode(outcome.config, {
    log: pino({ level: outcome.config.logLevel }),
    onFatal: (error) => failures.push(error),
    // A snapshot costs a worker thread, and only a folder that is kept is read again.
    ...(overrides.DATA_DIR === undefined && { lastSnapshotMs: 0 }),
    ...ports,
  });
  const urlOf = (address: Address | null) => (address === null ? null : `http://${address.host}:${address.port}`);
  const close = async () => {
    await node.close();
    if (overrides.DATA_DIR === undefined) rmSync(dir, { recursive: true, force: true });
    if (failures.length > 0) throw new Error('the node failed', { cause: failures[0] });
  };
  return {
    url: `http://${node.address.host}:${node.address.port}`,
    metricsUrl: urlOf(node.metricsAddress),
    dashboardUrl: urlOf(node.dashboardAddress),
    dir,
    group: node.group,
    close,
    [Symbol.asyncDispose]: close,
  };
}

/** Resolves once peer weights cover everything accepted. Until more is accepted, no score changes by itself. */
export function weightsSettled({ group }: TestNode): Promise<void> {
  return until(() => {
    const { lastSeq, weights } = group.health();
    return weights.basedOnSeq >= lastSeq;
  });
}

/**
 * Starts a node whose state changes only by the test, so that answers at different times can be compared. The
 * computation of weights that the first event starts is over, and there is another within an hour only where a further
 * peer reports for the first time. That event belongs to a peer that no test uses.
 */
export async function startStillNode(
  overrides: Record<string, string> = {},
  ports: Partial<NodePorts> = {},
): Promise<TestNode> {
  const node = await startTestNode({ WEIGHTS_INTERVAL_MS: String(limits.weightsIntervalMsMax), ...overrides }, ports);
  const registered = await node.group.register({ peerName: 'the first', gameIds: ['g'] }, 'test');
  if (!registered.ok) throw new Error(registered.code);
  const { peer } = registered.value;
  const event = {
    schemaVersion: '1.0.0',
    eventId: 'the-first',
    eventType: 'commendation' as const,
    peerId: peer.peerId,
    subject: subjectKeyOf('the first'),
    gameId: 'g',
    severity: 0,
    timestamp: Date.now(),
  };
  const [outcome] = await node.group.submit(peer, [event]);
  if (!outcome?.ok) throw new Error('the first event was refused');
  await weightsSettled(node);
  return node;
}

/** A real node for tests: its own temporary folder, a free port, in this process or as a process of its own. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { loadConfig } from '../../src/config.js';
import type { GroupApi } from '../../src/group/api.js';
import { type Address, type NodePorts, startNode } from '../../src/node.js';

export interface TestNode {
  readonly url: string;
  readonly metricsUrl: string | null;
  readonly dashboardUrl: string | null;
  readonly dir: string;
  readonly group: GroupApi;
  /** Stops the node; the folder goes unless it was given. */
  close(): Promise<void>;
}

/**
 * A node with the given variables over the defaults of development. `DATA_DIR` keeps a folder from run to run; `ports` replace
 * those of a real process.
 */
export async function startTestNode(
  overrides: Record<string, string> = {},
  ports: Partial<NodePorts> = {},
): Promise<TestNode> {
  const dir = overrides.DATA_DIR ?? mkdtempSync(join(tmpdir(), 'ptf-test-'));
  const outcome = loadConfig(
    { PORT: '0', LOG_LEVEL: 'fatal', FAST_LANE: process.env.FAST_LANE, ...overrides, DATA_DIR: dir },
    () => undefined,
  );
  if (!outcome.ok) throw new Error(outcome.faults.map(({ variable, text }) => `${variable} ${text}`).join('; '));
  const failures: unknown[] = [];
  const node = await startNode(outcome.config, {
    log: pino({ level: outcome.config.logLevel }),
    onFatal: (error) => failures.push(error),
    ...ports,
  });
  const urlOf = (address: Address | null) => (address === null ? null : `http://${address.host}:${address.port}`);
  return {
    url: `http://${node.address.host}:${node.address.port}`,
    metricsUrl: urlOf(node.metricsAddress),
    dashboardUrl: urlOf(node.dashboardAddress),
    dir,
    group: node.group,
    async close() {
      await node.close();
      if (overrides.DATA_DIR === undefined) rmSync(dir, { recursive: true, force: true });
      if (failures.length > 0) throw new Error('the node failed', { cause: failures[0] });
    },
  };
}

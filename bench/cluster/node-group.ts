/**
 * The nodes of one group on an etcd cluster, for tests and the bench: their common settings, their start, and who
 * leads. The nodes themselves, and the links between them, are made by the caller.
 */
import { callNode } from '../../src/operator/cli/node-client.js';
import { until } from '../until.js';

/** A node of the group in a process of its own. */
export interface GroupNode {
  readonly name: string;
  /** Origin of the node's own port, past every proxy. */
  readonly directUrl: string;
  readonly dir: string;
  /** The end of the output of its process, for an error. */
  readonly lastOutput?: string;
}

interface StartableNode extends GroupNode {
  start(): Promise<void> | void;
}

export interface NodeIdentity {
  readonly nodeId: string;
  readonly url: string;
  readonly endpoints: readonly string[];
}

/** The group that the nodes form. */
export const salt = 'a salt of the cluster harness';
export const secret = 'a secret of the harness with enough bytes';
export const groupId = 'harness';

const askMs = 2_000;
/** A group must have a leader, and every node must be ready, within this time. */
const patience = { timeoutMs: 120_000 };

export function nodeVariables({ nodeId, url, endpoints }: NodeIdentity): Record<string, string> {
  return {
    CLUSTER: 'etcd',
    ETCD_ENDPOINTS: endpoints.join(','),
    NODE_ID: nodeId,
    ADVERTISE_URL: url,
    CLUSTER_SECRET: secret,
    GROUP_ID: groupId,
    GROUP_SALT: salt,
  };
}

/** Starts the nodes and resolves to their leader, once every node is ready. */
export async function startGroup<N extends StartableNode>(nodes: readonly N[]): Promise<N> {
  await Promise.all(nodes.map((node) => node.start()));
  return settled(nodes);
}

/** Resolves to the leader, once every node is ready. */
export async function settled<N extends GroupNode>(nodes: readonly N[]): Promise<N> {
  const areReady = async () => (await Promise.all(nodes.map(isReady))).every((ready) => ready);
  await within(nodes, 'not every node is ready', areReady);
  return awaitLeader(nodes);
}

export async function isReady(node: GroupNode): Promise<boolean> {
  return (await ask(node, '/ready')).status === 200;
}

/** Returns the node that leads; undefined if none does. */
export async function leaderOf<N extends GroupNode>(nodes: readonly N[]): Promise<N | undefined> {
  const answers = await Promise.all(nodes.map((node) => ask(node, '/health')));
  return nodes.find((_, index) => roleIn(answers[index]!.text) === 'leader');
}

function roleIn(text: string): string | undefined {
  if (!text.startsWith('{')) return undefined;
  interface Health {
    readonly cluster?: { readonly role: string };
    /** Only in the answer of a node that refuses reads or writes. */
    readonly details?: { readonly role?: string };
  }
  const { cluster, details } = JSON.parse(text) as Health;
  return cluster?.role ?? details?.role;
}

export async function awaitLeader<N extends GroupNode>(nodes: readonly N[]): Promise<N> {
  return within(nodes, 'no node leads', () => leaderOf(nodes));
}

/** Returns the last record that the node has applied; -1 if the node does not answer. */
export async function appliedSeq({ dir }: GroupNode): Promise<number> {
  try {
    return (await callNode(dir, 'cluster-status', {})).applied_seq;
  } catch {
    return -1;
  }
}

async function healthTexts(nodes: readonly GroupNode[]): Promise<string> {
  const texts = nodes.map(async (node) => {
    const { status, text } = await ask(node, '/health');
    return `${node.name}: ${text}${status === 200 ? '' : `; ${node.lastOutput ?? ''}`}`;
  });
  return (await Promise.all(texts)).join(' | ');
}

/** Polls a condition or a value. Rejects with the health of the nodes if it stays false or undefined. */
export function within<T>(nodes: readonly GroupNode[], failure: string, holds: () => Promise<T>) {
  return until(holds, patience, async () => `${failure}: ${await healthTexts(nodes)}`);
}

interface Answer {
  /** Null if the node did not answer. */
  readonly status: number | null;
  /** The body, or the error. */
  readonly text: string;
}

async function ask({ directUrl }: GroupNode, path: string): Promise<Answer> {
  try {
    const response = await fetch(`${directUrl}/api/v1${path}`, { signal: AbortSignal.timeout(askMs) });
    return { status: response.status, text: await response.text() };
  } catch (error) {
    return { status: null, text: String(error) };
  }
}

/** The mark that names a folder's shared log. Nodes without a cluster read it, so this must not load etcd's client. */
import { join } from 'node:path';
import { readText, replaceFile } from './small-file.js';

export interface ClusterMark {
  readonly cluster_id: string;
  readonly node_id: string;
  /** Present if the folder's log is not the group's: the next start must replace it with a copy from another node. */
  readonly diverged?: true;
}

export function markFile(dir: string): string {
  return join(dir, 'cluster.json');
}

export function readMark(dir: string): ClusterMark | null {
  const text = readText(markFile(dir));
  return text === undefined ? null : (JSON.parse(text) as ClusterMark);
}

export async function writeMark(dir: string, mark: ClusterMark): Promise<void> {
  await replaceFile(markFile(dir), `${JSON.stringify(mark)}\n`, { sync: true });
}

/** A node without a cluster would append records that the group never gets, and could not go back to the shared log. */
export function refusalOfMarked(dir: string): string | undefined {
  let mark: ClusterMark | null;
  try {
    mark = readMark(dir);
  } catch {
    return `DATA_DIR: ${markFile(dir)} is no JSON document; restore the folder from a backup`;
  }
  if (mark === null) return undefined;
  return (
    `DATA_DIR: ${dir} belongs to node ${mark.node_id} of the cluster ${mark.cluster_id}, and CLUSTER is none; ` +
    "set CLUSTER=etcd, or run ptf export-data with that node's variables to serve the group from this folder alone"
  );
}

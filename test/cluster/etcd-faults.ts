/** Faults of etcd members besides their end: replaced members, a lost majority, a full database. */
import { rmSync } from 'node:fs';
import { type EtcdMembers, retried } from '../../bench/cluster/etcd-members.js';
import type { EtcdClient } from '../../src/store/etcd/etcd-client.js';
import { until } from '../support/until.js';

/**
 * The size of one value that fills the database, and how many one transaction writes. The database rewrites the newest
 * values with every commit, so that larger ones make its file grow beyond what it holds.
 */
const ballastBytes = 100_000;
const ballastAtOnce = 10;
const fillMs = 60_000;

/** The fields of `etcdctl endpoint status` that are used. */
interface MemberStatus {
  readonly header: { readonly member_id: string; readonly revision: string };
  readonly leader: string;
}

/** Returns numbers as text, because member ids exceed 2^53. */
async function statusOf(etcd: EtcdMembers, endpoint: string): Promise<MemberStatus> {
  const text = await etcd.ctl([endpoint], ['endpoint', 'status', '-w', 'json']);
  const [found] = JSON.parse(text.replaceAll(/":(\d+)/g, '":"$1"')) as { Status: MemberStatus }[];
  return found!.Status;
}

/** Returns the index of the member that leads the others; undefined if none leads. */
export async function leadingMember(etcd: EtcdMembers): Promise<number | undefined> {
  for (const [index, endpoint] of etcd.endpoints.entries()) {
    try {
      const { leader, header } = await statusOf(etcd, endpoint);
      if (leader === header.member_id) return index;
    } catch {
      // The member is down or has no leader.
    }
  }
  return undefined;
}

/** Removes a member and its data from the cluster, and adds a new member in its place. */
export async function replaceMember(etcd: EtcdMembers, index: number): Promise<void> {
  const others = etcd.endpoints.filter((_, at) => at !== index);
  await etcd.member(index).kill();
  const list = await etcd.ctl(others, ['member', 'list']);
  const line = list.split('\n').find((one) => one.includes(` ${etcd.names[index]},`));
  const id = line?.split(',')[0];
  if (id === undefined) throw new Error(`no member is named ${etcd.names[index]}: ${list}`);
  await retried(() => etcd.ctl(others, ['member', 'remove', id]));
  await addMember(etcd, index, others, [...etcd.names.keys()]);
}

/**
 * Makes a cluster of one member from the data of a member whose others are lost, and adds new members in their place,
 * by the steps of docs/operating/cluster.md.
 */
export async function rebuildFrom(etcd: EtcdMembers, survivor: number): Promise<void> {
  for (const more of [['--force-new-cluster'], []]) {
    await etcd.member(survivor).kill('SIGTERM');
    etcd.startMember(survivor, { more });
    await etcd.isHealthy(survivor);
  }
  const members = [survivor];
  for (const index of etcd.names.keys()) {
    if (index === survivor) continue;
    const others = members.map((at) => etcd.endpoints[at]!);
    members.push(index);
    await etcd.member(index).kill();
    await addMember(etcd, index, others, members);
  }
}

/** Adds a member without data to the cluster of `others`. `members` includes the new one. */
async function addMember(
  etcd: EtcdMembers,
  index: number,
  others: readonly string[],
  members: readonly number[],
): Promise<void> {
  rmSync(etcd.folders[index]!, { recursive: true, force: true });
  // The other members refuse a change until they have agreed on a leader.
  const add = ['member', 'add', etcd.names[index]!, `--peer-urls=${etcd.peerUrls[index]}`];
  await retried(() => etcd.ctl(others, add));
  etcd.startMember(index, { joins: members });
  for (const at of members) await etcd.isHealthy(at);
}

/**
 * Fills the database with keys that no node reads, up to a part of its quota, and keeps the files below the quota
 * itself. Returns the number of these keys.
 */
export async function fillDatabase(etcd: EtcdMembers, prefix: string, part: number): Promise<number> {
  const wanted = (etcd.quotaBytes ?? 0) * part;
  const value = Buffer.alloc(ballastBytes, 'b');
  const client = etcd.client();
  try {
    for (let count = 0; ; count += ballastAtOnce) {
      const { bytes, inUse } = await etcd.databaseSize(client);
      if (inUse >= wanted) return count;
      // The files grow by more than the values.
      if (bytes > wanted) await defragment(etcd, client);
      const keys = Array.from({ length: ballastAtOnce }, (_, i) => Buffer.from(`${prefix}${count + i}`));
      await client.txn({ compare: [], success: keys.map((key) => ({ request_put: { key, value } })) }, fillMs);
    }
  } finally {
    client.close();
  }
}

/** Removes the keys of `fillDatabase` and frees their space. */
export async function clearDatabase(etcd: EtcdMembers, prefix: string, count: number): Promise<void> {
  if (count === 0) return;
  const before = await etcd.dbBytes();
  await retried(() => etcd.ctl(etcd.endpoints, ['del', '--prefix', prefix]));
  const { header } = await statusOf(etcd, etcd.endpoints[0]!);
  // The nodes compact too, and may have compacted a later revision.
  await etcd.ctl(etcd.endpoints, ['compact', header.revision]).catch((error: Error) => {
    if (!error.message.includes('compacted')) throw error;
  });
  const client = etcd.client();
  // Members remove what is compacted in the background, and their files shrink only by what they have removed.
  const isCleared = async () => {
    await defragment(etcd, client);
    return before - (await etcd.dbBytes()) >= (count * ballastBytes) / 2;
  };
  await until(isCleared).finally(() => client.close());
  await retried(() => etcd.ctl(etcd.endpoints, ['alarm', 'disarm']));
}

async function defragment(etcd: EtcdMembers, client: EtcdClient): Promise<void> {
  for (const at of etcd.endpoints.keys()) await retried(() => client.defragment(at));
}

/** Builds and parses the keys of a group in etcd, all of which begin with the group's prefix. */

const SEQ_DIGITS = 12;
const PART_DIGITS = 3;

export type EtcdKeys = ReturnType<typeof etcdKeys>;

/** `prefix` ends with a slash. */
export function etcdKeys(prefix: string) {
  const key = (name: string): Buffer => Buffer.from(`${prefix}${name}`);
  const [nodes, refused] = [key('nodes/'), key('refused/')];
  return {
    leader: key('leader'),
    cluster: key('state/cluster'),
    trimmed: key('state/trimmed'),
    /** A node whose log ends before this record must rejoin. */
    floor: key('state/floor'),
    format: key('state/format'),
    scrubbed: key('scrubbed'),
    scrubDue: key('scrub-due'),
    /** Random bytes that a scrub writes, by which it recognizes old write-ahead logs of etcd. */
    marker: key('marker'),
    resigned: key('resigned'),
    /** Overwritten repeatedly by a scrub, only to make etcd begin new files of its write-ahead logs. */
    filler: key('filler'),
    /** Proves which secret the nodes of the group share. */
    secret: key('state/secret'),
    refused,
    refusedEnd: afterAll(refused),
    nodes,
    nodesEnd: afterAll(nodes),
    logEnd: afterAll(key('log/')),
    slot: (firstSeq: number) => key(`log/${digits(firstSeq, SEQ_DIGITS)}`),
    seqOf: (slotKey: Buffer) => Number(slotKey.subarray(-SEQ_DIGITS).toString('latin1')),
    part: (firstSeq: number, number: number) =>
      key(`part/${digits(firstSeq, SEQ_DIGITS)}/${digits(number, PART_DIGITS)}`),
    node: (id: string) => key(`nodes/${id}`),
    refusedNode: (lease: string) => key(`refused/${lease}`),
    nodeIdOf: (nodeKey: Buffer) => nodeKey.subarray(nodes.length).toString(),
  };
}

/** Returns the first key after all keys with the prefix `start`. The last byte of `start` must not be 255. */
function afterAll(start: Buffer): Buffer {
  const end = Buffer.from(start);
  end[end.length - 1]! += 1;
  return end;
}

function digits(value: number, count: number): string {
  const text = String(value).padStart(count, '0');
  if (text.length > count) throw new Error(`${value} has more than ${count} digits`);
  return text;
}

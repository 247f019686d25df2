/** Builds and parses the keys of a group in etcd, all of which begin with the group's prefix. */

const SEQ_DIGITS = 12;
const PART_DIGITS = 3;

export class EtcdKeys {
  readonly leader: Buffer;
  readonly cluster: Buffer;
  readonly trimmed: Buffer;
  /** A node whose log ends before this record must rejoin. */
  readonly floor: Buffer;
  readonly format: Buffer;
  readonly scrubbed: Buffer;
  readonly scrubDue: Buffer;
  /** Random bytes that a scrub writes, by which it recognizes old write-ahead logs of etcd. */
  readonly marker: Buffer;
  readonly resigned: Buffer;
  /** Overwritten repeatedly by a scrub, only to make etcd begin new files of its write-ahead logs. */
  readonly filler: Buffer;
  /** Proves which secret the nodes of the group share. */
  readonly secret: Buffer;
  readonly refused: Buffer;
  readonly refusedEnd: Buffer;
  readonly nodes: Buffer;
  readonly nodesEnd: Buffer;
  readonly logEnd: Buffer;
  readonly #prefix: string;

  /** `prefix` ends with a slash. */
  constructor(prefix: string) {
    this.#prefix = prefix;
    this.leader = this.#key('leader');
    this.cluster = this.#key('state/cluster');
    this.trimmed = this.#key('state/trimmed');
    this.floor = this.#key('state/floor');
    this.format = this.#key('state/format');
    this.scrubbed = this.#key('scrubbed');
    this.scrubDue = this.#key('scrub-due');
    this.marker = this.#key('marker');
    this.resigned = this.#key('resigned');
    this.filler = this.#key('filler');
    this.secret = this.#key('state/secret');
    this.refused = this.#key('refused/');
    this.refusedEnd = afterAll(this.refused);
    this.nodes = this.#key('nodes/');
    this.nodesEnd = afterAll(this.nodes);
    this.logEnd = afterAll(this.#key('log/'));
  }

  slot(firstSeq: number): Buffer {
    return this.#key(`log/${digits(firstSeq, SEQ_DIGITS)}`);
  }

  seqOf(slotKey: Buffer): number {
    return Number(slotKey.subarray(-SEQ_DIGITS).toString('latin1'));
  }

  part(firstSeq: number, number: number): Buffer {
    return this.#key(`part/${digits(firstSeq, SEQ_DIGITS)}/${digits(number, PART_DIGITS)}`);
  }

  node(id: string): Buffer {
    return this.#key(`nodes/${id}`);
  }

  refusedNode(lease: string): Buffer {
    return this.#key(`refused/${lease}`);
  }

  nodeIdOf(key: Buffer): string {
    return key.subarray(this.nodes.length).toString();
  }

  #key(name: string): Buffer {
    return Buffer.from(`${this.#prefix}${name}`);
  }
}

/** Returns the first key after all keys with the prefix `start`. The last byte of `start` must not be 255. */
export function afterAll(start: Buffer): Buffer {
  const end = Buffer.from(start);
  end[end.length - 1]! += 1;
  return end;
}

function digits(value: number, count: number): string {
  const text = String(value).padStart(count, '0');
  if (text.length > count) throw new Error(`${value} has more than ${count} digits`);
  return text;
}

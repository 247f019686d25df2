/** Declares the changes that the leader decides, and how their arguments travel between nodes. */
import { subjectBytes, subjectHex } from '../core/hashing/pseudonym.js';
import { bytesOf, keyOf } from '../core/tables/event-columns.js';
import { isRefusal, type Refusal, refused } from '../errors.js';
import type { EventSubmission, GroupApi, PeerView } from '../group/api.js';

interface Codec<T, Json> {
  encode(value: T): Json;
  decode(json: Json, group: Pick<GroupApi, 'peerById'>): T | Refusal;
}

const plain: Codec<unknown, unknown> = { encode: (value) => value, decode: (value) => value };

/** The caller's peer may have been revoked since its request was admitted, here or on the sending node. */
const caller: Codec<PeerView | null, string | null> = {
  encode: (peer) => peer?.peerId ?? null,
  decode(peerId, group) {
    if (peerId === null) return null;
    const peer = group.peerById(peerId);
    if (peer === undefined) return refused('invalid_api_key');
    return peer.status === 'active' ? peer : refused('peer_not_active');
  },
};

const subject: Codec<Uint8Array, string> = { encode: subjectHex, decode: subjectBytes };

const events: Codec<
  readonly EventSubmission[],
  readonly (Omit<EventSubmission, 'subject'> & { readonly subject: string | null })[]
> = {
  encode: (given) => given.map((event) => ({ ...event, subject: event.subject && subjectHex(bytesOf(event.subject)) })),
  decode: (given) =>
    given.map((event) => ({ ...event, subject: event.subject === null ? null : keyOf(subjectBytes(event.subject)) })),
};

type CodecOf<T> = [T] extends [Uint8Array]
  ? typeof subject
  : [T] extends [PeerView | null]
    ? typeof caller
    : [T] extends [readonly EventSubmission[]]
      ? typeof events
      : typeof plain;

interface Change<Args extends readonly unknown[]> {
  readonly codecs: { readonly [I in keyof Args]: CodecOf<Args[I]> };
  /** The change must be in effect on every node before it is answered, as for a revoked key. */
  readonly isEverywhere?: true;
}

export const changes = {
  submit: { codecs: [caller, events, plain] },
  withdraw: { codecs: [caller, plain] },
  erase: { codecs: [caller, subject] },
  dispute: { codecs: [caller, subject, plain, plain] },
  // An export writes a record to the audit log, so that it is a change.
  exportSubject: { codecs: [subject, plain] },
  confirmErasure: { codecs: [subject, plain] },
  refuseErasure: { codecs: [subject, plain, plain] },
  allowPlayer: { codecs: [subject, plain, plain, plain], isEverywhere: true },
  disallowPlayer: { codecs: [subject, plain], isEverywhere: true },
  register: { codecs: [plain, plain, plain], isEverywhere: true },
  changePeer: { codecs: [plain, plain, plain, plain], isEverywhere: true },
  rotateKey: { codecs: [plain, plain, plain], isEverywhere: true },
  preTrust: { codecs: [plain, plain, plain], isEverywhere: true },
  purgePeers: { codecs: [plain, plain], isEverywhere: true },
  relatePeers: { codecs: [plain, plain, plain, plain], isEverywhere: true },
  changeOrigin: { codecs: [plain, plain, plain], isEverywhere: true },
  changeSetting: { codecs: [plain, plain, plain], isEverywhere: true },
  decideDispute: { codecs: [plain, plain, plain, plain], isEverywhere: true },
} as const satisfies {
  readonly [N in keyof GroupApi]?: GroupApi[N] extends (...args: infer Args) => unknown
    ? Change<Required<Args>>
    : never;
};

export type ChangeName = keyof typeof changes;
export type ChangeArgs<N extends ChangeName> = Parameters<GroupApi[N]>;
export type ChangeValue<N extends ChangeName> = Awaited<ReturnType<GroupApi[N]>>;
export type Changes = { readonly [N in ChangeName]: (...args: ChangeArgs<N>) => Promise<ChangeValue<N>> };

export interface ChangeCall<N extends ChangeName = ChangeName> {
  readonly name: N;
  readonly args: readonly unknown[];
  /** Digest of the key with which the caller was let in; absent if no peer asks. */
  readonly key?: string;
}

export function encodeCall<N extends ChangeName>(name: N, args: ChangeArgs<N>): ChangeCall<N> {
  const codecs: readonly Codec<unknown, unknown>[] = changes[name].codecs;
  const encoded = args.map((value, i) => codecs[i]!.encode(value));
  // JSON has no undefined, and null is a value.
  while (encoded.at(-1) === undefined && encoded.length > 0) encoded.pop();
  const key = codecs[0] === caller ? (args[0] as PeerView | null)?.keyDigest : undefined;
  return { name, args: encoded, ...(key !== undefined && { key }) };
}

/** Returns the peer that asked for a change; null for a change of the operator, or of a caller without a key. */
export function peerIdOf({ name, args }: ChangeCall): string | null {
  return changes[name].codecs[0] === caller ? (args[0] as string | null) : null;
}

/** Returns the refusal of a change. Each event of a batch has an outcome of its own. */
export function refusalOf<N extends ChangeName>(name: N, args: readonly unknown[], refusal: Refusal): ChangeValue<N> {
  const value = name === 'submit' ? (args[1] as readonly unknown[]).map(() => refusal) : refusal;
  return value as ChangeValue<N>;
}

/** Decides a change on the group of this node, which leads. Returns undefined for an unknown change. */
export function execute<N extends ChangeName>(
  group: Changes & Pick<GroupApi, 'peerById' | 'peerByKeyDigest'>,
  { name, args, key }: ChangeCall<N>,
): Promise<ChangeValue<N>> | undefined {
  if (!Object.hasOwn(changes, name) || !Array.isArray(args)) return undefined;
  const codecs: readonly Codec<unknown, unknown>[] = changes[name].codecs;
  if (codecs[0] === caller && args.length === 0) return undefined;
  const decoded = args.map((value, i) => (codecs[i] ?? plain).decode(value, group));
  const [first] = decoded;
  if (codecs[0] === caller && isRefusal(first)) return Promise.resolve(refusalOf(name, args, first));
  // The sending node may be behind, and the key have been replaced because it was stolen.
  const isOfPeer = codecs[0] === caller && args[0] !== null;
  if (isOfPeer && group.peerByKeyDigest(key ?? '')?.peerId !== args[0])
    return Promise.resolve(refusalOf(name, args, refused('invalid_api_key')));
  const methods: Changes = group;
  return methods[name](...(decoded as ChangeArgs<N>));
}

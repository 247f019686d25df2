/**
 * Encodes the changes of the group that a node sends to the leader, and executes them on the leader. A command here is
 * a method of `GroupApi` with its arguments; `group/commands.ts` declares the commands of the actor.
 */
import { subjectBytes, subjectHex } from '../core/hashing/pseudonym.js';
import { bytesOf, keyOf } from '../core/tables/event-columns.js';
import { type Refusal, refused } from '../errors.js';
import type { EventSubmission, GroupApi, PeerView } from '../group/api.js';

interface Codec {
  encode(value: unknown): unknown;
  decode(value: unknown): unknown;
}

const caller: Codec = {
  encode: (peer) => (peer as PeerView | null)?.peerId ?? null,
  // `execute` looks the peer up.
  decode: (peerId) => peerId,
};

const subject: Codec = {
  encode: (bytes) => subjectHex(bytes as Uint8Array),
  decode: (hex) => subjectBytes(hex as string),
};

const events: Codec = {
  encode: (given) =>
    (given as readonly EventSubmission[]).map((event) => ({
      ...event,
      subject: event.subject === null ? null : subjectHex(bytesOf(event.subject)),
    })),
  decode: (given) =>
    (given as readonly { readonly subject: string | null }[]).map((event) => ({
      ...event,
      subject: event.subject === null ? null : keyOf(subjectBytes(event.subject)),
    })),
};

interface Command {
  /** Codecs of the first arguments. All other arguments are JSON. */
  readonly codecs?: readonly Codec[];
  /** The change must be in effect on every node before it is answered, as for a revoked key. */
  readonly isEverywhere?: true;
}

export const commands = {
  submit: { codecs: [caller, events] },
  withdraw: { codecs: [caller] },
  erase: { codecs: [caller, subject] },
  dispute: { codecs: [caller, subject] },
  // An export writes a record to the audit log, so that it is a change.
  exportSubject: { codecs: [subject] },
  confirmErasure: { codecs: [subject] },
  allowPlayer: { codecs: [subject], isEverywhere: true },
  disallowPlayer: { codecs: [subject], isEverywhere: true },
  register: { isEverywhere: true },
  setPeerStatus: { isEverywhere: true },
  rotateKey: { isEverywhere: true },
  setPublicKey: { isEverywhere: true },
  preTrust: { isEverywhere: true },
  purgePeers: { isEverywhere: true },
  relatePeers: { isEverywhere: true },
  changeOrigin: { isEverywhere: true },
  decideDispute: { isEverywhere: true },
} as const satisfies { readonly [N in keyof GroupApi]?: Command };

export type CommandName = keyof typeof commands;
export type CommandArgs<N extends CommandName> = Parameters<GroupApi[N]>;
export type CommandValue<N extends CommandName> = Awaited<ReturnType<GroupApi[N]>>;

/** A command with encoded arguments. */
export interface CommandCall<N extends CommandName = CommandName> {
  readonly name: N;
  readonly args: readonly unknown[];
}

export function encodeCall<N extends CommandName>(name: N, args: CommandArgs<N>): CommandCall<N> {
  const { codecs = [] }: Command = commands[name];
  const encoded = args.map((value, i) => (i < codecs.length ? codecs[i]!.encode(value) : value));
  // JSON has no undefined, and null is a value.
  while (encoded.at(-1) === undefined && encoded.length > 0) encoded.pop();
  return { name, args: encoded };
}

/** Returns the refusal of a command. Each event of a batch has an outcome of its own. */
export function refusalOf<N extends CommandName>(name: N, args: readonly unknown[], refusal: Refusal): CommandValue<N> {
  const value = name === 'submit' ? (args[1] as readonly unknown[]).map(() => refusal) : refusal;
  return value as CommandValue<N>;
}

/** Executes a command on the group of this node, which leads. Returns undefined for an unknown command. */
export function execute<N extends CommandName>(
  group: GroupApi,
  { name, args }: CommandCall<N>,
): Promise<CommandValue<N>> | undefined {
  if (!Object.hasOwn(commands, name) || !Array.isArray(args)) return undefined;
  const { codecs = [] }: Command = commands[name];
  const decoded = args.map((value, i) => (i < codecs.length ? codecs[i]!.decode(value) : value));
  if (codecs[0] === caller) {
    const peer = callerOf(group, decoded[0] as string | null);
    if (isRefusal(peer)) return Promise.resolve(refusalOf(name, args, peer));
    decoded[0] = peer;
  }
  return Reflect.apply(group[name], group, decoded) as Promise<CommandValue<N>>;
}

/**
 * Returns the caller's peer. The peer may have been revoked since its request was admitted, here or on the sending
 * node.
 */
function callerOf(group: GroupApi, peerId: string | null): PeerView | null | Refusal {
  if (peerId === null) return null;
  const peer = group.peerById(peerId);
  if (peer === undefined) return refused('invalid_api_key');
  return peer.status === 'active' ? peer : refused('peer_not_active');
}

function isRefusal(peer: PeerView | null | Refusal): peer is Refusal {
  return peer !== null && 'ok' in peer;
}

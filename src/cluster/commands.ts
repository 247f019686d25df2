/** The commands that a node sends to the leader: their arguments as JSON, and their execution on the leader. */
import type { DecideDispute } from '../core/commands.js';
import { subjectBytes, subjectHex } from '../core/hashing/pseudonym.js';
import type { PeerRelation } from '../core/relations.js';
import { bytesOf, keyOf } from '../core/tables/event-columns.js';
import type { PeerStatus } from '../core/vocabulary.js';
import { type Outcome, type Refusal, refused } from '../errors.js';
import type {
  AcceptedEvent,
  AllowedPlayer,
  DisputeView,
  Erasure,
  EventSubmission,
  GroupApi,
  IssuedKey,
  OriginView,
  PeerView,
  Registration,
  SubjectExport,
} from '../group/api.js';
import type { Holder } from '../group/holder.js';

type EncodedEvent = Omit<EventSubmission, 'subject'> & { readonly subject: string | null };

/** `caller` is the id of a peer; null if authentication is off. */
export interface CommandArgs {
  readonly submit: {
    readonly caller: string | null;
    readonly events: readonly EncodedEvent[];
    readonly holder: Holder | null;
  };
  readonly register: { readonly registration: Registration; readonly by: string; readonly byOperator: boolean };
  readonly withdraw: { readonly caller: string | null; readonly eventId: string };
  readonly erase: { readonly caller: string | null; readonly subject: string };
  readonly setPeerStatus: { readonly peerId: string; readonly status: PeerStatus; readonly by: string };
  readonly rotateKey: { readonly peerId: string; readonly overlapMs: number; readonly by: string };
  readonly dispute: {
    readonly caller: string | null;
    readonly subject: string;
    readonly text: string;
    readonly against?: string;
  };
  readonly changeOrigin: { readonly change: 'add' | 'remove'; readonly name: string; readonly by: string };
  readonly decideDispute: {
    readonly decision: DecideDispute['decision'];
    readonly disputeId: string;
    readonly peerIds: readonly string[];
    readonly by: string;
  };
  readonly exportSubject: { readonly subject: string; readonly by: string };
  readonly setPublicKey: { readonly peerId: string; readonly publicKey: string | null; readonly by: string };
  readonly allowPlayer: {
    readonly subject: string;
    readonly until: number;
    readonly note: string;
    readonly by: string;
  };
  readonly disallowPlayer: { readonly subject: string; readonly by: string };
  readonly preTrust: { readonly change: 'add' | 'remove'; readonly peerId: string; readonly by: string };
  readonly purgePeers: { readonly idleMs: number; readonly by: string };
  readonly relatePeers: {
    readonly relation: PeerRelation['relation'];
    readonly peerId: string;
    readonly otherId: string;
    readonly by: string;
  };
  readonly confirmErasure: { readonly subject: string; readonly by: string };
}

export interface CommandValues {
  readonly submit: Outcome<AcceptedEvent>[];
  readonly register: Outcome<IssuedKey>;
  readonly withdraw: Outcome<{ readonly withdrawnAt: number }>;
  readonly erase: Outcome<Erasure>;
  readonly setPeerStatus: Outcome<PeerView>;
  readonly rotateKey: Outcome<IssuedKey>;
  readonly dispute: Outcome<{ readonly id: string; readonly openedAt: number }>;
  readonly changeOrigin: Outcome<OriginView>;
  readonly decideDispute: Outcome<DisputeView>;
  readonly exportSubject: Outcome<SubjectExport>;
  readonly setPublicKey: Outcome<PeerView>;
  readonly allowPlayer: Outcome<AllowedPlayer>;
  readonly disallowPlayer: Outcome<null>;
  readonly preTrust: Outcome<{ readonly preTrusted: readonly string[] }>;
  readonly purgePeers: Outcome<readonly string[]>;
  readonly relatePeers: Outcome<null>;
  readonly confirmErasure: Outcome<Erasure>;
}

export type CommandName = keyof CommandArgs;

export interface CommandCall<N extends CommandName = CommandName> {
  readonly name: N;
  readonly args: CommandArgs[N];
}

export function encodeEvents(events: readonly EventSubmission[]): EncodedEvent[] {
  return events.map((event) => ({
    ...event,
    subject: event.subject === null ? null : subjectHex(bytesOf(event.subject)),
  }));
}

function decodeEvents(events: readonly EncodedEvent[]): EventSubmission[] {
  return events.map((event) => ({
    ...event,
    subject: event.subject === null ? null : keyOf(subjectBytes(event.subject)),
  }));
}

type Handler<N extends CommandName> = (group: GroupApi, args: CommandArgs[N]) => Promise<CommandValues[N]>;

/** Returns the caller's peer on the leader, because the state of the sending node may be older. */
function callerOf(group: GroupApi, peerId: string | null): PeerView | null | Refusal {
  if (peerId === null) return null;
  const peer = group.peerById(peerId);
  if (peer === undefined) return refused('invalid_api_key');
  return peer.status === 'active' ? peer : refused('peer_not_active');
}

function isRefusal(caller: PeerView | null | Refusal): caller is Refusal {
  return caller !== null && 'ok' in caller;
}

const handlers: { readonly [N in CommandName]: Handler<N> } = {
  async submit(group, { caller: id, events, holder }) {
    const caller = callerOf(group, id);
    if (isRefusal(caller)) return events.map(() => caller);
    return group.submit(caller, decodeEvents(events), holder ?? undefined);
  },
  register: (group, { registration, by, byOperator }) => group.register(registration, by, byOperator),
  async withdraw(group, { caller: id, eventId }) {
    const caller = callerOf(group, id);
    return isRefusal(caller) ? caller : group.withdraw(caller, eventId);
  },
  async erase(group, { caller: id, subject }) {
    const caller = callerOf(group, id);
    return isRefusal(caller) ? caller : group.erase(caller, subjectBytes(subject));
  },
  setPeerStatus: (group, { peerId, status, by }) => group.setPeerStatus(peerId, status, by),
  rotateKey: (group, { peerId, overlapMs, by }) => group.rotateKey(peerId, overlapMs, by),
  async dispute(group, { caller: id, subject, text, against }) {
    const caller = callerOf(group, id);
    return isRefusal(caller) ? caller : group.dispute(caller, subjectBytes(subject), text, against);
  },
  changeOrigin: (group, { change, name, by }) => group.changeOrigin(change, name, by),
  decideDispute: (group, { decision, disputeId, peerIds, by }) => group.decideDispute(decision, disputeId, peerIds, by),
  exportSubject: (group, { subject, by }) => group.exportSubject(subjectBytes(subject), by),
  setPublicKey: (group, { peerId, publicKey, by }) => group.setPublicKey(peerId, publicKey, by),
  allowPlayer: (group, { subject, until, note, by }) => group.allowPlayer(subjectBytes(subject), until, note, by),
  disallowPlayer: (group, { subject, by }) => group.disallowPlayer(subjectBytes(subject), by),
  preTrust: (group, { change, peerId, by }) => group.preTrust(change, peerId, by),
  purgePeers: (group, { idleMs, by }) => group.purgePeers(idleMs, by),
  relatePeers: (group, { relation, peerId, otherId, by }) => group.relatePeers(relation, peerId, otherId, by),
  confirmErasure: (group, { subject, by }) => group.confirmErasure(subjectBytes(subject), by),
};

/** Executes a command on the group of this node, which leads. Returns undefined for an unknown command. */
export function execute<N extends CommandName>(
  group: GroupApi,
  call: CommandCall<N>,
): Promise<CommandValues[N]> | undefined {
  return Object.hasOwn(handlers, call.name) ? handlers[call.name](group, call.args) : undefined;
}

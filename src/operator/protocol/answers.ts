/**
 * Answers each command of the operator from the group: converts requests into calls and views into the values of
 * `values.ts`. Contains no sockets.
 */
import { granted, type Outcome, refused } from '../../errors.js';
import type { GroupApi, OnProgress } from '../../group/api.js';
import { type CommandName, checkRequest, type Requests, type Values } from './protocol.js';
import { subjectExportValue } from './subject-export.js';
import {
  allowedPlayerValue,
  auditEntryValue,
  clusterValue,
  disputeValue,
  isoTime,
  listedPeerValue,
  originValue,
  type PreTrustValue,
  peerValue,
  pendingErasureValue,
  preTrustValue,
  publishedWeightsValue,
  simulationValue,
  statusValue,
  verifyValue,
} from './values.js';

/**
 * Checks the request of a command and answers it. Codes of refusals: schema_validation_failed, and those of the
 * command.
 */
export async function answerCommand<C extends CommandName>(
  answers: Answers,
  name: C,
  body: unknown,
  onProgress: OnProgress = () => {},
): Promise<Outcome<Values[C]>> {
  const request = checkRequest(name, body);
  return request.ok ? answers[name](request.value, onProgress) : request;
}

export type Answers = {
  readonly [C in CommandName]: (
    request: Requests[C],
    onProgress: OnProgress,
  ) => Outcome<Values[C]> | Promise<Outcome<Values[C]>>;
};

function actorOf(request: { readonly by?: string }): string {
  return request.by === undefined ? 'operator' : `operator:${request.by}`;
}

function mapped<T, U>(outcome: Outcome<T>, to: (value: T) => U): Outcome<U> {
  return outcome.ok ? granted(to(outcome.value)) : outcome;
}

/** `version` is this release. */
export function answersOf(group: GroupApi, version: string): Answers {
  return {
    status: () => granted(statusValue(group.status(), version)),
    ...peerAnswers(group),
    ...peopleAnswers(group),
    ...allowAnswers(group),
    ...erasureAnswers(group),
    ...logAnswers(group),
    ...clusterAnswers(group),
  };
}

/** `group.clusterOperations` exists from the start of a cluster's node, and never on any other node. */
function clusterAnswers(group: GroupApi): Pick<Answers, Extract<CommandName, `cluster-${string}`>> {
  const without = refused('invalid_parameter', { text: 'this node serves its group alone (CLUSTER=none)' });
  const { clusterOperations: cluster } = group;
  return {
    'cluster-status': async () => (cluster === null ? without : mapped(await cluster.status(), clusterValue)),
    'cluster-step-down': async () =>
      cluster === null ? without : mapped(await cluster.stepDown(), ({ nodeId }) => ({ node_id: nodeId })),
    'cluster-scrub': async ({ snapshot_count: snapshotEntries, max_wals: files }, onProgress) => {
      const settings = { ...(snapshotEntries && { snapshotEntries }), ...(files && { files }) };
      return cluster === null ? without : cluster.scrub(settings, onProgress);
    },
    'cluster-forget': async ({ node_id: nodeId }) =>
      cluster === null ? without : mapped(await cluster.forget(nodeId), () => ({ node_id: nodeId })),
  };
}

type PeerCommand = Extract<CommandName, `peers-${string}` | `pretrust-${string}`>;

function peerAnswers(group: GroupApi): Pick<Answers, PeerCommand> {
  function preTrusted(peerIds: readonly string[]): PreTrustValue {
    return preTrustValue(peerIds.map((peerId) => group.peerById(peerId)).filter((peer) => peer !== undefined));
  }

  return {
    'peers-list'({ from, limit }) {
      // One more than requested, to see whether there is a next page.
      const peers = group.peers(from, limit + 1);
      const data = peers
        .slice(0, limit)
        .map((peer) => listedPeerValue(peer, group.signals(peer), group.sharedErasures(peer), group.tooOld(peer)));
      return granted({ data, next_from: peers[limit]?.index ?? null });
    },

    async 'peers-add'(request) {
      const registration = {
        peerName: request.peer_name,
        gameIds: request.game_ids,
        ...(request.contact_email === undefined ? {} : { contactEmail: request.contact_email }),
        ...(request.public_key === undefined ? {} : { publicKey: request.public_key }),
      };
      const outcome = await group.register(registration, actorOf(request), true);
      return mapped(outcome, ({ peer, apiKey }) => ({ ...peerValue(peer), api_key: apiKey }));
    },

    async 'peers-status'(request) {
      return mapped(await group.setPeerStatus(request.peer_id, request.status, actorOf(request)), peerValue);
    },

    async 'peers-rotate-key'(request) {
      const outcome = await group.rotateKey(request.peer_id, request.overlap_ms, actorOf(request));
      return mapped(outcome, ({ peer, apiKey }) => ({
        ...peerValue(peer),
        api_key: apiKey,
        overlap_ms: request.overlap_ms,
      }));
    },

    async 'peers-set-key'(request) {
      return mapped(await group.setPublicKey(request.peer_id, request.public_key, actorOf(request)), peerValue);
    },

    async 'peers-purge'(request) {
      return mapped(await group.purgePeers(request.idle_ms, actorOf(request)), (purged) => ({ purged }));
    },

    async 'peers-relate'(request) {
      const { relation, peer_id: peerId, other_id: otherId } = request;
      const outcome = await group.relatePeers(relation, peerId, otherId, actorOf(request));
      return mapped(outcome, () => {
        const [one, other] = [group.peerById(peerId)!, group.peerById(otherId)!];
        return { relation, peers: [peerValue(one), peerValue(other)] as const };
      });
    },

    'pretrust-list': () => granted(preTrusted(group.status().preTrusted)),

    async 'pretrust-change'(request) {
      const outcome = await group.preTrust(request.change, request.peer_id, actorOf(request));
      return mapped(outcome, ({ preTrusted: peerIds }) => preTrusted(peerIds));
    },
  };
}

type PeopleCommand = Extract<CommandName, `origins-${string}` | `disputes-${string}` | 'subject-export'>;

/** Answers about origins, disputes, and the rights of players. */
function peopleAnswers(group: GroupApi): Pick<Answers, PeopleCommand> {
  return {
    'origins-list': () => granted({ data: group.origins().map(originValue) }),

    async 'origins-change'(request) {
      return mapped(await group.changeOrigin(request.change, request.name, actorOf(request)), originValue);
    },

    'disputes-list'({ from, limit, status }) {
      const all = group.disputes(status);
      const end = from + limit;
      return granted({
        data: all.slice(from, end).map(disputeValue),
        next_from: end < all.length ? end : null,
      });
    },

    async 'disputes-decide'(request) {
      const { decision, dispute_id: id, peer_ids: peerIds = [] } = request;
      return mapped(await group.decideDispute(decision, id, peerIds, actorOf(request)), disputeValue);
    },

    async 'subject-export'(request) {
      const subject = Buffer.from(request.subject_hash, 'hex');
      const outcome = await group.exportSubject(subject, actorOf(request));
      return mapped(outcome, (view) => subjectExportValue(view, group.identity.groupId));
    },
  };
}

function allowAnswers(group: GroupApi): Pick<Answers, 'allow-list' | 'allow-add' | 'allow-remove'> {
  return {
    'allow-list'({ from, limit }) {
      const entries = group.allowedPlayers();
      const data = entries.slice(from, from + limit).map(allowedPlayerValue);
      return granted({ data, next_from: from + limit < entries.length ? from + limit : null });
    },

    async 'allow-add'(request) {
      const subject = Buffer.from(request.subject_hash, 'hex');
      const outcome = await group.allowPlayer(subject, Date.parse(request.until), request.note, actorOf(request));
      return mapped(outcome, allowedPlayerValue);
    },

    async 'allow-remove'(request) {
      const subjectHash = request.subject_hash.toLowerCase();
      const outcome = await group.disallowPlayer(Buffer.from(subjectHash, 'hex'), actorOf(request));
      return mapped(outcome, () => ({ subject_hash: subjectHash }));
    },
  };
}

function erasureAnswers(group: GroupApi): Pick<Answers, 'erase-pending' | 'erase'> {
  return {
    'erase-pending': () => granted({ data: group.pendingErasures().map(pendingErasureValue) }),

    async erase(request) {
      const subjectHash = request.subject_hash.toLowerCase();
      const outcome = await group.confirmErasure(Buffer.from(subjectHash, 'hex'), actorOf(request));
      return mapped(outcome, ({ status, eventsErased, erasedAt, receipt }) => ({
        subject_hash: subjectHash,
        status,
        events_erased: eventsErased,
        erased_at: isoTime(erasedAt),
        receipt,
      }));
    },
  };
}

/** Answers from the log, and from values computed from it. */
function logAnswers(
  group: GroupApi,
): Pick<Answers, 'audit-tail' | 'audit-page' | 'weights-page' | 'simulate' | 'verify'> {
  return {
    async 'audit-tail'({ count, before }) {
      return mapped(await group.auditTail(count, before), ({ entries }) => ({ data: entries.map(auditEntryValue) }));
    },

    async 'audit-page'({ after, limit }) {
      const outcome = await group.audit(after, limit);
      return mapped(outcome, ({ entries, nextAfter }) => ({
        data: entries.map(auditEntryValue),
        next_after: nextAfter,
      }));
    },

    async 'weights-page'({ after }) {
      return mapped(await group.publishedWeights(after), ({ entries, nextAfter, lastSeq }) => ({
        data: entries.map(publishedWeightsValue),
        next_after: nextAfter,
        last_seq: lastSeq,
      }));
    },

    async simulate({ pre_trusted, without = [], half_life_days, ban_half_life_days, rows }, onProgress) {
      const halfLives = { halfLifeDays: half_life_days ?? null, banHalfLifeDays: ban_half_life_days ?? null };
      const query = { preTrusted: pre_trusted ?? null, without, ...halfLives, rowsMax: rows };
      return mapped(await group.simulate(query, onProgress), simulationValue);
    },

    async verify(_, onProgress) {
      return mapped(await group.verify(onProgress), verifyValue);
    },
  };
}

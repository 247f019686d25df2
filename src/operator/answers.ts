/** Answers each command of the operator from the group: requests into calls, views into wire values. No sockets here. */
import { verdicts } from '../core/vocabulary.js';
import { granted, type Outcome } from '../errors.js';
import type {
  AuditEntry,
  GroupApi,
  OnProgress,
  PeerView,
  PublishedWeights,
  SimulationView,
  VerifyReport,
} from '../group/api.js';
import {
  type AuditEntryValue,
  type CommandName,
  checkRequest,
  type ListedPeerValue,
  type PeerValue,
  type PreTrustValue,
  type PublishedWeightsValue,
  type Requests,
  type SimulationValue,
  type Values,
  type VerifyValue,
} from './protocol.js';

/** One command by its name; the switch of types is the table's. Codes: schema_validation_failed, and those of the command. */
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

function isoTime(ms: number): string {
  return new Date(ms).toISOString();
}

function actorOf(request: { readonly by?: string }): string {
  return request.by === undefined ? 'operator' : `operator:${request.by}`;
}

function mapped<T, U>(outcome: Outcome<T>, to: (value: T) => U): Outcome<U> {
  return outcome.ok ? granted(to(outcome.value)) : outcome;
}

function peerValue(peer: PeerView): PeerValue {
  return {
    peer_id: peer.peerId,
    peer_name: peer.peerName,
    game_ids: peer.gameIds,
    status: peer.status,
    registered_at: isoTime(peer.registeredAt),
    event_count: peer.eventCount,
    pre_trusted: peer.preTrusted,
    weight: peer.weight,
    tau: peer.tau,
    a: peer.a,
    b: peer.b,
  };
}

function auditEntryValue(entry: AuditEntry): AuditEntryValue {
  const { seq, at, action, actor, target, prevHash, hash } = entry;
  return { seq, at: isoTime(at), action, actor, target, prev_hash: prevHash, hash };
}

function publishedWeightsValue({
  seq,
  at,
  basedOnSeq,
  computedAt,
  pi,
  peers,
}: PublishedWeights): PublishedWeightsValue {
  const named = peers.map(({ peerId, ...figures }) => ({ peer_id: peerId, ...figures }));
  const times = { at: isoTime(at), based_on_seq: basedOnSeq, computed_at: isoTime(computedAt) };
  return { seq, ...times, bad_share: pi, peers: named };
}

function simulationValue(simulation: SimulationView): SimulationValue {
  const { seq, at, players, verdicts: table, changed, peers } = simulation;
  const counts = verdicts.flatMap((was) => verdicts.filter((is) => is !== was).map((is) => table[was][is]));
  return {
    seq,
    at: isoTime(at),
    players,
    changed_count: counts.reduce((sum, count) => sum + count, 0),
    changed: changed.map(({ subject, events, before, after }) => ({
      subject_hash: subject,
      event_count: events,
      before,
      after,
    })),
    verdicts: table,
    peers: peers.map(({ peerId, peerName, before, after }) => ({
      peer_id: peerId,
      peer_name: peerName,
      weight_before: before,
      weight_after: after,
    })),
  };
}

/** A report in the words of the wire; also for one that was made without a node. */
export function verifyValue(report: VerifyReport): VerifyValue {
  const { ok, lastSeq, batches, records, auditEntries, snapshots, faults } = report;
  return { ok, last_seq: lastSeq, batches, records, audit_entries: auditEntries, snapshots, faults };
}

/** `version` is this release. */
export function answersOf(group: GroupApi, version: string): Answers {
  function preTrustValue(peerIds: readonly string[]): PreTrustValue {
    const peers = peerIds.map((peerId) => group.peerById(peerId)).filter((peer) => peer !== undefined);
    return {
      pre_trusted: peers.map(({ peerId, peerName, status }) => ({ peer_id: peerId, peer_name: peerName, status })),
    };
  }

  function listedPeerValue(peer: PeerView): ListedPeerValue {
    const signals = group.signals(peer);
    if (signals === undefined) return { ...peerValue(peer), signals: null };
    const { players, sharedPlayers, discountedWith } = signals;
    const discounted = discountedWith.map((other) => ({
      peer_id: other.peerId,
      shared_players: other.sharedPlayers,
      agreement: other.agreement,
    }));
    const value = { players, shared_players: sharedPlayers, discounted_with: discounted };
    return { ...peerValue(peer), signals: value };
  }

  return {
    status() {
      const { identity, weights, disk, check, ...status } = group.status();
      return granted({
        version,
        group_id: identity.groupId,
        identity_mode: identity.identityMode,
        environment: identity.environment,
        ready: status.ready,
        writable: status.writable,
        reason: status.reason ?? null,
        last_seq: status.lastSeq,
        weights: {
          based_on_seq: weights.basedOnSeq,
          computed_at: weights.computedAt === null ? null : isoTime(weights.computedAt),
        },
        counts: status.counts,
        half_life_days: status.halfLifeDays,
        pre_trusted: status.preTrusted,
        mailbox: status.mailbox,
        snapshots: status.snapshots,
        pending_erasures: status.pendingErasures,
        owner_epoch: status.ownerEpoch,
        disk:
          disk === null
            ? null
            : { free: disk.freeBytes, free_min: disk.minBytes, log: disk.logBytes, snapshots: disk.snapshotsBytes },
        check: {
          running: check.running,
          checked_seq: check.checkedSeq,
          ended_at: check.endedAt === null ? null : isoTime(check.endedAt),
          faults: check.faults,
        },
      });
    },

    'peers-list'({ from, limit }) {
      // One more than asked for, to know whether there is a next page.
      const peers = group.peers(from, limit + 1);
      return granted({ data: peers.slice(0, limit).map(listedPeerValue), next_from: peers[limit]?.index ?? null });
    },

    async 'peers-add'(request) {
      const registration = {
        peerName: request.peer_name,
        gameIds: request.game_ids,
        ...(request.contact_email === undefined ? {} : { contactEmail: request.contact_email }),
      };
      const outcome = await group.register(registration, actorOf(request));
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

    'pretrust-list': () => granted(preTrustValue(group.status().preTrusted)),

    async 'pretrust-change'(request) {
      const outcome = await group.preTrust(request.change, request.peer_id, actorOf(request));
      return mapped(outcome, ({ preTrusted }) => preTrustValue(preTrusted));
    },

    'erase-pending': () => granted({ data: group.pendingErasures() }),

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

    async simulate({ pre_trusted, without = [], half_life_days, rows }, onProgress) {
      const query = { preTrusted: pre_trusted ?? null, without, halfLifeDays: half_life_days ?? null, rowsMax: rows };
      return mapped(await group.simulate(query, onProgress), simulationValue);
    },

    async verify(_, onProgress) {
      return mapped(await group.verify(onProgress), verifyValue);
    },
  };
}

/** Handles reads about players, the verdict stream, erasures, disputes and the audit log. */
import type { Writable } from 'node:stream';
import type { DisputeBody } from '../../contract/request-bodies.js';
import type * as bodies from '../../contract/response-bodies.js';
import { keyColumns } from '../../core/tables/event-columns.js';
import { granted, type Outcome, refused } from '../../errors.js';
import type { PeerView, TrustView } from '../../group/api.js';
import type { Holder } from '../../group/ports/pool.js';
import { HOUR_MS, limits } from '../../limits.js';
import { explanationBody, storedEventBody, timeText, verdictBody } from '../bodies/bodies.js';
import { explainedScoreJson, ScoreTag, scoreJson, scoresJson } from '../bodies/score-json.js';
import type { HttpDeps } from '../deps.js';
import { keyDigestOf } from '../request/auth.js';
import { ok, okJson, refusalReply } from '../request/reply.js';
import { type ApiRequest, type Handlers, holderOf, type Remote, then } from '../request/request.js';
import * as parameters from '../request/request-parameters.js';
import type { ReadTurns } from '../room/read-turns.js';
import type { StreamReaders } from '../verdict-stream/readers.js';

export function playerHandlers({ node, pseudonyms }: Pick<HttpDeps, 'node' | 'pseudonyms'>, turns: ReadTurns) {
  const players = keyColumns(limits.matchIdsMax);
  const refusal = parameters.rawIdRefusal(node.identity);

  function subjectOf(playerId: string): Outcome<Uint8Array> {
    const id = parameters.readPlayerId(playerId);
    if (!id.ok) return id;
    const subject = pseudonyms.of(id.value);
    return subject === null ? refusal : granted(subject);
  }

  function trustOf(playerId: string, caller: PeerView | null, remote: Remote) {
    const found = subjectOf(playerId);
    if (!found.ok) return found;
    const subject = found.value;
    const turn = node.group.isLongRead(subject) ? turns.next(holderOf(caller, remote)) : undefined;
    return then(turn, (): Outcome<{ readonly subject: Uint8Array; readonly view: TrustView }> => {
      const view = node.group.trust(subject);
      return view === undefined ? refused('player_not_found') : granted({ subject, view });
    });
  }

  function getTrustScore({ params, query, caller, remote }: ApiRequest<undefined>) {
    const playerId = params.id ?? '';
    const explain = parameters.readExplain(query);
    if (!explain.ok) return refusalReply(explain);
    return then(trustOf(playerId, caller, remote), (trust) => {
      if (!trust.ok) return refusalReply(trust);
      const { view, subject } = trust.value;
      const explanation = explain.value ? node.group.explain(subject) : undefined;
      if (explanation !== undefined) {
        return okJson(explainedScoreJson(playerId, view, explanationBody(view.verdict, explanation)));
      }
      const tag = new ScoreTag();
      return okJson(scoreJson(playerId, view, tag), tag);
    });
  }

  function getVerdict({ params, caller, remote }: ApiRequest<undefined>) {
    const playerId = params.id ?? '';
    return then(trustOf(playerId, caller, remote), (trust) =>
      trust.ok ? ok(verdictBody(playerId, trust.value.view)) : refusalReply(trust),
    );
  }

  function getTrustScores({ query, caller, remote }: ApiRequest<undefined>) {
    const ids = parameters.readIds(query);
    if (!ids.ok) return refusalReply(ids);
    if (!pseudonyms.writeAll(ids.value.texts, players.keys)) return refusalReply(refusal);
    players.count = ids.value.texts.count;
    const trusts: (TrustView | undefined)[] = [];
    node.group.trusts(players, trusts);
    return trusts.length === players.count
      ? matchReply(ids.value, trusts)
      : getLongMatch(ids.value, trusts, holderOf(caller, remote), remote);
  }

  /** Computes the other players in pieces. Other requests reuse the columns meanwhile, so that it takes copies. */
  async function getLongMatch(
    { texts, isPlain }: parameters.MatchIds,
    trusts: (TrustView | undefined)[],
    holder: Holder,
    remote: Remote,
  ) {
    const ids = { texts: texts.copy(), isPlain };
    const all = keyColumns(players.count);
    all.count = players.count;
    all.keys.set(players.keys.subarray(0, all.keys.length));
    while (trusts.length < all.count && remote.destroyed !== true) {
      await turns.next(holder);
      node.group.trusts(all, trusts);
    }
    return matchReply(ids, trusts);
  }

  function matchReply(ids: parameters.MatchIds, trusts: readonly (TrustView | undefined)[]) {
    const tag = new ScoreTag();
    return okJson(scoresJson(ids, trusts, tag), tag);
  }

  async function listPlayerEvents({ params, query, caller, remote }: ApiRequest<undefined>) {
    const playerId = params.id ?? '';
    const page = parameters.readPage(query, 'events');
    if (!page.ok) return refusalReply(page);
    const subject = subjectOf(playerId);
    if (!subject.ok) return refusalReply(subject);
    const { limit, places } = page.value;
    const events = await node.group.playerEvents(subject.value, caller, limit, places, holderOf(caller, remote));
    if (!events.ok) return refusalReply(events);
    const { total, summarised, summary, own, next, erasureRefused: refusal } = events.value;
    return ok({
      player_id: playerId,
      total,
      summarised,
      summary: summary.map(({ eventType, week, count }) => {
        return { event_type: eventType, ...(week === undefined ? {} : { week }), count };
      }),
      data: caller === null ? [] : own.map((event) => storedEventBody(caller.peerId, playerId, event, event)),
      ...(refusal && { erasure_refused: { refused_at: timeText(refusal.at), reason: refusal.reason } }),
      next_cursor: next === null ? null : parameters.encodeCursor('events', ...next),
    } satisfies bodies.PlayerEventsBody);
  }

  return { getTrustScore, getTrustScores, getVerdict, listPlayerEvents } satisfies Partial<Handlers>;
}

/** A proxy must not buffer this answer, because it never ends. */
const headers = { 'Cache-Control': 'private, no-store', 'X-Accel-Buffering': 'no' };

export function streamHandlers(readers: StreamReaders) {
  function streamVerdicts({ headers: sent, caller, remote }: ApiRequest<undefined>) {
    const holder = holderOf(caller, remote);
    const refusal = readers.refusal({ peer: caller, holder });
    if (refusal !== undefined) return refusalReply(refusal);
    const id = sent['last-event-id'];
    const opening = {
      lastEventId: typeof id === 'string' ? id.trim() : '',
      peer: caller,
      holder,
      keyDigest: keyDigestOf(sent) ?? '',
    };
    return { status: 200, body: undefined, headers, stream: (to: Writable) => readers.open(to, opening) };
  }

  return { streamVerdicts } satisfies Partial<Handlers>;
}

export function subjectHandlers({ node }: Pick<HttpDeps, 'node'>) {
  async function eraseSubject({ params, caller }: ApiRequest<undefined>) {
    const hash = parameters.readSubjectHash(params.hash ?? '');
    if (!hash.ok) return refusalReply(hash);
    const outcome = await node.group.erase(caller, Buffer.from(hash.value, 'hex'));
    if (!outcome.ok) return refusalReply(outcome);
    const { status, reason, eventsErased, erasedAt, receipt } = outcome.value;
    if (status === 'pending' && reason !== null) {
      return {
        status: 202,
        body: { subject_hash: hash.value, status, receipt, reason } satisfies bodies.PendingErasureBody,
      };
    }
    return ok({
      subject_hash: hash.value,
      events_erased: eventsErased,
      erased_at: timeText(erasedAt),
      receipt,
    } satisfies bodies.ErasureBody);
  }

  async function openDispute({ params, body, caller }: ApiRequest<DisputeBody>) {
    const hash = parameters.readSubjectHash(params.hash ?? '');
    if (!hash.ok) return refusalReply(hash);
    const outcome = await node.group.dispute(caller, Buffer.from(hash.value, 'hex'), body.text, body.peer_id);
    if (!outcome.ok) return refusalReply(outcome);
    const { id, openedAt } = outcome.value;
    const opened = { dispute_id: id, subject_hash: hash.value, status: 'open', opened_at: timeText(openedAt) } as const;
    return { status: 201, body: opened satisfies bodies.OpenedDisputeBody };
  }

  function listErasedEvents({ query, caller }: ApiRequest<undefined>) {
    const page = parameters.readPage(query, 'erased');
    if (!page.ok) return refusalReply(page);
    // With authentication off no peer acts, so there are no own events.
    if (caller === null) return ok({ total: 0, data: [], next_cursor: null } satisfies bodies.ErasedEventsBody);
    const { total, events, next } = node.group.ownErasures(caller, page.value.from, page.value.limit);
    return ok({
      total,
      data: events.map(({ receivedAt, erasedAt }) => ({
        status: 'subject_erased' as const,
        received_at: timeText(receivedAt),
        erased_at: timeText(erasedAt - (erasedAt % HOUR_MS)),
      })),
      next_cursor: next === null ? null : parameters.encodeCursor('erased', next),
    } satisfies bodies.ErasedEventsBody);
  }

  async function listAudit({ query, caller, remote }: ApiRequest<undefined>) {
    const page = parameters.readPage(query, 'audit');
    if (!page.ok) return refusalReply(page);
    const outcome = await node.group.audit(page.value.from, page.value.limit, holderOf(caller, remote));
    if (!outcome.ok) return refusalReply(outcome);
    const { entries, nextAfter } = outcome.value;
    return ok({
      data: entries.map(({ seq, at, action, actor, target, prevHash, hash }) => ({
        seq,
        at: timeText(at),
        action,
        actor,
        target,
        prev_hash: prevHash,
        hash,
      })),
      next_cursor: nextAfter === null ? null : parameters.encodeCursor('audit', nextAfter),
    } satisfies bodies.AuditPageBody);
  }

  return { eraseSubject, openDispute, listErasedEvents, listAudit } satisfies Partial<Handlers>;
}

/**
 * Handles reads about players: scores, verdicts and events. All except the listing of events read memory synchronously.
 */

import type { PlayerEventsBody } from '../../contract/response-bodies.js';
import { keyColumns } from '../../core/tables/event-columns.js';
import { granted, type Outcome, refused } from '../../errors.js';
import type { TrustView } from '../../group/api.js';
import { limits } from '../../limits.js';
import { explanationBody, storedEventBody, summaryRowBody, timeText, verdictBody } from '../bodies/bodies.js';
import { explainedScoreJson, scoreJson, scoresJson } from '../bodies/score-json.js';
import { ScoreTag } from '../bodies/score-tag.js';
import type { HttpDeps } from '../deps.js';
import { encodePlaces } from '../request/cursor.js';
import { rawIdRefusal } from '../request/raw-ids.js';
import { ok, okJson, refusalReply } from '../request/reply.js';
import type { ApiReply, ApiRequest, Handlers } from '../request/request.js';
import { readExplain, readIds, readLimit, readPlaces, readPlayerId } from '../request/request-parameters.js';

type PlayerHandlers = Pick<Handlers, 'getTrustScore' | 'getTrustScores' | 'getVerdict' | 'listPlayerEvents'>;

export function playerHandlers({ node, pseudonyms }: Pick<HttpDeps, 'node' | 'pseudonyms'>): PlayerHandlers {
  /** Keys of one match, reused between matches. */
  const players = keyColumns(limits.matchIdsMax);
  const refusal = rawIdRefusal(node.identity);

  function subjectOf(playerId: string): Outcome<Uint8Array> {
    const id = readPlayerId(playerId);
    if (!id.ok) return id;
    const subject = pseudonyms.of(id.value);
    return subject === null ? refusal : granted(subject);
  }

  function trustOf(playerId: string): Outcome<{ readonly subject: Uint8Array; readonly view: TrustView }> {
    const subject = subjectOf(playerId);
    if (!subject.ok) return subject;
    const view = node.group.trust(subject.value);
    return view === undefined ? refused('player_not_found') : granted({ subject: subject.value, view });
  }

  function getTrustScore({ params, query }: ApiRequest<undefined>): ApiReply {
    const playerId = params.id ?? '';
    const explain = readExplain(query);
    if (!explain.ok) return refusalReply(explain);
    const trust = trustOf(playerId);
    if (!trust.ok) return refusalReply(trust);
    const { view, subject } = trust.value;
    const explanation = explain.value ? node.group.explain(subject) : undefined;
    if (explanation !== undefined) {
      return okJson(explainedScoreJson(playerId, view, explanationBody(view.verdict, explanation)));
    }
    const tag = new ScoreTag();
    return okJson(scoreJson(playerId, view, tag), tag);
  }

  function getVerdict({ params }: ApiRequest<undefined>): ApiReply {
    const playerId = params.id ?? '';
    const trust = trustOf(playerId);
    return trust.ok ? ok(verdictBody(playerId, trust.value.view)) : refusalReply(trust);
  }

  function getTrustScores({ query }: ApiRequest<undefined>): ApiReply {
    const ids = readIds(query);
    if (!ids.ok) return refusalReply(ids);
    if (!pseudonyms.writeAll(ids.value.texts, players.keys)) return refusalReply(refusal);
    players.count = ids.value.texts.count;
    const tag = new ScoreTag();
    return okJson(scoresJson(ids.value, node.group.trusts(players), tag), tag);
  }

  async function listPlayerEvents({ params, query, caller }: ApiRequest<undefined>): Promise<ApiReply> {
    const playerId = params.id ?? '';
    const limit = readLimit(query);
    if (!limit.ok) return refusalReply(limit);
    const from = readPlaces(query);
    if (!from.ok) return refusalReply(from);
    const subject = subjectOf(playerId);
    if (!subject.ok) return refusalReply(subject);
    const events = await node.group.playerEvents(subject.value, caller, limit.value, from.value);
    if (!events.ok) return refusalReply(events);
    const { total, summarised, summary, own, next, erasureRefused: refusal } = events.value;
    return ok({
      player_id: playerId,
      total,
      summarised,
      summary: summary.map(summaryRowBody),
      data:
        caller === null
          ? []
          : own.map((event) => storedEventBody(caller.peerId, playerId, event, { receivedAt: event.receivedAt })),
      ...(refusal === undefined
        ? {}
        : { erasure_refused: { refused_at: timeText(refusal.at), reason: refusal.reason } }),
      next_cursor: next === null ? null : encodePlaces(next),
    } satisfies PlayerEventsBody);
  }

  return { getTrustScore, getTrustScores, getVerdict, listPlayerEvents };
}

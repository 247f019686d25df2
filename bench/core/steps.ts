/**
 * Measures each step of a durable event, of a score read and of a match by itself: the time budget of the hot requests,
 * in nanoseconds.
 */
import { randomBytes } from 'node:crypto';
import { type EventBody, eventSchema } from '../../src/contract/request-bodies.js';
import { routes } from '../../src/contract/routes.js';
import { TAG_WORDS } from '../../src/core/columns/packed-keys.js';
import { type AsOf, asOfTime } from '../../src/core/evidence/decay.js';
import { Pseudonyms, pseudonymise } from '../../src/core/hashing/pseudonym.js';
import { BatchWriter, chainStart, NONCE_BYTES } from '../../src/core/records/batch.js';
import { trustOf } from '../../src/core/scoring/score.js';
import type { GroupState } from '../../src/core/state.js';
import { keyColumns, keyOf } from '../../src/core/tables/event-columns.js';
import { storedEventBody, timeText } from '../../src/http/bodies/bodies.js';
import { ScoreTag, scoreJson, scoresJson } from '../../src/http/bodies/score-json.js';
import { HeadParser } from '../../src/http/fast-path/head-parser.js';
import { RequestTally } from '../../src/http/metrics/metrics.js';
import { exchangeOf } from '../../src/http/request/answering.js';
import { parseJson } from '../../src/http/request/body.js';
import { okJson, replyText, wireReply } from '../../src/http/request/reply.js';
import { readIds } from '../../src/http/request/request-parameters.js';
import { acquireFolder } from '../../src/store/ownership/owner.js';
import { parseUtcDateTime } from '../../src/validation/formats.js';
import { validatorOf } from '../../src/validation/validator.js';
import { eventId, eventKind, matchPlayers, mix, playerId, scoreKind } from '../load/requests.js';
import type { OnProgress } from '../progress.js';
import { decideEvent } from './decide-event.js';
import { benchSalt, benchTime, emptyGroup } from './empty-group.js';
import { credentials, type Population } from './population.js';

export interface StepsTask extends Population {
  readonly batch: number;
  readonly folder: string;
}

interface StepCost {
  readonly name: string;
  readonly ns: number;
}

const events = 100_000;
const turns = 5;

/** Returns the minimum of several rounds, because other work of the machine can only add time. */
function cost(name: string, count: number, once: (i: number) => unknown): StepCost {
  let least = Number.POSITIVE_INFINITY;
  for (let turn = 0; turn < turns; turn++) {
    const startedMs = performance.now();
    for (let i = 0; i < count; i++) sink[0] = once(turn * count + i);
    least = Math.min(least, performance.now() - startedMs);
  }
  return { name, ns: (least * 1e6) / count };
}

/** Keeps the results reachable, so that V8 does not optimise the step away. */
const sink: unknown[] = [];

export async function measureSteps(task: StepsTask, onProgress: OnProgress): Promise<StepCost[]> {
  const site = { seed: task.seed, players: task.players, peers: credentials(task) };
  const event = eventKind(site);
  const requests = Array.from({ length: 1000 }, (_, i) => Buffer.from(event.request(i, 0)));
  const texts = requests.map((request) => request.toString('latin1'));
  const heads = new HeadParser();
  const raw = texts.map((text) => text.slice(heads.read(text, 0)!.end));
  const validate = validatorOf(eventSchema);
  const bodies = raw.map((text) => {
    const parsed = parseJson(text);
    if (!parsed.ok) throw new Error(parsed.code);
    return parsed.value as EventBody;
  });
  const at = <T>(list: readonly T[], i: number): T => list[i % list.length]!;
  const state = emptyGroup(task);
  const peerId = state.peers.at(0).peerId;
  const submission = (i: number) => ({
    schemaVersion: '1.0.0',
    eventId: `step-${i}`,
    eventType: 'report_cheating' as const,
    peerId,
    subject: keys[i % keys.length]!,
    gameId: bodies[0]!.game_id,
    severity: 0.5,
    timestamp: benchTime,
  });
  const subjectOf = (i: number) => pseudonymise(playerId(i), benchSalt, 'privacy-first')!;
  const subjects = Array.from({ length: task.players }, (_, i) => subjectOf(i));
  const keys = subjects.map(keyOf);
  const decide = (i: number) => {
    const decided = decideEvent(state, 0, submission(i), benchTime);
    if (!decided.ok) throw new Error(decided.code);
    return decided.value;
  };
  const decided = Array.from({ length: task.batch }, (_, i) => decide(1e9 + i));
  onProgress(1, 4);
  const exchange = { requestId: 'x', problem: false, keySent: true, ifNoneMatch: undefined };
  const date = 'Thu, 01 Jan 2026 00:00:00 GMT';
  const reply = (json: string, status = 200) =>
    replyText(wireReply(routes.submitEvent, { ...okJson(json), status }, exchange), date, '');
  const eventText = JSON.stringify(storedEventBody(peerId, playerId(1), submission(0), { receivedAt: benchTime }));
  const tally = new RequestTally();
  const log = await logCost(task, decided);
  onProgress(2, 4);
  const turnIds = Array.from({ length: task.batch }, (_, i) => eventId(task.seed, i));
  const turnTags = new Uint16Array(task.batch * TAG_WORDS);
  const tags = cost('id tags', Math.ceil(events / task.batch), () => state.idTags.writeAll(turnIds, turnTags));
  const write = [
    cost('bytes to text', events, (i) => at(requests, i).toString('latin1')),
    cost('head', events, (i) => heads.read(at(texts, i), 0)),
    cost('parse', events, (i) => parseJson(at(raw, i))),
    cost('validate', events, (i) => validate(at(bodies, i))),
    cost('date', events, (i) => parseUtcDateTime(i % 2 === 0 ? '2026-01-02T03:04:05.678Z' : '2026-01-02T03:04:05Z')),
    cost('subject', events, subjectOf),
    cost('id tag', events, (i) => state.idTags.of(`step-${i}`)),
    { name: `id tag, ${task.batch} at a time`, ns: tags.ns / task.batch },
    cost('decide and apply, tag included', events, (i) => state.apply(decide(i), benchTime)),
    ...log,
    cost('body of the answer', events, (i) =>
      JSON.stringify(storedEventBody(peerId, 'p', submission(i), { receivedAt: benchTime + i })),
    ),
    cost('answer around the body', events, () => reply(eventText, 201)),
    cost('request id', events, () => exchangeOf({})),
    cost('tally', events, (i) => tally.note('/api/v1/events', 'POST', 201, '', i % 10)),
  ];
  onProgress(3, 4);
  const asOf = asOfTime(state, benchTime);
  const view = trustOf(state, 0, asOf);
  const scoreRequests = Array.from({ length: 1000 }, (_, i) => scoreKind(site).request(i, 0));
  const scoreText = scoreJson(playerId(1), view, new ScoreTag());
  const read = [
    cost('head', events, (i) => heads.read(at(scoreRequests, i), 0)),
    cost('subject', events, subjectOf),
    cost('look-up', events, (i) => state.subjects.find(subjects[mix(task.seed, i) % subjects.length]!)),
    cost('score', events, (i) => trustOf(state, mix(task.seed, i) % state.subjects.rows, asOf)),
    cost('body and tag of the answer', events, () => {
      const tag = new ScoreTag();
      return scoreJson('76561190000000001', view, tag) + tag.text;
    }),
    cost('time as text', events, (i) => timeText(benchTime + i)),
    cost('answer around the body', events, () => reply(scoreText)),
  ];
  const named = (request: string, steps: readonly StepCost[]): StepCost[] =>
    steps.map(({ name, ns }) => ({ name: `${request}: ${name}`, ns }));
  const matches = matchCost(task, state, asOf);
  return [...named('event', write), ...named('score read', read), ...named('match of 50', matches)];
}

/** Measures the steps of a match that a single read lacks or does in another form. */
function matchCost({ players, seed }: StepsTask, state: GroupState, asOf: AsOf): StepCost[] {
  const matches = 1000;
  const pseudonyms = new Pseudonyms(benchSalt, 'privacy-first');
  const queries = Array.from({ length: matches }, (_, i) => {
    const ids = Array.from({ length: matchPlayers }, (_, k) => playerId(mix(seed, i * matchPlayers + k) % players));
    return `ids=${ids.join()}`;
  });
  // Copy the ids, because they are valid only until the next query is read.
  const idsOf = (i: number) => {
    const ids = readIds(queries[i % matches]!);
    if (!ids.ok) throw new Error(ids.code);
    return ids.value;
  };
  const columns = queries.map((_, i) => {
    const one = { ...keyColumns(matchPlayers), count: matchPlayers };
    pseudonyms.writeAll(idsOf(i).texts, one.keys);
    return one;
  });
  const trusts = columns.slice(0, 10).map((one) => {
    state.subjects.findAll(one);
    return Array.from(one.rows, (row) => trustOf(state, row, asOf));
  });
  const ids = idsOf(0);
  return [
    cost('ids', matches, idsOf),
    cost('subjects', matches, () => pseudonyms.writeAll(ids.texts, columns[0]!.keys)),
    cost('look-ups', matches, (i) => state.subjects.findAll(columns[i % matches]!)),
    cost('body and tag of the answer', matches, (i) => {
      const tag = new ScoreTag();
      return scoresJson(ids, trusts[i % trusts.length]!, tag) + tag.text;
    }),
  ];
}

async function logCost(
  { batch, folder }: StepsTask,
  decided: Parameters<BatchWriter['add']>[0][],
): Promise<StepCost[]> {
  const nonce = randomBytes(NONCE_BYTES);
  const encode = cost('encode', Math.ceil(events / batch), () => filled(decided));
  const sealing = cost('seal: chain and CRC', Math.ceil(events / batch), () => {
    return filled(decided).seal(1, benchTime, nonce, chainStart);
  });
  const writer = await acquireFolder(folder);
  try {
    const commits = 200;
    let usedUs = 0;
    let seq = 1;
    for (let i = 0; i < commits; i++) {
      const { bytes } = filled(decided).seal(seq, benchTime, nonce, chainStart);
      const before = process.cpuUsage();
      await writer.append({ firstSeq: seq, bytes }, []);
      const { user, system } = process.cpuUsage(before);
      usedUs += user + system;
      seq += batch;
    }
    return [
      { name: encode.name, ns: encode.ns / batch },
      { name: sealing.name, ns: (sealing.ns - encode.ns) / batch },
      { name: `LMDB, processor time, ${batch} a commit`, ns: (usedUs * 1000) / commits / batch },
    ];
  } finally {
    await writer.close();
  }
}

function filled(decided: Parameters<BatchWriter['add']>[0][]): BatchWriter {
  const writer = new BatchWriter();
  for (const record of decided) writer.add(record);
  return writer;
}

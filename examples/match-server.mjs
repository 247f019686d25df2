/**
 * A small match-making server: reads the players' trust at match start, reports what happened at its end.
 *
 *     TRUST_URL=http://127.0.0.1:8080 TRUST_PEER_ID=… TRUST_API_KEY=… TRUST_GROUP_SALT=… node match-server.mjs
 *
 * TRUST_URL may name several nodes of one cluster, separated by commas; the first is preferred.
 *
 *     curl -s localhost:4000/matches -d '{"players": ["player-1", "player-2"]}'
 *     curl -s localhost:4000/matches/MATCH_ID/end -d '{"reports": [{"player": "player-2", "kind": "report_cheating", "severity": 0.7}]}'
 *
 * It begins in the shadow: it says whom it would put under supervision, and does nothing about it. TRUST_MODE=enforce
 * acts.
 */
import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import { env } from 'node:process';
import { EventSpool, TrustClient, TrustError, TrustPolicy } from 'peer-trust-federation/client';

const gameId = env.TRUST_GAME ?? 'arena';

const client = new TrustClient({
  url: (env.TRUST_URL ?? 'http://127.0.0.1:8080').split(','),
  peerId: required('TRUST_PEER_ID'),
  apiKey: required('TRUST_API_KEY'),
  groupSalt: required('TRUST_GROUP_SALT'),
});

// Keeps the cache current, so that a match start needs no call. While there is no stream, it takes one call. A wrong
// key, a suspended peer or a wrong salt is told once; matches go on with what the node says without a key, or with
// neutral values.
client.follow({
  onState: ({ phase, players, node, lastError }) => {
    if (phase === 'refused') console.error(`trust stream: refused, ${lastError?.code}: ${lastError?.message}`);
    else console.error(`trust stream: ${phase}, ${players} players, node ${node + 1}`);
  },
});

let isRefused = false;

// Reports survive this process and the node's absence.
const spool = await EventSpool.open({
  folder: env.SPOOL_DIR ?? './trust-spool',
  to: client,
  onProgress: ({ phase, pending, lastError }) => {
    if (phase === 'refused' && !isRefused) {
      console.error(`trust spool: refused, ${pending} events wait, ${lastError?.code}: ${lastError?.message}`);
    }
    // Between two attempts the phase is "delivering".
    if (phase === 'refused' || phase === 'idle') isRefused = phase === 'refused';
  },
  onSetAside: ({ event, code }) => console.error(`event ${event.event_id} will never be taken: ${code}`),
});
for (const { file, bytes } of spool.cuts)
  console.error(`trust spool: ${bytes} bytes at the end of ${file} were no whole events`);

/** @type {TrustPolicy<'open' | 'supervised'>} */
const policy = new TrustPolicy({
  mode: env.TRUST_MODE === 'enforce' ? 'enforce' : 'shadow',
  pass: 'open',
  rule: ({ verdict, confidence }) => (verdict === 'untrusted' && confidence >= 0.4 ? 'supervised' : 'open'),
});

/** The players of the matches that run. */
const matches = new Map();

/** @param {unknown} body */
async function startMatch(body) {
  const players = listOf(body, 'players').filter((one) => typeof one === 'string');
  const trusts = await client.scores(players);
  const matchId = randomUUID();
  matches.set(matchId, new Set(players));
  return {
    match_id: matchId,
    players: trusts.map((trust) => {
      const { action, would } = policy.decide(trust);
      return { player: trust.playerId, lobby: action, would, verdict: trust.verdict, source: trust.source };
    }),
  };
}

/** @param {string} matchId @param {unknown} body */
async function endMatch(matchId, body) {
  const players = matches.get(matchId);
  if (players === undefined) throw new NotFound('no such match');
  const accepted = [];
  for (const { player, kind, severity } of listOf(body, 'reports')) {
    if (!players.has(player)) continue;
    const number = [...players].indexOf(player);
    // The id follows from what happened: the same report sent twice counts once.
    const eventId = `${matchId}:${number}:${kind}`;
    accepted.push(await spool.add({ eventType: kind, playerId: player, gameId, severity, eventId }));
  }
  matches.delete(matchId);
  return { reported: accepted.length };
}

const server = createServer((request, response) => {
  answer(request).then(
    (body) => response.setHeader('Content-Type', 'application/json').end(`${JSON.stringify(body)}\n`),
    (error) => {
      response.statusCode = statusOf(error);
      response.end(`${JSON.stringify({ error: error.message })}\n`);
    },
  );
});

class NotFound extends Error {}

/** @param {unknown} error */
function statusOf(error) {
  if (error instanceof NotFound) return 404;
  return error instanceof TrustError || error instanceof SyntaxError ? 400 : 500;
}

/** @param {import('node:http').IncomingMessage} request */
async function answer(request) {
  let text = '';
  for await (const chunk of request.setEncoding('utf8')) text += chunk;
  const body = text === '' ? {} : JSON.parse(text);
  const [, what, matchId, action] = (request.url ?? '').split('/');
  if (request.method === 'POST' && what === 'matches' && matchId === undefined) return startMatch(body);
  if (request.method === 'POST' && what === 'matches' && matchId && action === 'end') return endMatch(matchId, body);
  if (request.method === 'GET' && what === 'status') return { policy: policy.tally, spool: spool.progress };
  throw new NotFound('no such route');
}

/** @param {any} body @param {string} name @returns {any[]} */
function listOf(body, name) {
  if (!Array.isArray(body?.[name])) throw new SyntaxError(`the body must hold a list "${name}"`);
  return body[name];
}

/** @param {string} name */
function required(name) {
  const value = env[name];
  if (value) return value;
  console.error(`${name} must be set`);
  return process.exit(2);
}

async function stop() {
  server.close();
  await spool.close();
  await client.close();
}
process.once('SIGTERM', stop);
process.once('SIGINT', stop);

server.listen(Number(env.PORT ?? 4000), '127.0.0.1', () => {
  const address = server.address();
  console.log(`match server on http://127.0.0.1:${typeof address === 'object' ? address?.port : address}`);
});

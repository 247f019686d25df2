/** Bodies that nodes take and answer, at least one for every success of the table of routes and for every `details`. */
import type { BodyOf, OperationId } from '../../src/contract/routes.js';
import { routes } from '../../src/contract/routes.js';
import { type Answer, type Ask, ask } from '../http/exchange.js';
import { type FaceOptions, startFace } from '../http/face.js';
import { newPlayer, type PeerClient, registerPeer } from '../http/peer-client.js';
import { startTestNode } from '../support/node.js';

type WithBody = { [Id in OperationId]: BodyOf<Id> extends undefined ? never : Id }[OperationId];

/** A value for every route that has a request body. */
export type PerBody<T> = Readonly<Record<WithBody, T> & Partial<Record<OperationId, T>>>;

export interface TakenBody {
  readonly id: OperationId;
  readonly body: unknown;
}

export interface AnsweredBody extends TakenBody {
  readonly status: number;
  readonly contentType: string;
}

/** Calls a node and keeps what was sent and answered. */
class Bodies {
  readonly taken: TakenBody[] = [];
  readonly answered: AnsweredBody[] = [];

  takes(id: OperationId, body: unknown): void {
    this.taken.push({ id, body });
  }

  async asks(id: OperationId, url: string, path: string, how: Ask = {}): Promise<Answer> {
    const answer = await ask(url, path, how);
    const contentType = answer.headers['content-type']?.split(';')[0] ?? '';
    this.answered.push({ id, status: answer.status, contentType, body: answer.body });
    return answer;
  }
}

export async function everyBody(): Promise<Pick<Bodies, 'taken' | 'answered'>> {
  const bodies = new Bodies();
  await askNode(bodies);
  await askOperatorMode(bodies);
  await askTroubled(bodies);
  return bodies;
}

async function askNode(bodies: Bodies): Promise<void> {
  await using node = await startTestNode();
  const { url } = node;
  const peer = await registerPeer(url);
  const other = await registerPeer(url, 'Other');
  const registration = { peer_name: 'Third', game_ids: ['arena'], contact_email: 'ops@example.com' };
  bodies.takes('registerPeer', registration);
  await bodies.asks('registerPeer', url, '/api/v1/peers/register', { json: registration });
  await bodies.asks('registerPeer', url, '/api/v1/peers/register', { json: { peer_name: ' a', game_ids: 'a, b' } });
  await askEvents(bodies, peer, other);
  const { key } = peer;
  const player = newPlayer();
  await peer.submit({ player_id: player });
  const base = `/api/v1/players/${player}`;
  const bearer = { headers: { Authorization: 'Bearer x' } };
  const asked: readonly (readonly [id: OperationId, path?: string, how?: Ask])[] = [
    ['getIndex'],
    ['getIndex', '/', { headers: { Accept: 'text/html' } }],
    ['getHealth'],
    ['getReadiness'],
    ['getOpenApi'],
    ['getOpenApi30'],
    ['listPeers', '/api/v1/peers?limit=1'],
    ['listPeers', '/api/v1/peers', { key }],
    ['listAudit', '/api/v1/audit', bearer],
    ['listAudit', '/api/v1/audit', { key }],
    ['listAudit'],
    ['getTrustScore', `${base}/trust-score`],
    ['getTrustScore', `${base}/trust-score?explain=true`],
    ['getTrustScore', '/api/v1/players/a%00/trust-score'],
    ['getTrustScore', '/api/v1/players/nobody/trust-score'],
    ['getVerdict', `${base}/verdict`],
    ['listPlayerEvents', `${base}/events`, { key }],
    ['getTrustScores', `/api/v1/trust-scores?ids=${player},nobody`],
    ['getTrustScores', '/api/v1/trust-scores', { headers: { Accept: 'application/problem+json' } }],
  ];
  for (const [id, path = routes[id].path, how] of asked) await bodies.asks(id, url, path, how);
  const subject = await reported(peer);
  const disputed = `/api/v1/subjects/${subject}/disputes`;
  const dispute = { text: 'not so', peer_id: peer.peerId };
  bodies.takes('openDispute', dispute);
  await bodies.asks('openDispute', url, disputed, { key, json: dispute });
  await bodies.asks('openDispute', url, disputed, { key, json: dispute });
  await bodies.asks('openDispute', url, disputed, { key, json: { text: '' } });
  await bodies.asks('listPlayerEvents', url, `/api/v1/players/${subject}/events`, { key });
  await bodies.asks('eraseSubject', url, `/api/v1/subjects/${subject}`, { method: 'DELETE', key });
}

async function askEvents(bodies: Bodies, peer: PeerClient, other: PeerClient): Promise<void> {
  const { url, key } = peer;
  const event = { ...peer.event({ event_id: 'mine' }), signature: { any: ['value', null] } };
  bodies.takes('submitEvent', event);
  bodies.takes('submitEvent', peer.event());
  bodies.takes('submitEvent', peer.event({ schema_version: '1.1.0', origin: 'list', reference: 'ticket' }));
  const path = '/api/v1/events';
  await bodies.asks('submitEvent', url, path, { key, json: event });
  await bodies.asks('submitEvent', url, path, { key, json: event });
  await bodies.asks('submitEvent', url, path, { key: other.key, json: { ...event, peer_id: other.peerId } });
  await bodies.asks('submitEvent', url, path, { key, json: { severity: 2, timestamp: 1, unknown: 1 } });
  const headers = { Accept: 'application/problem+json' };
  await bodies.asks('submitEvent', url, path, { key, json: { severity: 2 }, headers });
  const batch = { events: [peer.event(), event] };
  bodies.takes('submitEvents', batch);
  const sent = { events: [...batch.events, {}, null, peer.event({ game_id: 'unknown' })] };
  await bodies.asks('submitEvents', url, `${path}/batch`, { key, json: sent });
  await bodies.asks('submitEvents', url, `${path}/batch`, { key, json: [] });
  await bodies.asks('withdrawEvent', url, `${path}/mine`, { method: 'DELETE', key });
  await bodies.asks('withdrawEvent', url, `${path}/%00`, { method: 'DELETE', key });
  await bodies.asks('listErasedEvents', url, `${path}/erased`, { key });
  await bodies.asks('listErasedEvents', url, `${path}/erased?limit=0`, { key });
}

/** The subject hash of a player with an event. */
async function reported(peer: PeerClient): Promise<string> {
  const player_id = 'ab'.repeat(32);
  await peer.submit({ player_id });
  return player_id;
}

/** An erasure that waits for the operator. */
async function askOperatorMode(bodies: Bodies): Promise<void> {
  await using node = await startTestNode({ ERASURE_MODE: 'operator' });
  const peer = await registerPeer(node.url);
  const path = `/api/v1/subjects/${await reported(peer)}`;
  await bodies.asks('eraseSubject', node.url, path, { method: 'DELETE', key: peer.key });
}

/** Answers that only a failing or rate-limiting node gives. */
async function askTroubled(bodies: Bodies): Promise<void> {
  const fail = (): never => {
    throw new Error('inner words');
  };
  const asked: readonly [options: FaceOptions, times: number][] = [
    [{ group: { isReady: false } }, 1],
    [{ group: { peers: fail } }, 1],
    [{ settings: { rateLimitAddressPerS: 1 } }, 3],
  ];
  for (const [options, times] of asked) {
    await using face = await startFace(options);
    for (let i = 0; i < times; i++) await bodies.asks('listPeers', face.url, '/api/v1/peers');
  }
}

/** Handles the registration of a peer and the list of peers. */
import type { RegistrationBody } from '../../contract/request-bodies.js';
import type { PeerListBody, RegisteredPeerBody } from '../../contract/response-bodies.js';
import type { Registration } from '../../group/api.js';
import { peerBody, timeText } from '../bodies/bodies.js';
import type { HttpDeps } from '../deps.js';
import { cutCount } from '../public-counts.js';
import { ok, refusalReply } from '../request/reply.js';
import type { ApiReply, ApiRequest, Handlers } from '../request/request.js';
import { encodeCursor, readPage } from '../request/request-parameters.js';

export function peerHandlers({ node, settings, pseudonyms }: Pick<HttpDeps, 'node' | 'settings' | 'pseudonyms'>) {
  async function registerPeer({ body }: ApiRequest<RegistrationBody>): Promise<ApiReply> {
    const registration: Registration = {
      peerName: body.peer_name,
      gameIds: body.game_ids,
      ...(body.contact_email === undefined ? {} : { contactEmail: body.contact_email }),
      ...(body.public_key === undefined ? {} : { publicKey: body.public_key }),
    };
    // The audit records how a peer registered, never who owned the session.
    const actor = settings.registrationMode === 'session' ? 'session' : 'anonymous';
    const outcome = await node.group.register(registration, actor);
    if (!outcome.ok) return refusalReply(outcome);
    const { peer, apiKey } = outcome.value;
    const registered: RegisteredPeerBody = {
      peer_id: peer.peerId,
      api_key: apiKey,
      status: peer.status,
      peer_name: peer.peerName,
      game_ids: peer.gameIds,
      registered_at: timeText(peer.registeredAt),
    };
    return { status: 201, body: registered };
  }

  function listPeers({ query, caller }: ApiRequest<undefined>): ApiReply {
    const page = readPage(query, 'peers');
    if (!page.ok) return refusalReply(page);
    const { limit, from } = page.value;
    // Read one more than requested, to learn whether there is a next page.
    const { group, identity } = node;
    const peers = group.peers(from, limit + 1);
    const next = peers[limit];
    const counts = group.counts();
    return ok({
      group: {
        group_id: identity.groupId,
        identity_mode: identity.identityMode,
        salt_check: settings.publishSaltCheck ? pseudonyms.saltCheck : null,
        player_id_kinds: identity.playerIdKinds?.slice() ?? null,
        peer_count: cutCount(counts.peers),
        player_count: cutCount(counts.players),
        event_count: cutCount(counts.events),
      },
      data: peers.slice(0, limit).map((peer) => peerBody(peer, caller === null ? null : group.delayedEventCount(peer))),
      next_cursor: next === undefined ? null : encodeCursor('peers', next.index),
    } satisfies PeerListBody);
  }

  return { registerPeer, listPeers } satisfies Partial<Handlers>;
}

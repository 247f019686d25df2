/** The peers of the group, and its set of pre-trusted peers. */
import { peerStatuses } from '../core/vocabulary.js';
import { granted, refused } from '../errors.js';
import type { OperatorApi, PeerSignals, PeerView } from '../group/api.js';
import { HOUR_MS, limits } from '../limits.js';
import { contactEmail, gameIds, peerName, publicKey } from '../validation/identifiers.js';
import { shape } from '../validation/schema.js';
import { parseIdle, parseNames, parseOverlap, parsePublicKey } from './arguments.js';
import { by, count, exampleId, isoTime, mapped, note, operation, page, parsed, peerId, typed } from './operation.js';
import { facts, plural, printable, table } from './text-table.js';

const examplePublicKey = 'JrQLj5P_89iXES9-vFgrIy29clF9CC_oPPsw3c5D0bs';
const otherExampleId = '7d9e1f3a-2b4c-4d6e-8f01-23456789abcd';
const id = typed('<id>');
const oneLine = (peer: PeerValue): string[] => [peerLine(peer)];

const relations = {
  same: [
    'declare that one operator runs two peers, so that they count as one witness',
    'They count as one witness from the next computation of weights on.',
  ],
  independent: [
    'declare that two peers are independent, so that they never count as one witness',
    'They never count as one witness, from the next computation of weights on.',
  ],
} as const;

export const peerOperations = {
  /** `ptf peers list` is in `operator/cli/operation-commands.ts`, as it shares its remarks with the dashboard. */
  'peers-list': operation({
    request: shape(
      {
        ...page(limits.peersMaxCeiling),
        status: { enum: peerStatuses },
        weight_below: { type: 'number', minimum: 0, maximum: Number.MAX_VALUE },
      },
      ['status', 'weight_below'],
    ),
    dashboard: true,
    answer({ from, limit, status, weight_below: below = Number.POSITIVE_INFINITY }, { group }) {
      // One more than requested, to see whether there is a next page.
      const peers = group.peers(from, limit + 1);
      const data = peers
        .slice(0, limit)
        .filter((peer) => (status === undefined || peer.status === status) && peer.weight < below)
        .map((peer) => listedPeer(group, peer));
      return granted({ data, next_from: peers[limit]?.index ?? null });
    },
  }),

  'peers-show': operation({
    request: shape({ peer_id: peerId }),
    dashboard: true,
    answer({ peer_id }, { group }) {
      const peer = group.peerById(peer_id);
      if (peer === undefined) return refused('unknown_peer', { text: 'no peer has this id or name' });
      return granted(listedPeer(group, peer));
    },
    ptf: {
      group: 'peers',
      command: 'show',
      text: 'show a peer; with --json everything that the node holds about it',
      given: { peer_id: id },
      examples: [`peers show ${exampleId}`, 'peers show "Arena EU 1"', 'peers show 0c4b'],
      show: peerFacts,
    },
  }),

  'peers-add': operation({
    request: shape({ peer_name: peerName, game_ids: gameIds, contact_email: contactEmail, public_key: publicKey, by }, [
      'contact_email',
      'public_key',
      'by',
    ]),
    dashboard: true,
    async answer(request, { group, by: actor }) {
      const registration = {
        peerName: request.peer_name,
        gameIds: request.game_ids,
        ...(request.contact_email === undefined ? {} : { contactEmail: request.contact_email }),
        ...(request.public_key === undefined ? {} : { publicKey: request.public_key }),
      };
      const outcome = await group.register(registration, actor, true);
      return mapped(outcome, ({ peer, apiKey }) => ({ ...peerValue(peer), api_key: apiKey }));
    },
    ptf: {
      group: 'peers',
      command: 'add',
      text: 'register a peer and show its API key, once',
      given: {
        peer_name: typed('--name <name>', 'display name of the peer'),
        game_ids: parsed('--games <ids>', 'games it may submit events for, with commas between', {
          parse: parseNames,
        }),
        contact_email: typed('--email <address>', 'address of its operator; never public'),
        public_key: parsed('--public-key <key>', 'Ed25519 key with which it signs its writes, 32 bytes in base64url', {
          parse: parsePublicKey,
        }),
      },
      examples: ['peers add --name "Arena EU 1" --games chess,go --email ops@example.com'],
      show: (value) => [peerLine(value), ...keyLines(value.api_key)],
    },
  }),

  'peers-status': operation({
    request: shape({ peer_id: peerId, status: { enum: peerStatuses }, by }, ['by']),
    dashboard: true,
    answer: async (request, { group, by: actor }) =>
      mapped(await group.changePeer('peer_status', request.peer_id, { status: request.status }, actor), peerValue),
    ptf: [
      {
        group: 'peers',
        command: 'suspend',
        text: 'refuse all submissions of the peer until it is reinstated',
        given: { peer_id: id, status: { fixed: 'suspended' } },
        examples: [`peers suspend ${exampleId} --by alice`],
        show: oneLine,
      },
      {
        group: 'peers',
        command: 'reinstate',
        text: 'make a suspended peer active again',
        given: { peer_id: id, status: { fixed: 'active' } },
        examples: [`peers reinstate ${exampleId}`],
        show: oneLine,
      },
      {
        group: 'peers',
        command: 'revoke',
        text: 'end a peer for good: it can never act again, and its evidence has no weight',
        given: { peer_id: id, status: { fixed: 'revoked' } },
        confirm: async (request, peerOf) => {
          const { peer_id, peer_name, event_count, signals } = await peerOf(request.peer_id);
          const players = signals === null ? '' : ` about ${plural(signals.players, 'player')}`;
          return `Revoke ${printable(peer_name)} (${peer_id}), with ${plural(event_count, 'event')}${players}? This is final, and removes all weight from its evidence.`;
        },
        examples: [`peers revoke ${exampleId} --yes`],
        show: oneLine,
      },
    ],
  }),

  'peers-rotate-key': operation({
    request: shape({ peer_id: peerId, overlap_ms: count(0, limits.keyOverlapMsMax), by }, ['by']),
    dashboard: true,
    async answer({ peer_id, overlap_ms }, { group, by: actor }) {
      const outcome = await group.rotateKey(peer_id, overlap_ms, actor);
      return mapped(outcome, ({ peer, apiKey }) => ({ ...peerValue(peer), api_key: apiKey, overlap_ms }));
    },
    ptf: {
      group: 'peers',
      command: 'rotate-key',
      text: 'give a peer a new API key, shown once',
      given: {
        peer_id: id,
        overlap_ms: parsed('--overlap <time>', 'how long the old key still works: 30s, 15m, 1h; at most 24h', {
          parse: parseOverlap,
          initial: { value: 0, text: 'the old key stops working at once' },
        }),
      },
      examples: [`peers rotate-key ${exampleId}`, `peers rotate-key ${exampleId} --overlap 1h`],
      show: (value) => [
        peerLine(value),
        value.overlap_ms === 0
          ? 'The old key no longer works.'
          : `The old key works for ${value.overlap_ms / 1000} s more.`,
        ...keyLines(value.api_key),
      ],
    },
  }),

  'peers-set-key': operation({
    request: shape({ peer_id: peerId, public_key: { ...publicKey, type: ['string', 'null'] }, by }, ['by']),
    answer: async (request, { group, by: actor }) =>
      mapped(
        await group.changePeer('public_key', request.peer_id, { publicKey: request.public_key }, actor),
        peerValue,
      ),
    ptf: {
      group: 'peers',
      command: 'set-key',
      text: 'set the Ed25519 public key with which a peer signs its writes, or remove it with --none',
      given: {
        peer_id: id,
        public_key: parsed<string | null>('[public-key]', '', {
          parse: parsePublicKey,
          or: {
            flag: '--none',
            text: 'remove the key: the peer no longer signs',
            value: null,
            problem: 'give a public key, or --none',
          },
        }),
      },
      examples: [`peers set-key ${exampleId} ${examplePublicKey}`, `peers set-key ${exampleId} --none`],
      show: (peer) => [
        peerLine(peer),
        peer.public_key === null
          ? 'The peer has no public key: its writes need no signature, unless the node requires one.'
          : `The peer must sign its writes from now on, with the key ${peer.public_key}`,
      ],
    },
  }),

  'peers-note': operation({
    request: shape({ peer_id: peerId, note: { ...note, type: ['string', 'null'] }, by }, ['by']),
    answer: async (request, { group, by: actor }) =>
      mapped(await group.changePeer('note', request.peer_id, { note: request.note }, actor), peerValue),
    ptf: {
      group: 'peers',
      command: 'note',
      text: 'put a note on a peer, for operators only, or remove it with --none',
      given: {
        peer_id: id,
        note: parsed<string | null>('[text]', `one line, at most ${limits.allowNoteLength} characters`, {
          parse: (text) => text,
          or: { flag: '--none', text: 'remove the note', value: null, problem: 'give a note, or --none' },
        }),
      },
      examples: [`peers note ${exampleId} "asked on Friday why it sends no bans"`, `peers note ${exampleId} --none`],
      show: (peer) => [peerLine(peer), peer.note === null ? 'The peer has no note.' : `Note: ${printable(peer.note)}`],
    },
  }),

  'peers-relate': operation({
    request: shape({ relation: { enum: ['same', 'independent'] }, peer_id: peerId, other_id: peerId, by }, ['by']),
    answer: async ({ relation, peer_id, other_id }, { group, by: actor }) =>
      mapped(await group.relatePeers(relation, peer_id, other_id, actor), () => ({
        relation,
        peers: [peerValue(group.peerById(peer_id)!), peerValue(group.peerById(other_id)!)] as const,
      })),
    ptf: (['same', 'independent'] as const).map((relation) => ({
      group: 'peers' as const,
      command: relation,
      text: relations[relation][0],
      given: { relation: { fixed: relation }, peer_id: id, other_id: typed('<other-id>') },
      examples: [`peers ${relation} ${exampleId} ${otherExampleId} --by alice`],
      show: ({ peers }: { readonly peers: readonly PeerValue[] }) => [...peers.map(peerLine), relations[relation][1]],
    })),
  }),

  'peers-purge': operation({
    request: shape({ idle_ms: count(0, limits.purgeIdleMsMax), by }, ['by']),
    answer: async (request, { group, by: actor }) =>
      mapped(await group.purgePeers(request.idle_ms, actor), (purged) => ({ purged })),
    ptf: {
      group: 'peers',
      command: 'purge',
      text: 'revoke the peers that never sent an event, to free their places',
      given: {
        idle_ms: parsed('--idle <time>', 'only those that registered longer ago than this: 30m, 12h, 1d', {
          parse: parseIdle,
        }),
      },
      confirm: ({ idle_ms }) =>
        `Revoke every peer that never sent an event and registered over ${Number((idle_ms / HOUR_MS).toFixed(2))} h ago? This is final.`,
      examples: ['peers purge --idle 1d', 'peers purge --idle 12h --yes --by alice'],
      show: ({ purged }) => [...purged, `${plural(purged.length, 'peer')} revoked`],
    },
  }),

  'pretrust-list': operation({
    request: shape({}),
    dashboard: true,
    answer: (_, { group }) => granted(preTrustValue(group, group.status().preTrusted)),
    ptf: {
      group: 'pretrust',
      command: 'list',
      text: 'list the pre-trusted peers',
      examples: ['pretrust list'],
      show: preTrustLines,
    },
  }),

  'pretrust-change': operation({
    request: shape({ change: { enum: ['add', 'remove'] }, peer_id: peerId, by }, ['by']),
    dashboard: true,
    answer: async ({ change, peer_id }, { group, by: actor }) =>
      mapped(await group.preTrust(change, peer_id, actor), ({ preTrusted }) => preTrustValue(group, preTrusted)),
    ptf: (['add', 'remove'] as const).map((change) => ({
      group: 'pretrust' as const,
      command: change,
      text:
        change === 'add'
          ? 'add a peer to the set: its weight never falls below a minimum'
          : 'remove a peer from the set',
      given: { change: { fixed: change }, peer_id: id },
      examples: [`pretrust ${change} ${exampleId} --by alice`],
      show: preTrustLines,
    })),
  }),
};

function peerValue(peer: PeerView) {
  return {
    peer_id: peer.peerId,
    peer_name: peer.peerName,
    game_ids: peer.gameIds,
    status: peer.status,
    registered_at: isoTime(peer.registeredAt),
    public_key: peer.publicKey,
    event_count: peer.eventCount,
    last_event_at: peer.lastEventAt === null ? null : isoTime(peer.lastEventAt),
    contact_email: peer.contactEmail,
    note: peer.note,
    pre_trusted: peer.preTrusted,
    weight: peer.weight,
    tau: peer.tau,
    a: peer.a,
    b: peer.b,
    m: peer.m,
    finds: peer.finds,
  };
}
interface PeerValue extends ReturnType<typeof peerValue> {}

function signalsValue({ players, sharedPlayers, discountedWith, oneWitnessWith }: PeerSignals) {
  return {
    players,
    shared_players: sharedPlayers,
    discounted_with: discountedWith.map((other) => ({
      peer_id: other.peerId,
      shared_players: other.sharedPlayers,
      agreement: other.agreement,
    })),
    one_witness_with: oneWitnessWith.map(({ peerId, reason }) => ({ peer_id: peerId, reason })),
  };
}

function listedPeer(group: OperatorApi, peer: PeerView) {
  const [signals, tooOld] = [group.signals(peer), group.tooOld(peer)];
  return {
    ...peerValue(peer),
    shared_erasures: group.sharedErasures(peer),
    too_old: tooOld === undefined ? null : { events: tooOld.events, newest: isoTime(tooOld.newest) },
    signals: signals === undefined ? null : signalsValue(signals),
  };
}
export interface ListedPeerValue extends ReturnType<typeof listedPeer> {}

function preTrustValue(group: Pick<OperatorApi, 'peerById'>, peerIds: readonly string[]) {
  const peers = peerIds.map((one) => group.peerById(one)).filter((peer) => peer !== undefined);
  return {
    pre_trusted: peers.map(({ peerId: peer_id, peerName: peer_name, status }) => ({ peer_id, peer_name, status })),
  };
}

function peerLine(peer: PeerValue): string {
  return printable(`${peer.peer_id}  ${peer.status}  "${peer.peer_name}"  games ${peer.game_ids.join(',')}`);
}

function peerFacts(peer: ListedPeerValue, width: number): string[] {
  const { signals } = peer;
  return facts(width, [
    ['peer', peer.peer_id],
    ['name', peer.peer_name],
    ['status', peer.status],
    ['games', peer.game_ids.join(', ')],
    ['contact', peer.contact_email ?? 'none given'],
    ['note', peer.note ?? 'none'],
    ['registered', peer.registered_at],
    ['events', peer.event_count],
    ['last event', peer.last_event_at === null ? 'none' : `in the hour from ${peer.last_event_at}`],
    ['weight', peer.weight.toFixed(3)],
    ['gate', peer.tau.toFixed(3)],
    ['players', signals === null ? 'not computed yet' : `${signals.players}, ${signals.shared_players} shared`],
    ['pre-trusted', peer.pre_trusted ? 'yes' : 'no'],
    ['public key', peer.public_key ?? 'none'],
    ['shared erasures', peer.shared_erasures],
  ]);
}

/** Never truncated, whatever the width: the key is shown only this once. */
function keyLines(key: string): string[] {
  return [
    '',
    'API KEY, shown only this once and stored nowhere. Store it in the secrets store of the peer now:',
    '',
    key,
    '',
  ];
}

function preTrustLines({ pre_trusted: peers }: ReturnType<typeof preTrustValue>, width: number): string[] {
  if (peers.length === 0) return ['no pre-trusted peers'];
  const rows = peers.map((peer) => [peer.peer_id, peer.status, peer.peer_name]);
  const lines = table(width, rows, ['peer', 'status', 'name'], ['peer', 'status']);
  const most = limits.preTrustedWarnAbove;
  if (rows.length <= most) return lines;
  return [...lines, `More than ${most} pre-trusted peers weaken the protection that pre-trust gives.`];
}

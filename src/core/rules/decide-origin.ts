/** Decides declarations and removals of origins, and assigns the number that holds a peer's events of an origin. */
import { type Granted, granted, type Refusal, refused } from '../../errors.js';
import { limits } from '../../limits.js';
import type { ChangeOrigin } from '../commands.js';
import { audited, type Decision, grant, refuse } from '../decision.js';
import type { Peer } from '../peers/peers.js';
import type { OriginCarried } from '../records/records.js';
import type { GroupState } from '../state.js';

/** A command that changes nothing writes nothing. Codes: unknown_origin (a removal), overloaded. */
export function decideOrigin(state: GroupState, command: ChangeOrigin, now: number): Decision<null> {
  const { change, name, by } = command;
  const known = state.origins.named(name);
  if (change === 'remove') {
    if (known === undefined) return refuse('unknown_origin', { text: `no origin has the name ${name}` });
    if (!known.declared) return grant(null);
    const audit = audited(state, now, { action: 'origin_removed', actor: by, target: name });
    return grant(null, { type: 'origin_removed', origin: known.index, audit });
  }
  if (known?.declared) return grant(null);
  if (known === undefined && (state.origins.list.length >= limits.originsMax || hasNoNumber(state))) {
    return refuse('overloaded', { text: `expected at most ${limits.originsMax} origins, including removed ones` });
  }
  const audit = audited(state, now, { action: 'origin_added', actor: by, target: name });
  const origin = known?.index ?? state.numbers;
  return grant(null, { type: 'origin_declared', origin, name, audit });
}

/** Returns the number that holds an event of a peer. Codes: unknown_origin, overloaded. */
export function numberFor(state: GroupState, peer: Peer, origin: string | undefined): Granted<number> | Refusal {
  if (origin === undefined) return granted(peer.index);
  const declared = state.origins.named(origin);
  if (declared === undefined || !declared.declared) return refused('unknown_origin');
  const carrier = state.origins.carrierOf(peer.index, declared.index);
  if (carrier !== undefined) return granted(carrier.index);
  const isFull = state.origins.carriers.length >= limits.carriersMax || hasNoNumber(state);
  return isFull ? refused('overloaded', { text: 'too many peers carry origins' }) : granted(state.numbers);
}

/** Returns the record that makes a peer a carrier; null if `number` is assigned already. */
export function decideCarrier(state: GroupState, peer: Peer, origin: string, number: number): OriginCarried | null {
  if (number < state.numbers) return null;
  return { type: 'origin_carried', carrier: number, peer: peer.index, origin: state.origins.named(origin)!.index };
}

/** True if there is no number left for another peer, origin or carrier. */
export function hasNoNumber(state: GroupState): boolean {
  return state.numbers >= limits.peersMaxCeiling;
}

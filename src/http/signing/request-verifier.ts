/** Verifies that a write was signed by its peer, apart from the digest (docs/decisions/0230-signed-requests.md). */
import type { Socket } from 'node:net';
import { isWrite, type Route } from '../../contract/routes.js';
import { granted, type Outcome, type Refusal, refused } from '../../errors.js';
import type { PeerView } from '../../group/api.js';
import { limits } from '../../limits.js';
import type { HttpDeps } from '../deps.js';
import { ReplayMemory } from './replay-memory.js';
import { SignatureBatches } from './signature-batches.js';
import * as fields from './signature-fields.js';

/** The check of the body; null if there is nothing to check. */
export type Verified = Outcome<fields.BodyCheck | null>;

const unchecked = granted(null);

export class RequestVerifier {
  readonly #taken = new ReplayMemory();
  readonly #batches: SignatureBatches;
  /** First whole second since 1970 after the start. The replay memory lacks signatures that were accepted earlier. */
  readonly #startedAt: number;

  constructor(private readonly deps: Pick<HttpDeps, 'node' | 'settings' | 'clock' | 'verifySignatures'>) {
    this.#batches = new SignatureBatches(deps.verifySignatures);
    this.#startedAt = Math.ceil(deps.clock.now() / 1000);
  }

  /** Codes: signature_missing, signature_invalid, signature_expired, signature_replayed. */
  check(
    route: Route,
    request: fields.SignedRequest,
    caller: PeerView | null,
    remote: Pick<Socket, 'destroyed'>,
  ): Verified | Promise<Verified> {
    const { requestSigning } = this.deps.settings;
    if (requestSigning === 'off' || caller === null || !isWrite(route)) return unchecked;
    const { publicKey } = caller;
    if (publicKey === null) {
      const text = 'writes must be signed, and no public key of this peer is registered';
      return requestSigning === 'optional' ? unchecked : refused('signature_missing', { text });
    }
    const covers = { body: route.body !== undefined, query: request.query !== '' };
    const read = fields.readSignature(request.headers, covers, this.#now());
    if (!read.ok) return read;
    const signature = read.value;
    const bodyCheck = covers.body ? fields.bodyCheckOf(request.headers['content-digest']) : unchecked;
    if (!bodyCheck.ok) return bodyCheck;
    const known = this.#knownRefusal(signature) ?? this.#restartRefusal(route, signature, caller);
    if (known !== undefined) return known;
    const verify = (base: string) =>
      this.#batches.verify(caller.index, { base, publicKey, signature: signature.bytes }, () => remote.destroyed);
    return verifies(signature, request, verify).then((isValid) => {
      if (!isValid) return refused('signature_invalid');
      if (bodyCheck.value === null) return this.#take(signature) ?? unchecked;
      // A signature is used up only by the body that it signs: otherwise whoever sees the head could spoil the request.
      return granted((chunks) => bodyCheck.value?.(chunks) ?? this.#take(signature));
    });
  }

  #knownRefusal({ bytes, created }: fields.RequestSignature): Refusal | undefined {
    const state = this.#taken.state(bytes, created);
    if (state === 'known') return refused('signature_replayed');
    return state === 'too_old' ? refused('signature_expired') : undefined;
  }

  /** The same request may have been verified meanwhile. */
  #take(signature: fields.RequestSignature): Refusal | undefined {
    const known = this.#knownRefusal(signature);
    if (known === undefined) this.#taken.add(signature.bytes, signature.created, this.#now());
    return known;
  }

  /**
   * A restart clears the replay memory. Repeated events and withdrawals change nothing, but a repeated erasure would
   * remove later reports: one signed before the start is refused if the peer requested one while that signature was
   * valid.
   */
  #restartRefusal({ path }: Route, { created }: fields.RequestSignature, caller: PeerView): Refusal | undefined {
    if (path !== erasurePath || created >= this.#startedAt) return undefined;
    const usableFrom = (created - limits.signatureWindowS) * 1000;
    if (!this.deps.node.group.hasErasedSince(caller, usableFrom)) return undefined;
    const text = 'the node restarted after this erasure was signed; sign the request again';
    return refused('signature_replayed', { text });
  }

  #now(): number {
    return Math.floor(this.deps.clock.now() / 1000);
  }
}

const erasurePath = '/api/v1/subjects/{hash}';

async function verifies(
  signature: fields.RequestSignature,
  request: fields.SignedRequest,
  verify: (base: string) => Promise<boolean>,
): Promise<boolean> {
  const base = fields.signatureBase(signature, request, 'http');
  if (base === undefined) return false;
  if (await verify(base)) return true;
  return fields.namesScheme(signature) && verify(fields.signatureBase(signature, request, 'https')!);
}

/** What the HTTP face is given: it opens nothing of its own but its sockets. */
import type { Duplex } from 'node:stream';
import type { Logger } from 'pino';
import type { Pseudonyms } from '../core/hashing/pseudonym.js';
import type { RegistrationMode, RequestSigning } from '../core/vocabulary.js';
import type { GroupApi } from '../group/api.js';
import type { Clock } from '../group/ports/clock.js';

export interface FaceSettings {
  /** False only for local trials: every endpoint then works without a key. */
  readonly authEnabled: boolean;
  readonly registrationMode: RegistrationMode;
  readonly requestSigning: RequestSigning;
  /** Whether `GET /peers` shows the fingerprint of the salt. */
  readonly publishSaltCheck: boolean;
  /** Verifies `service_session` cookies; needed in `session` mode, unused otherwise. */
  readonly sessionSecret: Uint8Array | null;
  /** Connections at a time; for a further one an idle one is closed, and where none is idle it gets 503. */
  readonly connectionsMax: number;
  /** Whether connections from loopback are a proxy's, which may hold all of them. */
  readonly loopbackIsProxy: boolean;
  /** Requests of one peer, and of one address, per second; 0: no limit. */
  readonly rateLimitPeerPerS: number;
  readonly rateLimitAddressPerS: number;
  /** Registrations of one address per hour; 0: no limit. */
  readonly registrationsPerAddressPerHour: number;
}

/** The ids and names that callers choose. */
export type IdName = 'player_id' | 'event_id' | 'game_id' | 'peer_name';

/** Told of every answer on the public port. Labels are route templates and codes, never ids. */
export interface RequestObserver {
  /**
   * `route`: the template, or `none`; `code`: of the refusal, or empty; `ms`: from the head's arrival to the answer, 0
   * where there is no request that is answered.
   */
  requestAnswered(route: string, method: string, status: number, code: string, ms: number): void;
  /** An id or a name was refused for its characters. */
  idRefused(id: IdName): void;
  /** Readers of the verdict stream from now on. */
  streamReaders(open: number): void;
  /** So many rows went out to one of them. */
  streamSynced(rows: number): void;
  /** One is over; `reason`: as it was told, or `left`. */
  streamEnded(reason: string): void;
}

/** What a session's token says, once its signature holds. */
export interface SessionClaims {
  readonly iss?: string | undefined;
  readonly jti?: string | undefined;
}

export interface FaceDeps {
  readonly group: GroupApi;
  /** Whether a session still counts, that is, was not ended where it was opened. */
  readonly sessionHolds: (claims: SessionClaims) => boolean;
  readonly pseudonyms: Pick<Pseudonyms, 'of' | 'ofAll' | 'writeAll' | 'saltCheck'>;
  readonly settings: FaceSettings;
  readonly version: string;
  readonly log: Logger;
  readonly clock: Clock;
  readonly metrics: RequestObserver;
  /**
   * Takes over a connection that asks for a tunnel to `authority`; false where it does not want it. Absent: there are
   * no tunnels.
   */
  readonly tunnel?: (authority: string, socket: Duplex, head: Buffer) => boolean;
}

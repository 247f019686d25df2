/** The settings and dependencies that the HTTP interface receives. It opens nothing itself except its sockets. */
import type { Duplex } from 'node:stream';
import type { JWTPayload } from 'jose';
import type { Logger } from 'pino';
import type { Pseudonyms } from '../core/hashing/pseudonym.js';
import type { RegistrationMode, RequestSigning } from '../core/vocabulary.js';
import type { GroupNode } from '../group/api.js';
import type { Clock } from '../group/ports/clock.js';
import type { VerifySignatures } from '../group/ports/pool.js';

export interface HttpSettings {
  /** False only for local trials: every endpoint then works without a key. */
  readonly authEnabled: boolean;
  readonly registrationMode: RegistrationMode;
  readonly requestSigning: RequestSigning;
  readonly publishSaltCheck: boolean;
  /** Verifies `service_session` cookies. Required in `session` mode, otherwise unused. */
  readonly sessionSecret: Uint8Array | null;
  readonly connectionsMax: number;
  readonly loopbackIsProxy: boolean;
  /** 0 means no limit, as in the two below. */
  readonly rateLimitPeerPerS: number;
  readonly rateLimitAddressPerS: number;
  readonly registrationsPerAddressPerHour: number;
}

export type IdName = 'player_id' | 'event_id' | 'game_id' | 'peer_name';

/** Receives every answer on the public port. Labels are route templates and codes, never ids. */
export interface RequestObserver {
  /** `route`: the template, or `none`; `code`: of the refusal, or empty; `ms`: from the arrival of the head, or 0. */
  requestAnswered(route: string, method: string, status: number, code: string, ms: number): void;
  idRefused(id: IdName): void;
  streamReaders(open: number): void;
  streamSynced(rows: number): void;
  /** `reason` is the one sent to the reader, or `left`. */
  streamEnded(reason: string): void;
}

export interface HttpDeps {
  readonly node: GroupNode;
  /** False only if this node's dashboard issued the verified token and its session has ended. */
  readonly sessionHolds: (claims: JWTPayload) => boolean;
  readonly pseudonyms: Pick<Pseudonyms, 'of' | 'ofAll' | 'writeAll' | 'saltCheck'>;
  readonly settings: HttpSettings;
  readonly version: string;
  readonly log: Logger;
  readonly clock: Clock;
  readonly metrics: RequestObserver;
  readonly verifySignatures: VerifySignatures;
  /** Takes over a connection that asks for a tunnel; returns false if it refuses. Absent if all tunnels are refused. */
  readonly tunnel?: (authority: string, socket: Duplex, head: Buffer) => boolean;
}

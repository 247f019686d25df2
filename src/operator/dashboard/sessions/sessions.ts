/** The sessions of the dashboard: a signed token in a cookie, and an entry here that makes the token valid. */
import { randomBytes } from 'node:crypto';
import { errors as joseErrors, jwtVerify, SignJWT } from 'jose';
import type { Environment } from '../../../core/vocabulary.js';
import type { Clock } from '../../../group/ports/clock.js';
import { limits } from '../../../limits.js';

/** The cookie that the specification names; registration on the public port accepts it, too. */
export const sessionCookie = 'service_session';

const issuer = 'ptf-dashboard';
const idBytes = 18;

export interface Session {
  readonly id: string;
  /** Name of the operator for the audit log; null if none was given. */
  readonly operator: string | null;
  /** ms since 1970. */
  readonly expiresAt: number;
}

export interface SessionDeps {
  readonly secret: Uint8Array | null;
  readonly environment: Environment;
  readonly clock: Clock;
  /** Hash of the present password; null if none is set. */
  readonly passwordHash: () => string | null;
}

interface Entry extends Session {
  /** Hash of the password with which the session was opened. */
  readonly passwordHash: string;
}

export class Sessions {
  readonly #deps: Omit<SessionDeps, 'secret'>;
  readonly #secret: Uint8Array;
  readonly #audience: string;
  readonly #entries = new Map<string, Entry>();

  constructor({ secret, ...deps }: SessionDeps) {
    this.#secret = secret ?? randomBytes(limits.sessionSecretBytesMin);
    this.#audience = `ptf-${deps.environment}`;
    this.#deps = deps;
  }

  /** `passwordHash`: of the password that the operator knew. Too many sessions: the oldest is dropped. */
  async open(operator: string | null, passwordHash: string): Promise<{ session: Session; token: string }> {
    const now = this.#deps.clock.now();
    const id = randomBytes(idBytes).toString('base64url');
    const entry = { id, operator, expiresAt: now + limits.sessionMs, passwordHash };
    for (const [old, { expiresAt }] of this.#entries) if (expiresAt <= now) this.#entries.delete(old);
    for (const old of this.#entries.keys()) {
      if (this.#entries.size < limits.sessionsMax) break;
      this.#entries.delete(old);
    }
    this.#entries.set(id, entry);
    const token = await new SignJWT()
      .setProtectedHeader({ alg: 'HS256', typ: 'JWT' })
      .setIssuer(issuer)
      .setAudience(this.#audience)
      .setJti(id)
      .setIssuedAt(new Date(now))
      .setExpirationTime(new Date(entry.expiresAt))
      .sign(this.#secret);
    return { session: entry, token };
  }

  /** Returns the session of a token; undefined if the token was not signed here, or its session has ended. */
  async read(token: string | undefined): Promise<Session | undefined> {
    if (token === undefined || token.length > limits.sessionCookieLength) return undefined;
    try {
      const { payload } = await jwtVerify(token, this.#secret, {
        algorithms: ['HS256'],
        audience: this.#audience,
        issuer,
        requiredClaims: ['exp', 'jti'],
        currentDate: new Date(this.#deps.clock.now()),
      });
      return this.#live(payload.jti);
    } catch (error) {
      if (error instanceof joseErrors.JOSEError) return undefined;
      throw error;
    }
  }

  end({ id }: Session): void {
    this.#entries.delete(id);
  }

  /** For a verified token: false only if this dashboard issued it and its session has ended. */
  holds(claims: { readonly iss?: string | undefined; readonly jti?: string | undefined }): boolean {
    return claims.iss !== issuer || this.#live(claims.jti) !== undefined;
  }

  #live(id: string | undefined): Session | undefined {
    const entry = id === undefined ? undefined : this.#entries.get(id);
    if (entry === undefined) return undefined;
    const holds = entry.expiresAt > this.#deps.clock.now() && entry.passwordHash === this.#deps.passwordHash();
    if (!holds) this.#entries.delete(entry.id);
    return holds ? entry : undefined;
  }
}

/**
 * Turns a name and a password into a session. Attempts are counted before they are checked, by address and in total,
 * and checked one after the other, because each takes a core and 64 MiB for a short time.
 */
import { RateLimiterMemory, type RateLimiterRes } from 'rate-limiter-flexible';
import { limits } from '../../../limits.js';
import { isPassword, isPasswordHash } from './password.js';
import type { Session, Sessions } from './sessions.js';

export type SignedIn =
  | { readonly ok: true; readonly session: Session; readonly token: string }
  | { readonly ok: false; readonly why: 'wrong' | 'unset' }
  | { readonly ok: false; readonly why: 'too_many'; readonly retryAfterS: number };

const everybody = 'all';

export class SignInAttempts {
  #byAddress = limiter(limits.signInFailuresPerAddress);
  #all = limiter(limits.signInFailuresTotal);

  /** Returns the seconds to wait if not allowed; not counted for all, or one address could lock out everybody. */
  async begin(address: string): Promise<number | undefined> {
    return (await consumed(this.#byAddress, address)) ?? (await consumed(this.#all, everybody));
  }

  async succeeded(address: string): Promise<void> {
    await this.#byAddress.delete(address);
    await this.#all.reward(everybody);
  }

  unlock(): void {
    this.#byAddress = limiter(limits.signInFailuresPerAddress);
    this.#all = limiter(limits.signInFailuresTotal);
  }
}

export class SignIn {
  #checking: Promise<unknown> = Promise.resolve();

  constructor(
    private readonly sessions: Sessions,
    private readonly passwordHash: () => string | null,
    private readonly attempts: SignInAttempts,
  ) {}

  async try({ operator, password }: Record<'operator' | 'password', string>, address: string): Promise<SignedIn> {
    const stored = this.passwordHash();
    if (stored === null || !isPasswordHash(stored)) return { ok: false, why: 'unset' };
    const retryAfterS = await this.attempts.begin(address);
    if (retryAfterS !== undefined) return { ok: false, why: 'too_many', retryAfterS };
    if (!(await this.#check(password, stored))) return { ok: false, why: 'wrong' };
    await this.attempts.succeeded(address);
    return { ok: true, ...(await this.sessions.open(operator === '' ? null : operator, stored)) };
  }

  #check(password: string, stored: string): Promise<boolean> {
    if ([...password].length > limits.passwordLengthMax) return Promise.resolve(false);
    const checked = this.#checking.then(() => isPassword(password, stored));
    this.#checking = checked.catch(() => undefined);
    return checked;
  }
}

function limiter(points: number): RateLimiterMemory {
  return new RateLimiterMemory({ points, duration: limits.signInWindowS });
}

async function consumed(of: RateLimiterMemory, key: string): Promise<number | undefined> {
  try {
    await of.consume(key);
    return undefined;
  } catch (error) {
    if (error instanceof Error) throw error;
    return Math.max(1, Math.ceil((error as RateLimiterRes).msBeforeNext / 1000));
  }
}

/** Hashes and checks the dashboard's password and bounds its length. Other code owns the file that holds the hash. */
import { randomBytes, type ScryptOptions, scrypt, timingSafeEqual } from 'node:crypto';
import { promisify } from 'node:util';
import { limits } from '../../../limits.js';

export const passwordFile = 'dashboard-password';

/** The minimum of OWASP's password storage cheat sheet, in the variant that takes 64 MiB. */
const cost = { ln: 16, r: 8, p: 2 };
/** Memory bound of a check: four times the memory of a present hash, and as many rounds. */
const memoryMax = 2 ** 28;
const roundsMax = 16;
const saltBytes = 16;
const hashBytes = 32;

const scryptOf = promisify<string, Uint8Array, number, ScryptOptions, Buffer>(scrypt);

/** PHC string format: `$scrypt$ln=16,r=8,p=2$salt$hash`, where salt and hash are base64 without padding. */
const form = /^\$scrypt\$ln=(\d{1,2}),r=(\d{1,2}),p=(\d{1,2})\$([A-Za-z0-9+/]{16,})\$([A-Za-z0-9+/]{43})$/;

export function passwordProblem(password: string): string | undefined {
  const length = [...password].length;
  if (length < limits.passwordLengthMin) return `must have at least ${limits.passwordLengthMin} characters`;
  if (length > limits.passwordLengthMax) return `must have at most ${limits.passwordLengthMax} characters`;
  if (/\p{Cc}/u.test(password)) return 'must not contain control characters';
  return undefined;
}

export async function hashPassword(password: string): Promise<string> {
  const salt = randomBytes(saltBytes);
  const hash = await derive(password, salt, cost);
  return `$scrypt$ln=${cost.ln},r=${cost.r},p=${cost.p}$${unpadded(salt)}$${unpadded(hash)}`;
}

/** Takes the same time wherever the hashes differ. Throws if `stored` is no hash. */
export async function isPassword(password: string, stored: string): Promise<boolean> {
  const parsed = parse(stored);
  if (parsed === null) throw new Error('the stored hash of the password is not readable');
  return timingSafeEqual(await derive(password, parsed.salt, parsed.cost), parsed.hash);
}

export function isPasswordHash(text: string): boolean {
  return parse(text) !== null;
}

/** Null if a text is no hash, or if its check would fail or take too much memory, which means that it is damaged. */
function parse(text: string) {
  const [, ln, r, p, salt = '', hash = ''] = form.exec(text) ?? [];
  if (hash === '') return null;
  const stored = { ln: Number(ln), r: Number(r), p: Number(p) };
  const isPossible = Math.min(stored.ln, stored.r, stored.p) >= 1;
  if (!isPossible || stored.p > roundsMax || 128 * 2 ** stored.ln * stored.r > memoryMax) return null;
  return { cost: stored, salt: Buffer.from(salt, 'base64'), hash: Buffer.from(hash, 'base64') };
}

function derive(password: string, salt: Uint8Array, { ln, r, p }: typeof cost): Promise<Buffer> {
  // Normalised, so that the password can be typed on any keyboard.
  return scryptOf(password.normalize('NFKC'), salt, hashBytes, { N: 2 ** ln, r, p, maxmem: 2 * memoryMax });
}

function unpadded(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('base64').replace(/=+$/, '');
}

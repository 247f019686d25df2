/** A dashboard on a recorded group, on a port of its own, and the calls of a browser to it. */
import { scryptSync } from 'node:crypto';
import { pino } from 'pino';
import { request } from 'undici';
import * as assert from 'uvu/assert';
import type { GroupApi } from '../../../src/group/api.js';
import type { LatencyCounts, Traffic } from '../../../src/group/ports/observer.js';
import { startDashboard } from '../../../src/operator/dashboard/dashboard-server.js';
import { Sessions } from '../../../src/operator/dashboard/sessions/sessions.js';
import { SignInAttempts } from '../../../src/operator/dashboard/sessions/sign-in.js';
import { recordedGroup } from '../recorded-group.js';

export const password = 'correct horse battery';
/** As the command would keep it, but cheap: a real one takes a third of a second each time. */
const salt = Buffer.alloc(16, 7);
const inBase64 = (bytes: Buffer): string => bytes.toString('base64').replace(/=+$/, '');
const storedHash = `$scrypt$ln=4,r=1,p=1$${inBase64(salt)}$${inBase64(scryptSync(password, salt, 32, { N: 16, r: 1, p: 1 }))}`;
const sampled: ReadonlySet<unknown> = new Set(['counts', 'peers', 'health']);
export const noLatencies: LatencyCounts = { boundsS: [0.001, 1], upTo: [0, 0], total: 0 };

export interface Call {
  readonly method?: 'GET' | 'POST' | 'PUT' | 'DELETE' | 'HEAD';
  readonly cookie?: string;
  /** Sent as JSON. */
  readonly json?: unknown;
  /** Sent as a form. */
  readonly form?: Readonly<Record<string, string>>;
  /** Over those of the page itself. */
  readonly headers?: Readonly<Record<string, string>>;
}

export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
  /** The body parsed, where it is JSON. */
  // biome-ignore lint/suspicious/noExplicitAny: a test reads what it expects, and fails where that is not there.
  readonly body: any;
}

export interface TestDashboard {
  readonly url: string;
  /** Method and arguments of what the group was asked, but for what the server samples by itself, whenever it does. */
  readonly calls: readonly (readonly unknown[])[];
  readonly sessions: Sessions;
  /** Lines of its log, parsed. */
  readonly logged: readonly Record<string, unknown>[];
  /** Moves the dashboard's clock on. */
  pass(ms: number): void;
  setPasswordHash(hash: string | null): void;
  unlock(): void;
  call(path: string, how?: Call): Promise<Answer>;
  /** The cookie of a new session, `name=value`. */
  signIn(operator?: string): Promise<string>;
  /** Calls of an operator who has signed in. */
  signedIn(operator?: string): Promise<(path: string, how?: Call) => Promise<Answer>>;
  close(): Promise<void>;
}

/** `replaced`: methods of the group that answer otherwise; `traffic`: running totals of requests, none where absent. */
export async function startTestDashboard(
  replaced: Partial<GroupApi> = {},
  traffic: () => Traffic = () => ({ reads: noLatencies, events: noLatencies, idsRefused: 0 }),
): Promise<TestDashboard> {
  let shiftMs = 0;
  let hash: string | null = storedHash;
  const clock = { now: () => Date.now() + shiftMs };
  const passwordHash = () => hash;
  const sessions = new Sessions({ secret: null, environment: 'dev', clock, passwordHash });
  const attempts = new SignInAttempts();
  const logged: Record<string, unknown>[] = [];
  const { group, calls } = recordedGroup(3, replaced);
  const dashboard = await startDashboard({
    host: '127.0.0.1',
    port: 0,
    group,
    pseudonymise: (id) => (id.length === 64 ? Buffer.from(id, 'hex') : null),
    sessions,
    passwordHash,
    attempts,
    proxyHosts: ['ops.example.com'],
    traffic,
    clock,
    version: '1.2.3',
    log: pino({ level: 'debug' }, { write: (line: string) => logged.push(JSON.parse(line)) }),
  });
  const url = `http://${dashboard.host}:${dashboard.port}`;

  async function call(path: string, how: Call = {}): Promise<Answer> {
    const { json, form, cookie } = how;
    const sent =
      form !== undefined ? new URLSearchParams(form).toString() : json === undefined ? null : JSON.stringify(json);
    const { statusCode, headers, body } = await request(url + path, {
      method: how.method ?? (sent === null ? 'GET' : 'POST'),
      headers: {
        'sec-fetch-site': 'same-origin',
        ...(json === undefined ? {} : { 'content-type': 'application/json' }),
        ...(form === undefined ? {} : { 'content-type': 'application/x-www-form-urlencoded' }),
        ...(cookie === undefined ? {} : { cookie }),
        ...how.headers,
      },
      body: sent,
    });
    const text = await body.text();
    return { status: statusCode, headers, text, body: text.startsWith('{') ? JSON.parse(text) : undefined };
  }

  async function signIn(operator = ''): Promise<string> {
    const { status, headers } = await call('/sign-in', { form: { operator, password } });
    assert.is(status, 303);
    return cookieOf(headers);
  }

  return {
    url,
    get calls() {
      return calls.filter(([name]) => !sampled.has(name));
    },
    sessions,
    logged,
    call,
    unlock: () => attempts.unlock(),
    pass: (ms) => {
      shiftMs += ms;
    },
    setPasswordHash: (to) => {
      hash = to;
    },
    signIn,
    async signedIn(operator) {
      const cookie = await signIn(operator);
      return (path, how) => call(path, { ...how, cookie });
    },
    close: () => dashboard.close(),
  };
}

/** Returns the cookie that a browser stores from `Set-Cookie`. */
export function cookieOf(headers: Answer['headers']): string {
  const [cookie = ''] = [headers['set-cookie'] ?? []].flat();
  return cookie.split(';')[0] ?? '';
}

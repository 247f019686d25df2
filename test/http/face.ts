/** The HTTP face on a group double, on a port of its own. */
import { pino } from 'pino';
import { Pseudonyms } from '../../src/core/hashing/pseudonym.js';
import type { HttpDeps, HttpSettings, RequestObserver } from '../../src/http/deps.js';
import { createFastPath } from '../../src/http/fast-path/fast-path.js';
import { ApiServer } from '../../src/http/server/server.js';
import { limits } from '../../src/limits.js';
import { verifySignatures } from '../../src/workers/pool/signature-worker.js';
import { nodeDouble, type Replaced, unobserved } from './group-double.js';

export interface TestFace extends AsyncDisposable {
  readonly url: string;
  readonly port: number;
  /** The logged lines, parsed. */
  readonly logged: readonly Record<string, unknown>[];
  drain(): Promise<void>;
}

/** Every test of the face runs through the fast path, and again without it: see `through-koa.slow.test.ts`. */
const withFastPath = process.env.FAST_PATH !== 'false';

export interface FaceOptions {
  readonly group?: Replaced;
  readonly settings?: Partial<HttpSettings>;
  readonly fastPath?: boolean;
  readonly metrics?: RequestObserver;
  readonly highSecurity?: boolean;
  readonly sessionHolds?: HttpDeps['sessionHolds'];
  readonly tunnel?: HttpDeps['tunnel'];
}

const highSecurity = { groupId: 'local', identityMode: 'high-security', environment: 'dev' } as const;

export async function startFace(options: FaceOptions = {}): Promise<TestFace> {
  const logged: Record<string, unknown>[] = [];
  const log = pino({ level: 'debug' }, { write: (line: string) => logged.push(JSON.parse(line)) });
  const deps: HttpDeps = {
    node: nodeDouble(options.highSecurity ? { identity: highSecurity, ...options.group } : options.group),
    pseudonyms: new Pseudonyms('salt', options.highSecurity ? 'high-security' : 'privacy-first'),
    sessionHolds: options.sessionHolds ?? (() => true),
    settings: {
      authEnabled: true,
      registrationMode: 'open',
      publishSaltCheck: true,
      requestSigning: 'optional',
      sessionSecret: null,
      connectionsMax: limits.connectionsMaxDefault,
      loopbackIsProxy: true,
      rateLimitPeerPerS: 0,
      rateLimitAddressPerS: 0,
      registrationsPerAddressPerHour: 0,
      ...options.settings,
    },
    version: '0.0.0',
    verifySignatures: async (batch) => verifySignatures(batch),
    ...(options.tunnel === undefined ? {} : { tunnel: options.tunnel }),
    log,
    clock: { now: () => Date.now() },
    metrics: options.metrics ?? unobserved,
  };
  const face = new ApiServer(deps, (options.fastPath ?? withFastPath) ? createFastPath : null);
  const { host, port } = await face.listen('127.0.0.1', 0);
  const drain = () => face.drain();
  return { url: `http://${host}:${port}`, port, logged, drain, [Symbol.asyncDispose]: drain };
}

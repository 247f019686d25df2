/** Relays changes of verdicts to a webhook: at least once, in order. While the receiver is down, nothing is read. */
import { hash } from 'node:crypto';
import { appendFile, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { poolTransport } from '../../client/entry.js';
import {
  AgeClock,
  acquireFolder,
  bounds,
  pause,
  ReadFloor,
  systemRuntime as runtime,
  saltCheckOf,
  VerdictFeed,
} from '../../client/for-peer.js';
import type { PeerConfig } from '../config/peer-config.js';
import { problemLog } from '../node/problem-log.js';
import { plainWords } from '../peer-error.js';
import { RelayJournal } from './relay-journal.js';
import { RelayTable } from './relay-table.js';
import { type VerdictChange, type WebhookOptions, webhookBody, webhookSender } from './webhook.js';

export interface RelayOptions extends Pick<WebhookOptions, 'url' | 'secret' | 'discord' | 'signal'> {
  readonly config: PeerConfig;
  /** Sends only future changes, and not first one for each player whose verdict is not neutral. */
  readonly newOnly: boolean;
  /** Writes one line without a secret; players are named by their hashes. */
  readonly log: (line: string) => void;
}

export function relayFolder({ stateDir }: PeerConfig, url: string): string {
  return join(stateDir, 'relay', hash('sha256', url, 'hex').slice(0, 16));
}

/** Runs until the signal is aborted. Rejects if the receiver wants no further webhooks, and with `spool_in_use`. */
export async function relayVerdicts(options: RelayOptions): Promise<void> {
  const { config, url, log } = options;
  const folder = relayFolder(config, url);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const release = await acquireFolder(folder, runtime);
  // Event ids and subject hashes of one group mean nothing in another.
  const path = join(folder, `journal-${saltCheckOf(config.groupSalt)}.ndjson`);
  const journal = await RelayJournal.open(path).catch(async (error: unknown) => {
    await release();
    throw error;
  });
  const ending = new AbortController();
  const signal = AbortSignal.any([options.signal, ending.signal]);
  const say = problemLog(log, 'webhooks are accepted again');
  const send = webhookSender({ ...options, runtime, signal, say });
  let delivered = 0;
  const deliver = async (change: VerdictChange) => {
    try {
      if (await send(change)) delivered++;
      else await setAside(folder, change, log);
    } catch (error) {
      ending.abort(error);
      throw error;
    }
  };
  const table = new RelayTable({ journal, newOnly: options.newOnly, deliver });
  const transport = poolTransport(config.url, { connections: 1 });
  const feed = new VerdictFeed({
    transports: [transport],
    runtime,
    floor: new ReadFloor(runtime),
    ages: new AgeClock(runtime),
    table,
    key: config.apiKey,
    resumeFrom: journal.lastEventId,
    salt: null,
    onState: ({ phase, lastError }) => {
      if (phase === 'live') log('follows the stream');
      else if (lastError !== null) log(`stream: ${plainWords(lastError, config.url)} (${lastError.code})`);
    },
  });
  try {
    feed.start();
    while (!signal.aborted) {
      await pause(runtime, bounds.streamRefusedMs, signal).catch(() => undefined);
      feed.retry();
    }
  } finally {
    await feed.close();
    await transport.close();
    await journal.close();
    await release();
    log(`delivered ${delivered} webhooks`);
  }
  if (!options.signal.aborted) ending.signal.throwIfAborted();
}

/** Sets aside a message that the receiver rejects as invalid, so that it does not block later ones. */
async function setAside(folder: string, change: VerdictChange, log: (line: string) => void): Promise<void> {
  const path = join(folder, 'set-aside.ndjson');
  await appendFile(path, `${JSON.stringify({ id: change.id, ...webhookBody(change) })}\n`, { mode: 0o600 });
  log(`the receiver rejects the webhook ${change.id} as invalid; it is set aside in ${path}`);
}

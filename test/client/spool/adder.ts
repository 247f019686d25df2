/**
 * A game server that is killed: adds events to a spool as fast as it may, and says of each on its output that it was
 * accepted.
 */
import { argv, stdout } from 'node:process';
import { TrustClient } from '../../../src/client/trust-client.js';
import { EventSpool } from '../../../src/client/write/spool/event-spool.js';

const [url, folder, peerId, apiKey, round] = argv.slice(2) as [string, string, string, string, string];
const atOnce = 16;
const players = 8;

const client = new TrustClient({ url, peerId, apiKey, groupSalt: 'salt of the test node' });
const spool = await EventSpool.open({ folder, to: client, bytesMax: 4_000_000, whenFull: 'wait' });
stdout.write('open\n');

let count = 0;
async function add(): Promise<void> {
  for (;;) {
    const number = count++;
    const event = { eventType: 'report_spam', gameId: 'arena', severity: 0.1 } as const;
    const id = await spool.add({ ...event, playerId: `player-${number % players}`, eventId: `r${round}-${number}` });
    // A pipe is written at once: what stands there was accepted before any kill.
    stdout.write(`${id}\n`);
  }
}
await Promise.all(Array.from({ length: atOnce }, add));
